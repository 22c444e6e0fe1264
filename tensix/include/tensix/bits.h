/* Arithmetic on words that C leaves to the compiler: the highest bit, and products that may not fit. */
#ifndef TENSIX_BITS_H
#define TENSIX_BITS_H

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int tx_multiply_overflows(int64_t a, int64_t b, int64_t *product)
{
    int64_t high;
    *product = _mul128(a, b, &high);
    return high != *product >> 63;
}

static __inline int tx_highest_bit(uint64_t word)
{
    unsigned long index;
    _BitScanReverse64(&index, word);
    return (int)index;
}
#else
/* Multiply, and say whether the product does not fit. */
static inline int tx_multiply_overflows(int64_t a, int64_t b, int64_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

/* Of a word that is not 0. */
static inline int tx_highest_bit(uint64_t word)
{
    return 63 - __builtin_clzll(word);
}
#endif

#endif /* TENSIX_BITS_H */
