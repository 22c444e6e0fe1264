/* Atomics on plain integer fields: the builtins of GCC and Clang, in C and in C++, and the intrinsics of MSVC.
 *
 * The fields stay plain integers, so that the structs which hold them can be described to Cython without this
 * header; only code that touches them atomically includes it. Every operation names its memory order. There is no
 * state here: each extension module compiles its own copies.
 */
#ifndef TENSIX_ATOMICS_H
#define TENSIX_ATOMICS_H

#include <stdint.h>

/* Both counts of a target are in one word of 64 bits, and sizes, strides and addresses are taken to fit one another. */
#if UINTPTR_MAX < UINT64_MAX
#error "tensix needs pointers of 64 bits: build it, and what is compiled against it, for a 64-bit system"
#endif

#if defined(_MSC_VER) && !defined(__clang__)

#include <intrin.h>

/* On x86-64 and ARM64 the _Interlocked functions are full barriers, stronger than every order named below.
 * Plain volatile loads and stores of aligned 64-bit words are atomic; the barriers keep the compiler, and on
 * ARM64 the processor, from moving other accesses across them. */
static __inline uint64_t tx_load_relaxed(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

static __inline uint64_t tx_load_acquire(const uint64_t *word)
{
    uint64_t value = *(const volatile uint64_t *)word;
#if defined(_M_ARM64)
    __dmb(_ARM64_BARRIER_ISHLD);
#endif
    _ReadWriteBarrier();
    return value;
}

static __inline void tx_store_relaxed(uint64_t *word, uint64_t value)
{
    *(volatile uint64_t *)word = value;
}

static __inline void tx_store_release(uint64_t *word, uint64_t value)
{
#if defined(_M_ARM64)
    __dmb(_ARM64_BARRIER_ISH);
#endif
    _ReadWriteBarrier();
    *(volatile uint64_t *)word = value;
}

static __inline uint64_t tx_add_fetch_relaxed(uint64_t *word, uint64_t amount)
{
    return (uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)word, (__int64)amount) + amount;
}

static __inline uint64_t tx_add_fetch_acq_rel(uint64_t *word, uint64_t amount)
{
    return tx_add_fetch_relaxed(word, amount);
}

static __inline uint64_t tx_fetch_sub_acq_rel(uint64_t *word, uint64_t amount)
{
    return (uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)word, -(__int64)amount);
}

static __inline uint64_t tx_exchange_acq_rel(uint64_t *word, uint64_t value)
{
    return (uint64_t)_InterlockedExchange64((volatile __int64 *)word, (__int64)value);
}

static __inline int tx_compare_exchange_acq_rel(uint64_t *word, uint64_t *expected, uint64_t desired)
{
    __int64 seen = _InterlockedCompareExchange64((volatile __int64 *)word, (__int64)desired, (__int64)*expected);
    if ((uint64_t)seen == *expected) return 1;
    *expected = (uint64_t)seen;
    return 0;
}

#else

/* GCC's builtins, which Clang has as well: unlike C11's atomics they are there in C++ too. */
static inline uint64_t tx_load_relaxed(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline uint64_t tx_load_acquire(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void tx_store_relaxed(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline void tx_store_release(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* These return the new value: compared with 0, it need not be fetched, for the instruction sets the flags. */
static inline uint64_t tx_add_fetch_relaxed(uint64_t *word, uint64_t amount)
{
    return __atomic_add_fetch(word, amount, __ATOMIC_RELAXED);
}

static inline uint64_t tx_add_fetch_acq_rel(uint64_t *word, uint64_t amount)
{
    return __atomic_add_fetch(word, amount, __ATOMIC_ACQ_REL);
}

static inline uint64_t tx_fetch_sub_acq_rel(uint64_t *word, uint64_t amount)
{
    return __atomic_fetch_sub(word, amount, __ATOMIC_ACQ_REL);
}

static inline uint64_t tx_exchange_acq_rel(uint64_t *word, uint64_t value)
{
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}

/* Weak: may fail although the values are equal, so call it in a loop. *expected takes the value seen. */
static inline int tx_compare_exchange_acq_rel(uint64_t *word, uint64_t *expected, uint64_t desired)
{
    return __atomic_compare_exchange_n(word, expected, desired, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

#endif
#endif /* TENSIX_ATOMICS_H */
