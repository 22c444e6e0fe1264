/* The functions of tensix for extension modules in C and C++. From Cython use "from tensix cimport ..." instead.
 *
 * Call tx_import() once, when your module is initialised; it returns 0, or -1 with an exception, which is an ImportError if
 * tensix has another ABI version. Then tx.tensor_data(tensor) and so on, in every source file that includes this one.
 * Objects are never NULL: Py_None means none. Types are not checked: do so first, PyObject_TypeCheck(x, tx.Tensor).
 * What each function promises stands in docs/cython.rst.
 */
#ifndef TENSIX_C_API_H
#define TENSIX_C_API_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of element types, which are those of PyTorch's ScalarType. */
enum {
    TX_UINT8 = 0, TX_INT8 = 1, TX_INT16 = 2, TX_INT32 = 3, TX_INT64 = 4, TX_FLOAT16 = 5, TX_FLOAT32 = 6,
    TX_FLOAT64 = 7, TX_COMPLEX64 = 9, TX_COMPLEX128 = 10, TX_BOOL = 11, TX_BFLOAT16 = 15, TX_UINT16 = 27,
    TX_UINT32 = 28, TX_UINT64 = 29
};

/* Called once, with the context, from any thread, with or without the GIL. */
typedef void (*tx_deleter_t)(void *ctx);
/* Kernels for the dispatcher: called with the GIL; they return a new reference, or NULL with an exception. */
typedef PyObject *(*tx_unary_kernel_t)(PyObject *a);
typedef PyObject *(*tx_binary_kernel_t)(PyObject *a, PyObject *b);

/* A block of memory that an allocator of tensix made; zeroed memory is one that owns nothing. */
typedef struct {
    void *data;
    void *private_[3];
    int8_t private_device[2];
    const void *private_operations;
} tensix_block;

/* TX_FUNCTION(result, name in `tx`, name in tensix, parameters); version 1 of the ABI. */
#define TX_FUNCTIONS                                                                                              \
    /* without the GIL */                                                                                         \
    TX_FUNCTION(void, incref, "incref_out_of_line", (PyObject *target))                                           \
    TX_FUNCTION(void, decref, "decref_out_of_line", (PyObject *target))                                           \
    TX_FUNCTION(int, lock, "lock", (PyObject *target))                                                            \
    TX_FUNCTION(uint32_t, use_count, "use_count", (PyObject *target))                                             \
    TX_FUNCTION(void, weak_incref, "weak_incref", (PyObject *target))                                             \
    TX_FUNCTION(void, weak_decref, "weak_decref", (PyObject *target))                                             \
    TX_FUNCTION(uint32_t, weak_use_count, "weak_use_count", (PyObject *target))                                   \
    TX_FUNCTION(void *, tensor_data, "tensor_data", (PyObject *tensor))                                           \
    TX_FUNCTION(const void *, tensor_const_data, "tensor_const_data", (PyObject *tensor))                         \
    TX_FUNCTION(int, tensor_ndim, "tensor_ndim", (PyObject *tensor))                                              \
    TX_FUNCTION(const int64_t *, tensor_sizes, "tensor_sizes", (PyObject *tensor))                                \
    TX_FUNCTION(const int64_t *, tensor_strides, "tensor_strides", (PyObject *tensor))                            \
    TX_FUNCTION(int, tensor_dtype, "tensor_dtype", (PyObject *tensor))                                            \
    TX_FUNCTION(void *, storage_data, "storage_data", (PyObject *storage))                                        \
    TX_FUNCTION(const void *, storage_const_data, "storage_const_data", (PyObject *storage))                      \
    TX_FUNCTION(size_t, storage_nbytes, "storage_nbytes", (PyObject *storage))                                    \
    TX_FUNCTION(int, allocate_block, "allocate_block", (size_t nbytes, tensix_block *block))                      \
    TX_FUNCTION(void, free_block, "free_block", (tensix_block *block))                                            \
    TX_FUNCTION(uint64_t, report_allocation, "report_allocation",                                                 \
                (void *data, size_t nbytes, PyObject *allocator))                                                 \
    TX_FUNCTION(void, report_free, "report_free", (void *data, size_t nbytes, uint64_t stamp))                    \
    /* with the GIL; NULL with an exception if they fail, else a new reference */                                 \
    TX_FUNCTION(PyObject *, steal_from_new, "steal_from_new", (PyObject *target))                                 \
    TX_FUNCTION(PyObject *, tensor_from_blob, "tensor_from_blob",                                                 \
                (void *data, int ndim, const int64_t *sizes, const int64_t *strides, int dtype,                   \
                 tx_deleter_t deleter, void *ctx))                                                                \
    TX_FUNCTION(PyObject *, storage_from_blob, "storage_from_blob",                                               \
                (void *data, size_t nbytes, tx_deleter_t deleter, void *ctx))                                     \
    TX_FUNCTION(PyObject *, tensor_empty, "tensor_empty", (int ndim, const int64_t *sizes, int dtype))            \
    TX_FUNCTION(PyObject *, tensor_from_storage, "tensor_from_storage",                                           \
                (PyObject *storage, int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,       \
                 int dtype))                                                                                      \
    TX_FUNCTION(PyObject *, allocate, "allocate", (size_t nbytes))                                                \
    TX_FUNCTION(PyObject *, unary_kernel, "unary_kernel", (PyObject *name, tx_unary_kernel_t function))           \
    TX_FUNCTION(PyObject *, binary_kernel, "binary_kernel", (PyObject *name, tx_binary_kernel_t function))

/* A name that ends in the version: see Note [The version in the names] in tensix/abi.py. */
#define TX_TYPES                                                                                                  \
    TX_TYPE(IntrusiveTarget, "IntrusiveTarget_1")                                                                 \
    TX_TYPE(IntrusivePtr, "IntrusivePtr_1")                                                                       \
    TX_TYPE(WeakIntrusivePtr, "WeakIntrusivePtr_1")                                                               \
    TX_TYPE(Allocator, "Allocator_1")                                                                             \
    TX_TYPE(Storage, "Storage_1")                                                                                 \
    TX_TYPE(Tensor, "Tensor_1")

typedef struct {
#define TX_TYPE(type, attribute) PyTypeObject *type;
    TX_TYPES
#undef TX_TYPE
#define TX_FUNCTION(result, function, exported, parameters) result(*function) parameters;
    TX_FUNCTIONS
#undef TX_FUNCTION
} tx_api_t;

/* One table for all source files of a module: the linker joins what each of them defines, and no other module sees it. */
#if defined(_MSC_VER)
__declspec(selectany) tx_api_t tx = {0};
#else
__attribute__((weak, visibility("hidden"))) tx_api_t tx;
#endif

static inline int tx_import_function(PyObject *functions, const char *name, void *slot)
{
    PyObject *capsule = PyMapping_GetItemString(functions, name);
    void *function = capsule ? PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)) : NULL;
    Py_XDECREF(capsule);
    if (function == NULL) return -1;
    memcpy(slot, &function, sizeof function);
    return 0;
}

static inline int tx_import(void)
{
    PyObject *abi = PyImport_ImportModule("tensix.abi"), *module = NULL, *functions = NULL;
    int status = -1;
    if (abi == NULL) return -1;
#define TX_TYPE(type, attribute)                                                                                  \
    if ((tx.type = (PyTypeObject *)PyObject_GetAttrString(abi, attribute)) == NULL) goto done;
    TX_TYPES
#undef TX_TYPE
    if ((module = PyImport_ImportModule("tensix.c_api")) == NULL) goto done;
    if ((functions = PyObject_GetAttrString(module, "__pyx_capi__")) == NULL) goto done;
#define TX_FUNCTION(result, function, exported, parameters)                                                       \
    if (tx_import_function(functions, exported, &tx.function) < 0) goto done;
    TX_FUNCTIONS
#undef TX_FUNCTION
    status = 0;
done:
    Py_XDECREF(functions);
    Py_XDECREF(module);
    Py_DECREF(abi);
    return status;
}

/* Make a block of memory by the allocator in use; 0, or -1 if there is no memory, and the block owns nothing then.
 *
 * For any thread, with or without the GIL, also one that Python does not know. It may take the GIL, which no one may hold
 * who waits for this thread, if the allocator is written in Python. Not in a child of fork() in C that has not told
 * Python, nor after Py_Finalize().
 */
static inline int tensix_allocate(size_t nbytes, tensix_block *block)
{
    return tx.allocate_block(nbytes, block);
}

/* Free a block, from any thread. Do so once: copies of the struct own the same memory. */
static inline void tensix_free(tensix_block *block)
{
    tx.free_block(block);
}

#ifdef __cplusplus
}

#include <utility>

namespace tensix {

/* Owns one strong count of a target, or is null. Needs no GIL. Several threads may have pointers to one target; one pointer
 * is for one thread at a time. The names are those of c10::intrusive_ptr.
 */
class intrusive_ptr {
public:
    intrusive_ptr() noexcept = default;
    intrusive_ptr(const intrusive_ptr &other) noexcept : target_(other.target_)
    {
        if (target_ != nullptr) tx.incref(target_);
    }
    intrusive_ptr(intrusive_ptr &&other) noexcept : target_(other.release()) {}
    intrusive_ptr &operator=(intrusive_ptr other) noexcept
    {
        swap(other);
        return *this;
    }
    ~intrusive_ptr() { reset(); }

    /* Take over a count that release(), or C code, has left with a target; nullptr and Py_None give a null pointer. */
    static intrusive_ptr reclaim(PyObject *target) noexcept
    {
        intrusive_ptr made;
        made.target_ = target == Py_None ? nullptr : target;
        return made;
    }
    /* Add a count to a target that somebody owns. */
    static intrusive_ptr reclaim_copy(PyObject *target) noexcept
    {
        intrusive_ptr made = reclaim(target);
        if (made.target_ != nullptr) tx.incref(made.target_);
        return made;
    }

    PyObject *get() const noexcept { return target_; }
    PyObject *release() noexcept
    {
        PyObject *target = target_;
        target_ = nullptr;
        return target;
    }
    void reset() noexcept
    {
        PyObject *target = release();
        if (target != nullptr) tx.decref(target);
    }
    void swap(intrusive_ptr &other) noexcept { std::swap(target_, other.target_); }
    uint32_t use_count() const noexcept { return target_ == nullptr ? 0 : tx.use_count(target_); }
    explicit operator bool() const noexcept { return target_ != nullptr; }
    bool operator==(const intrusive_ptr &other) const noexcept { return target_ == other.target_; }
    bool operator!=(const intrusive_ptr &other) const noexcept { return target_ != other.target_; }

private:
    PyObject *target_ = nullptr;
};

} /* namespace tensix */
#endif
#endif /* TENSIX_C_API_H */
