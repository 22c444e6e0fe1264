/* Random numbers by a counter: any of them can be made without those before it.

Note [Random numbers]
~~~~~~~~~~~~~~~~~~~~~
The bits are those of Philox4x32-10 (J. K. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011),
which turns a counter of 128 bits and a key of 64 bits into four words of 32 bits. The key is the lower half of the
seed, the upper half of the counter is the upper half of the seed. Group g of 256 words is made of the counters 64 g to
64 g + 63: word 64 j + i of the group, w[64 j + i], is word j of counter 64 g + i.

A call takes as many groups as its elements need, from the first that no call has taken, and leaves what remains of the
last one unused. So the numbers depend on the seed and on the calls, and not on the number of threads, which share the
groups of a call. Of one group are made:

- 256 uniform numbers of float32: the upper 24 bits of w[i], times 2**-24;
- 128 uniform numbers of float64: the upper 27 bits of w[i], then the upper 26 of w[i + 128], times 2**-53;
- 256 normal numbers of float32: i and i + 128 are r cos t and r sin t with r = sqrt(-2 log u) (G. E. P. Box and M. E.
  Muller, 1958); u is the upper 31 bits of w[i], plus 0.5, times 2**-31; t, in quarter turns, is the upper 2 bits of
  w[i + 128] and a fraction from -0.5 to 0.5, the others with a sign;
- 128 normal numbers of float64: i and i + 64, likewise, of the 53 bits of w[i] and w[i + 128], and of w[i + 64]
  followed by w[i + 192];
- 256 integers below n, for n up to 2**32: the integer part of n (2**32 w[i] + v[i]) / 2**64, where v are the words of
  group g + 2**57. They are made where they can matter, which for small n is hardly ever;
- 64 integers below a larger n, of 128 bits in the place of 64: w[i], w[i + 64], w[i + 128], w[i + 192].

One integer is more likely than another by at most 2**-32 of it. Logarithm, sine and cosine are sums of powers, whose
steps IEEE 754 defines: bits are the same on every machine.
*/
#ifndef TENSIX_RANDOM_H
#define TENSIX_RANDOM_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tensix/loops/target_clones.h"

enum { TX_COUNTERS = 64, TX_WORDS = 4 * TX_COUNTERS };

#define TX_SECOND ((uint64_t)1 << 57) /* groups beyond those that calls take */

typedef struct { uint64_t seed[2]; int64_t low; uint64_t bound; } tx_stream_t;

#if defined(__GNUC__)
#define TX_PART static inline __attribute__((always_inline)) /* in the clone that calls it */
#else
#define TX_PART static inline
#endif

/* The words of a group's first counters, `counters` of 64, a multiple of 16. */
TX_PART void tx_words(const tx_stream_t *stream, uint64_t group, int counters, uint32_t *words)
{
    uint32_t *a = words, *b = a + TX_COUNTERS, *c = b + TX_COUNTERS, *d = c + TX_COUNTERS;
    uint32_t key = (uint32_t)stream->seed[0], key2 = (uint32_t)(stream->seed[0] >> 32);
    for (int i = 0; i < counters; i++) {
        const uint64_t counter = group * TX_COUNTERS + i;
        a[i] = (uint32_t)counter, b[i] = (uint32_t)(counter >> 32);
        c[i] = (uint32_t)stream->seed[1], d[i] = (uint32_t)(stream->seed[1] >> 32);
    }
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < counters; i++) {
            const uint64_t p = (uint64_t)a[i] * 0xD2511F53u, q = (uint64_t)c[i] * 0xCD9E8D57u;
            a[i] = (uint32_t)(q >> 32) ^ b[i] ^ key, b[i] = (uint32_t)q;
            c[i] = (uint32_t)(p >> 32) ^ d[i] ^ key2, d[i] = (uint32_t)p;
        }
        key += 0x9E3779B9u, key2 += 0xBB67AE85u;
    }
}

/* Fill `count` elements from the beginning of a group. PER are made of a group of words w. */
#define TX_RANDOM(NAME, T, PER, ...)                                                                                \
    TX_TARGET_CLONES static void tx_random_##NAME(                                                                  \
        const tx_stream_t *stream, uint64_t group, void *data, int64_t count)                                       \
    {                                                                                                               \
        uint32_t w[TX_WORDS];                                                                                       \
        T rest[PER], *to = (T *)data;                                                                               \
        for (; count > 0; count -= PER, group++, to += PER) {                                                       \
            T *made = count < PER ? rest : to;                                                                      \
            if (count >= TX_COUNTERS) tx_words(stream, group, TX_COUNTERS, w);                                      \
            else tx_words(stream, group, ((int)count + 15) & -16, w);                                               \
            __VA_ARGS__                                                                                             \
            if (count < PER) memcpy(to, rest, count * sizeof(T));                                                   \
        }                                                                                                           \
    }
#define TX_EACH(COUNT) for (int i = 0; i < (count < COUNT ? (int)count : COUNT); i++)

/* Conversions from int32_t: processors have vectors for that, and not all for longer and unsigned ones. */
TX_PART double tx_fraction_f64(uint32_t high, uint32_t low, double more)
{
    return ((double)(int32_t)(high >> 5) * 0x1p26 + ((double)(int32_t)(low >> 6) + more)) * 0x1p-53;
}

TX_RANDOM(uniform_f32, float, 256, TX_EACH(256) { made[i] = (float)(int32_t)(w[i] >> 8) * 0x1p-24f; })
TX_RANDOM(uniform_f64, double, 128, TX_EACH(128) { made[i] = tx_fraction_f64(w[i], w[i + 128], 0); })

/* The logarithm of x = 2**e m, with m from sqrt(1/2) to sqrt(2): that of m is 2 artanh(s), s = (m - 1) / (m + 1). */
#define TX_LOG(NAME, T, BITS, UPPER, ROOT, SHIFT, POWERS, ...)                                                      \
    TX_PART T NAME(T x)                                                                                             \
    {                                                                                                               \
        static const T factors[] = {__VA_ARGS__};                                                                   \
        BITS bits;                                                                                                  \
        int32_t exponent;                                                                                           \
        T m, s, sum = factors[0];                                                                                   \
        memcpy(&bits, &x, sizeof(T));                                                                               \
        exponent = ((int32_t)(bits >> UPPER) - ROOT) >> (SHIFT - UPPER);                                            \
        bits -= (BITS)(uint32_t)exponent << SHIFT;                                                                  \
        memcpy(&m, &bits, sizeof(T));                                                                               \
        s = (m - 1) / (m + 1);                                                                                      \
        for (int k = 1; k < POWERS; k++) sum = sum * (s * s) + factors[k];                                          \
        return (T)exponent * (T)0.69314718055994530942 + 2 * s * sum;                                               \
    }
TX_LOG(tx_log_f32, float, uint32_t, 0, 0x3F3504F3, 23, 5, 1 / 9.f, 1 / 7.f, 1 / 5.f, 1 / 3.f, 1)
TX_LOG(tx_log_f64, double, uint64_t, 32, 0x3FE6A09F, 52, 10, 1 / 19., 1 / 17., 1 / 15., 1 / 13., 1 / 11., 1 / 9.,
       1 / 7., 1 / 5., 1 / 3., 1)

/* Two normal numbers of a fraction from 0 to 1, of quarter turns, and of a fraction of one from -0.5 to 0.5. */
#define TX_NORMAL(NAME, T, LOG, SQRT, SINES, COSINES, ...)                                                          \
    TX_PART void NAME(T u, uint32_t quarters, T fraction, T *first, T *second)                                      \
    {                                                                                                               \
        static const T factors[] = {__VA_ARGS__}; /* of sine and cosine: (-1)**k / k!, from the last one on */      \
        const T r = SQRT(-2 * LOG(u)), t = fraction * (T)1.57079632679489661923, square = t * t;                    \
        T sine = factors[0], cosine = factors[SINES], one, other;                                                   \
        for (int k = 1; k < SINES; k++) sine = sine * square + factors[k];                                          \
        for (int k = 1; k < COSINES; k++) cosine = cosine * square + factors[SINES + k];                            \
        sine *= t;                                                                                                  \
        one = quarters & 1 ? sine : cosine, other = quarters & 1 ? cosine : sine;                                   \
        *first = r * ((quarters + 1) & 2 ? -one : one);                                                             \
        *second = r * (quarters & 2 ? -other : other);                                                              \
    }
TX_NORMAL(tx_normal_f32, float, tx_log_f32, sqrtf, 5, 6,
          1 / 362880.f, -1 / 5040.f, 1 / 120.f, -1 / 6.f, 1,
          -1 / 3628800.f, 1 / 40320.f, -1 / 720.f, 1 / 24.f, -1 / 2.f, 1)
TX_NORMAL(tx_normal_f64, double, tx_log_f64, sqrt, 8, 9,
          -1 / 1307674368000., 1 / 6227020800., -1 / 39916800., 1 / 362880., -1 / 5040., 1 / 120., -1 / 6., 1,
          1 / 20922789888000., -1 / 87178291200., 1 / 479001600., -1 / 3628800., 1 / 40320., -1 / 720., 1 / 24., -1 / 2.,
          1)

TX_RANDOM(normal_f32, float, 256, TX_EACH(128) {
    const float u = ((float)(int32_t)(w[i] >> 1) + 0.5f) * 0x1p-31f;
    tx_normal_f32(u, w[i + 128] >> 30, (float)(int32_t)(w[i + 128] << 2) * 0x1p-32f, &made[i], &made[i + 128]);
})
TX_RANDOM(normal_f64, double, 128, TX_EACH(64) {
    const double high = (double)(int32_t)(w[i + 64] << 2) * 0x1p-32, low = (double)(int32_t)(w[i + 192] >> 2) * 0x1p-62;
    tx_normal_f64(tx_fraction_f64(w[i], w[i + 128], 0.5), w[i + 64] >> 30, high + low, &made[i], &made[i + 64]);
})

/* The upper half of the product of two numbers of 64 bits; of more than 64 bits it is the integer part of the product
   with a fraction. */
TX_PART uint64_t tx_upper(uint64_t x, uint64_t y)
{
    const uint64_t low = (uint32_t)x * (y & 0xFFFFFFFF), middle = (x >> 32) * (uint32_t)y + (low >> 32);
    return (x >> 32) * (y >> 32) + (middle >> 32) + (((uint32_t)x * (y >> 32) + (uint32_t)middle) >> 32);
}

/* From `low` on, below `low + bound`; a bound of 0 is 2**64. */
TX_RANDOM(integers, int64_t, 256, {
    const uint64_t n = stream->bound;
    int undecided = 0;
    TX_EACH(256) {
        const uint64_t product = w[i] * n;
        made[i] = (int64_t)((uint64_t)stream->low + (product >> 32));
        undecided |= (product & 0xFFFFFFFF) + n > 0xFFFFFFFF;
    }
    if (undecided) {
        uint32_t v[TX_WORDS];
        tx_words(stream, group | TX_SECOND, TX_COUNTERS, v);
        TX_EACH(256) made[i] += (int64_t)((((w[i] * n) & 0xFFFFFFFF) + (v[i] * n >> 32)) >> 32);
    }
})
TX_RANDOM(long_integers, int64_t, 64, TX_EACH(64) {
    const uint64_t high = (uint64_t)w[i] << 32 | w[i + 64], low = (uint64_t)w[i + 128] << 32 | w[i + 192];
    const uint64_t product = high * stream->bound, carry = product + tx_upper(low, stream->bound) < product;
    made[i] = (int64_t)((uint64_t)stream->low + (stream->bound == 0 ? high : tx_upper(high, stream->bound) + carry));
})

/* The numbers from 0 on in a random order: each at a random place among those before it, and what was there behind them
   (R. A. Fisher and F. Yates). Step n takes an integer below n + 1, of 64 bits: w[n % 128] and w[n % 128 + 128]. */
static void tx_random_order(const tx_stream_t *stream, uint64_t group, int64_t *to, int64_t count)
{
    uint32_t w[TX_WORDS];
    for (int64_t n = 0; n < count; n++) {
        const int i = (int)(n % 128);
        if (i == 0) tx_words(stream, group++, TX_COUNTERS, w);
        const int64_t place = (int64_t)tx_upper((uint64_t)w[i] << 32 | w[i + 128], (uint64_t)n + 1);
        to[n] = to[place];
        to[place] = n;
    }
}

#endif
