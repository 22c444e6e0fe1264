/* What takes the place of the GIL where CPython has none. See Note [Without the GIL] in free_threading.pxd. */
#ifndef TENSIX_FREE_THREADING_H
#define TENSIX_FREE_THREADING_H

#include <Python.h>
#include "tensix/atomics.h"
#if defined(Py_GIL_DISABLED) && defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

typedef void (*tx_change_t)(void *what);

#if defined(Py_GIL_DISABLED)

#define TX_GIL_EXISTS 0

/* Add to a count of 32 bits and return it. */
#if defined(_MSC_VER) && !defined(__clang__)
#define TX_COUNT(count, amount) (_InterlockedExchangeAdd((volatile long *)&(count), (amount)) + (amount))
#else
#define TX_COUNT(count, amount) __atomic_add_fetch(&(count), (amount), __ATOMIC_ACQ_REL)
#endif

#define tx_add_with_gil(word, amount) tx_add_fetch_relaxed((word), (amount))

#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
void tx_while_stopped(tx_change_t change, void *what);

/* Return whether there was still a reference to an object that others may be about to free, and take one. */
static inline int tx_take_reference(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_TryIncRef(object);
#else
    if (_Py_IsOwnedByCurrentThread(object) || _Py_IsImmortal(object)) {
        if (Py_REFCNT(object) == 0) return 0;
        Py_INCREF(object);
        return 1;
    }
    Py_ssize_t seen = _Py_atomic_load_ssize_relaxed(&object->ob_ref_shared);
    do {
        if (seen == 0 || seen == _Py_REF_MERGED) return 0;
    } while (!_Py_atomic_compare_exchange_ssize(&object->ob_ref_shared, &seen, seen + (1 << _Py_REF_SHARED_SHIFT)));
    return 1;
#endif
}

/* Let other threads try, from now on; by the thread that has a reference. */
static inline void tx_allow_taking(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030E0000
    PyUnstable_EnableTryIncRef(object);
#else
    Py_ssize_t seen = _Py_atomic_load_ssize_relaxed(&object->ob_ref_shared);
    while ((seen & _Py_REF_SHARED_FLAG_MASK) == 0
           && !_Py_atomic_compare_exchange_ssize(&object->ob_ref_shared, &seen, seen | _Py_REF_MAYBE_WEAKREF)) {
    }
#endif
}

/* Never free an object, so that its references are not counted; while no other thread can have one. As CPython does it. */
static inline void tx_keep_for_ever(PyObject *object)
{
    if (PyObject_IS_GC(object)) PyObject_GC_UnTrack(object);
    object->ob_tid = _Py_UNOWNED_TID;
    object->ob_ref_local = _Py_IMMORTAL_REFCNT_LOCAL;
    object->ob_ref_shared = 0;
}

/* Return whether the caller has the only reference to an object, so that no other thread can reach it. */
static inline int tx_is_unshared(PyObject *object)
{
    return Py_REFCNT(object) == 1;
}

#else

#define TX_GIL_EXISTS 1
#define tx_is_unshared(object) 1
#define tx_keep_for_ever(object) ((void)(object))
#define TX_COUNT(count, amount) ((count) += (amount))
#define tx_while_stopped(change, what) ((change)(what))

static inline uint64_t tx_add_with_gil(uint64_t *word, uint64_t amount)
{
    uint64_t sum = tx_load_relaxed(word) + amount;
    tx_store_relaxed(word, sum);
    return sum;
}

static inline int tx_take_reference(PyObject *object)
{
    if (Py_REFCNT(object) == 0) return 0; /* its fields are being cleared */
    Py_INCREF(object);
    return 1;
}

static inline void tx_allow_taking(PyObject *object)
{
    (void)object;
}

#endif

typedef struct {
    PyObject **field, *value;
} tx_field_change_t;

static inline void tx_exchange_field(void *what)
{
    tx_field_change_t *change = (tx_field_change_t *)what;
    PyObject *before = *change->field;
    tx_store_release((uint64_t *)change->field, (uint64_t)change->value); /* threads without Python read allocators */
    change->value = before;
}

static inline PyObject *tx_exchange(PyObject *owner, PyObject **field, PyObject *value)
{
    tx_field_change_t change = {field, value};
    if (owner != NULL && tx_is_unshared(owner)) {
        tx_exchange_field(&change);
    } else {
        tx_while_stopped(tx_exchange_field, &change);
    }
    return change.value;
}

typedef struct {
    PyObject **one, **other;
} tx_two_fields_t;

static inline void tx_swap_fields(void *what)
{
    tx_two_fields_t *fields = (tx_two_fields_t *)what;
    PyObject *one = *fields->one;
    *fields->one = *fields->other;
    *fields->other = one;
}

static inline void tx_swap(PyObject **one, PyObject **other)
{
    tx_two_fields_t fields = {one, other};
    tx_while_stopped(tx_swap_fields, &fields);
}

/* For Cython, which cannot take the address of an attribute that is an object. TX_EXCHANGE puts an object into it and
 * returns what was there, a new reference; TX_SWAP exchanges two, TX_SWAP_STOPPED while the others are stopped already.
 */
#define TX_EXCHANGE(self, field, object) \
    tx_exchange((PyObject *)(self), (PyObject **)&(self)->field, Py_NewRef((PyObject *)(object)))
#define TX_SWAP(one, other) tx_swap((PyObject **)&(one), (PyObject **)&(other))
#define TX_SWAP_STOPPED(one, other) \
    tx_swap_fields(&(tx_two_fields_t){(PyObject **)&(one), (PyObject **)&(other)})

#define TX_EXCHANGE_ACCESS_ERROR(self, object) TX_EXCHANGE(self, access_error, object)
#define TX_EXCHANGE_META(self, object) TX_EXCHANGE(self, meta, object)
#define TX_EXCHANGE_OWNER(self, object) TX_EXCHANGE(self, owner, object)
#define TX_EXCHANGE_STORAGE(self, object) TX_EXCHANGE(self, storage, object)
#define TX_EXCHANGE_TABLES(self, object) TX_EXCHANGE(self, tables, object)
#define TX_EXCHANGE_TARGET(self, object) TX_EXCHANGE(self, target, object)
#define TX_SWAP_OWNED(one, other) TX_SWAP_STOPPED((one)->owned, *(other))
#define TX_SWAP_OWNERS(one, other) TX_SWAP_STOPPED((one)->owner, (other)->owner)
#define TX_SWAP_STORAGES(one, other) TX_SWAP_STOPPED((one)->storage, (other)->storage)
#define TX_SWAP_TARGETS(one, other) TX_SWAP((one)->target, (other)->target)

#endif /* TENSIX_FREE_THREADING_H */
