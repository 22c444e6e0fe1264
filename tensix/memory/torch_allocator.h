/* An allocator of PyTorch's, made by hand: what a C++ compiler makes of a class derived from c10::Allocator.
 *
 * The layout is that of the C++ ABI of GCC and Clang on Linux, with libstdc++, where a unique_ptr has its deleter first.
 * tx_torch_find() checks it, by the names of functions that PyTorch exports and by what its own allocator returns.
 * Objects that PyTorch is given are static: it never frees an allocator.
 */
#ifndef TENSIX_TORCH_ALLOCATOR_H
#define TENSIX_TORCH_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TX_TORCH_TEXT_BYTES 4096

typedef struct { int8_t type, index; } tx_torch_device_t;

typedef struct {
    void *data;
    void (*deleter)(void *ctx);
    void *ctx;
    tx_torch_device_t device;
} tx_torch_data_ptr_t;

typedef struct tx_torch_allocator tx_torch_allocator_t;

typedef struct { /* as it lies before and behind the address that an object begins with */
    ptrdiff_t offset;
    const void *type;
    void (*destroy)(tx_torch_allocator_t *self);
    void (*destroy_and_free)(tx_torch_allocator_t *self);
    tx_torch_data_ptr_t (*allocate)(tx_torch_allocator_t *self, size_t nbytes);
    _Bool (*is_simple)(const tx_torch_allocator_t *self, const tx_torch_data_ptr_t *pointer);
    void (*(*raw_deleter)(const tx_torch_allocator_t *self))(void *ctx);
    void (*copy_data)(const tx_torch_allocator_t *self, void *dst, const void *src, size_t nbytes);
} tx_torch_class_t;

struct tx_torch_allocator { const void *functions; };

static inline const tx_torch_class_t *tx_torch_class_of(const tx_torch_allocator_t *self)
{
    return (const tx_torch_class_t *)((const char *)self->functions - offsetof(tx_torch_class_t, destroy));
}

/* What tensix does; all without the GIL. */
static int (*tx_torch_take)(size_t nbytes, void **data, char *text); /* 0; -1: text says why; 1: PyTorch serves itself */
static int (*tx_torch_free_block)(void *data, size_t *nbytes);    /* whether it was a block of tensix */
static size_t (*tx_torch_in_use)(void);

/* What PyTorch exports. */
static tx_torch_allocator_t *(*tx_torch_get)(void);
static void (*tx_torch_set)(tx_torch_allocator_t *allocator, uint8_t priority);
static void (*tx_torch_fail)(const char *function, const char *file, uint32_t line, const char *text);
static _Bool (*tx_torch_is_profiled)(void);
static void (*tx_torch_report)(void *data, int64_t nbytes, size_t in_use, size_t reserved, tx_torch_device_t device);

static tx_torch_allocator_t *tx_torch_former = NULL;
static const tx_torch_device_t tx_torch_cpu = {0, -1};

static void tx_torch_free(void *data)
{
    size_t nbytes = 0;
    if (data == NULL) return;
    if (!tx_torch_free_block(data, &nbytes)) {
        tx_torch_class_of(tx_torch_former)->raw_deleter(tx_torch_former)(data); /* by raw_deallocate(), of older blocks */
    } else if (tx_torch_is_profiled()) {
        tx_torch_report(data, -(int64_t)nbytes, tx_torch_in_use(), 0, tx_torch_cpu);
    }
}

static tx_torch_data_ptr_t tx_torch_allocate(tx_torch_allocator_t *self, size_t nbytes)
{
    char text[TX_TORCH_TEXT_BYTES];
    tx_torch_data_ptr_t made = {NULL, tx_torch_free, NULL, {0, -1}};
    int status;
    (void)self;
    status = tx_torch_take(nbytes, &made.data, text);
    if (status > 0) return tx_torch_class_of(tx_torch_former)->allocate(tx_torch_former, nbytes);
    if (status < 0) tx_torch_fail("allocate", "tensix", 0, text); /* throws what copies the text */
    made.ctx = made.data;
    if (nbytes != 0 && tx_torch_is_profiled()) {
        tx_torch_report(made.data, (int64_t)nbytes, tx_torch_in_use(), 0, tx_torch_cpu);
    }
    return made;
}

static void tx_torch_destroy(tx_torch_allocator_t *self) { (void)self; }

static _Bool tx_torch_is_simple(const tx_torch_allocator_t *self, const tx_torch_data_ptr_t *pointer)
{
    (void)self;
    return pointer->data == pointer->ctx;
}

static void (*tx_torch_raw_deleter(const tx_torch_allocator_t *self))(void *ctx)
{
    (void)self;
    return tx_torch_free;
}

static void tx_torch_copy_data(const tx_torch_allocator_t *self, void *dst, const void *src, size_t nbytes)
{
    (void)self;
    memcpy(dst, src, nbytes);
}

static tx_torch_class_t tx_torch_class = {
    0, NULL, tx_torch_destroy, tx_torch_destroy, tx_torch_allocate, tx_torch_is_simple, tx_torch_raw_deleter,
    tx_torch_copy_data
};
static tx_torch_allocator_t tx_torch_allocator = {&tx_torch_class.destroy};

#if defined(__linux__)
#include <dlfcn.h>

/* Whether what PyTorch's own allocator returns is laid out as above. */
static const char *tx_torch_try(tx_torch_allocator_t *own, size_t nbytes)
{
    const tx_torch_class_t *functions = tx_torch_class_of(own);
    tx_torch_data_ptr_t one = functions->allocate(own, nbytes), other = functions->allocate(own, nbytes);
    char bytes[64] = {7};
    const char *problem = NULL;
    if (one.deleter == NULL || one.deleter != functions->raw_deleter(own) || one.deleter != other.deleter) {
        return "its deleters are not where they are expected"; /* and so not called */
    }
    if ((one.data == NULL) != (nbytes == 0) || one.data != one.ctx || (nbytes != 0 && one.data == other.data)) {
        return "its addresses are not where they are expected";
    }
    if (one.device.type != 0 || one.device.index != -1 || !functions->is_simple(own, &one)) {
        problem = "its devices are not where they are expected";
    } else if (nbytes != 0) {
        memcpy(one.data, bytes, nbytes);
        functions->copy_data(own, other.data, one.data, nbytes);
        if (memcmp(other.data, bytes, nbytes) != 0) problem = "it does not copy as expected";
    }
    one.deleter(one.ctx);
    other.deleter(other.ctx);
    return problem;
}

/* Find PyTorch in this process and try its allocator; returns NULL, or what is not as it should be. */
static const char *tx_torch_find(void)
{
    static const char *const names[] = {
        "_ZN3c1015GetCPUAllocatorEv", "_ZN3c1015SetCPUAllocatorEPNS_9AllocatorEh",
        "_ZN3c106detail14torchCheckFailEPKcS2_jS2_", "_ZN3c1022memoryProfilingEnabledEv",
        "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
    };
    void **const slots[] = {(void **)&tx_torch_get, (void **)&tx_torch_set, (void **)&tx_torch_fail,
                            (void **)&tx_torch_is_profiled, (void **)&tx_torch_report};
    static int was_found = 0;
    void *library, *is_simple, *type;
    tx_torch_allocator_t *(*get_default)(void), *own;
    const tx_torch_class_t *functions;
    const char *problem;
    size_t i;
    if (was_found) return NULL;
    library = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return "its library libc10.so is not loaded";
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(library, names[i]);
        if (found == NULL) return "it does not export what tensix needs of c10";
        memcpy(slots[i], &found, sizeof found);
    }
    type = dlsym(library, "_ZTIN3c1019DefaultCPUAllocatorE");
    is_simple = dlsym(library, "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE");
    tx_torch_class.type = dlsym(library, "_ZTIN3c109AllocatorE");
    *(void **)&get_default = dlsym(library, "_ZN3c1022GetDefaultCPUAllocatorEv");
    if (type == NULL || is_simple == NULL || tx_torch_class.type == NULL || get_default == NULL) {
        return "it does not export c10::DefaultCPUAllocator";
    }
    own = get_default();
    functions = tx_torch_class_of(own);
    if (functions->offset != 0 || functions->type != type || *(void *const *)&functions->is_simple != is_simple) {
        return "the functions of its allocators are not where they are expected";
    }
    problem = tx_torch_try(own, 64);
    if (problem == NULL) problem = tx_torch_try(own, 0);
    was_found = problem == NULL;
    return problem;
}
#else
static const char *tx_torch_find(void) { return "only its builds for Linux are known"; }
#endif

/* Let PyTorch ask tensix from now on, for as long as the process lives; returns whether it does. */
static int tx_torch_install(void)
{
    tx_torch_allocator_t *before = tx_torch_get();
    if (before != &tx_torch_allocator) {
        if (tx_torch_former == NULL) tx_torch_former = before;
        tx_torch_set(&tx_torch_allocator, 100);
    }
    return tx_torch_get() == &tx_torch_allocator;
}

/* Return the C++ name of the class of the allocator that PyTorch asks. */
static const char *tx_torch_name_in_use(void)
{
    const void *const *type = (const void *const *)tx_torch_class_of(tx_torch_get())->type;
    return type == NULL ? "?" : (const char *)type[1]; /* std::type_info: functions, name */
}

#endif /* TENSIX_TORCH_ALLOCATOR_H */
