/* Finding the highest bit of a word. */
#ifndef TENSIX_BITS_H
#define TENSIX_BITS_H

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int tx_highest_bit(uint64_t word)
{
    unsigned long index;
    _BitScanReverse64(&index, word);
    return (int)index;
}
#else
/* Of a word that is not 0. */
static inline int tx_highest_bit(uint64_t word)
{
    return 63 - __builtin_clzll(word);
}
#endif

#endif /* TENSIX_BITS_H */
