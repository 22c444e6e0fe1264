/* Conversion of numbers of one type to another, as C converts them; NumPy exports no functions of its own for it.
 *
 * Types have the codes of tensix/tensors/dtype.pxd. What is converted to and from float16 goes over float64, and over
 * float32 what is converted to and from bfloat16: as in PyTorch, a float64 is rounded twice on its way to bfloat16.
 *
 * C leaves open what integer comes of a floating-point number out of its range, and compilers make use of that: what
 * they take many at once has another answer than the rest at the end. So no such number is cast here: int32 and int64
 * give their least number, as the instructions of x86 do by themselves, and 8 and 16 bits are the lowest ones of int32.
 * uint32 and uint64 take negative numbers as the signed type of their size does, and give the bits of its least number
 * for what neither of the two holds.
 */
#ifndef TENSIX_CONVERT_H
#define TENSIX_CONVERT_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tensix/loops/target_clones.h"
#if defined(__x86_64__) || defined(_M_X64)
#include <emmintrin.h>
#endif

typedef void (*tx_convert_t)(const void *source, void *target, intptr_t count);
typedef struct { float real, imag; } tx_complex64;
typedef struct { double real, imag; } tx_complex128;

static inline uint16_t tx_bfloat16_of_float(uint32_t bits)
{
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return ((bits >> 16) & 0x8000) | 0x7FC0; /* rounding could make it infinite */
    return (uint16_t)((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);                 /* to the nearest, to even of two */
}

static inline uint16_t tx_half_of_double(uint64_t bits)
{
    const uint16_t sign = (uint16_t)(bits >> 48) & 0x8000;
    const int exponent = (int)((bits >> 52) & 0x7FF) - 1023;
    const uint64_t fraction = bits & 0xFFFFFFFFFFFFF;
    uint64_t whole, kept;
    int shift;
    if (exponent == 1024 && fraction) return sign | 0x7E00;
    if (exponent > 15) return sign | 0x7C00;
    if (exponent < -25) return sign;
    if (exponent >= -14) {
        whole = ((uint64_t)(exponent + 15) << 52) | fraction;
        shift = 42;
    } else {
        whole = ((uint64_t)1 << 52) | fraction;
        shift = 28 - exponent;
    }
    kept = whole >> shift;
    whole = (whole << (64 - shift)) | (kept & 1); /* what is cut off, above halfway also if what is kept is odd */
    return sign | (uint16_t)(kept + (whole > ((uint64_t)1 << 63)));
}

static inline uint64_t tx_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static inline double tx_double_of_half(uint16_t half)
{
    const uint64_t sign = (uint64_t)(half & 0x8000) << 48;
    const uint64_t exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
    uint64_t bits;
    double value;
    if (exponent == 0) {
        bits = tx_bits((double)fraction * 0x1p-24);
    } else {
        bits = ((exponent == 0x1F ? 0x7FF : exponent + 1008) << 52) | (fraction << 42);
    }
    bits |= sign;
    memcpy(&value, &bits, 8);
    return value;
}

/* Such loops are vectorised by others at -O2 and by GCC at -O3. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif

#define TX_LOOP(NAME, FROM, TO, EXPRESSION)                                  \
    static void NAME(const void *source, void *target, intptr_t count)       \
    {                                                                        \
        const FROM *__restrict s = (const FROM *)source;                     \
        TO *__restrict t = (TO *)target;                                     \
        for (intptr_t i = 0; i < count; i++) EXPRESSION;                     \
    }

/* What is not 0 is true, and counts once: files and other libraries hold other bytes than 0 and 1. */
#define TX_TRUTH(x) ((x) != 0)
#define TX_SAME(x) (x)
/* Each line of these calls M(name, C type, code, value) for a type; two copies, since no macro expands inside itself. */
#define TX_FROM_INTEGERS(M)                                                                                    \
    M(u8, uint8_t, 0, TX_SAME) M(i8, int8_t, 1, TX_SAME) M(i16, int16_t, 2, TX_SAME) M(i32, int32_t, 3, TX_SAME) \
    M(i64, int64_t, 4, TX_SAME) M(b, uint8_t, 11, TX_TRUTH) M(u16, uint16_t, 27, TX_SAME)                       \
    M(u32, uint32_t, 28, TX_SAME) M(u64, uint64_t, 29, TX_SAME)
#define TX_TO_INTEGERS(M, F, FROM, VALUE)                                                                       \
    M(u8, uint8_t, F, FROM, VALUE) M(i8, int8_t, F, FROM, VALUE) M(i16, int16_t, F, FROM, VALUE)                 \
    M(i32, int32_t, F, FROM, VALUE) M(i64, int64_t, F, FROM, VALUE) M(u16, uint16_t, F, FROM, VALUE)             \
    M(u32, uint32_t, F, FROM, VALUE) M(u64, uint64_t, F, FROM, VALUE)
#define TX_REAL_REAL(T, TO, F, FROM, VALUE) TX_NARROW_CLONES TX_LOOP(tx_##F##_##T, FROM, TO, t[i] = (TO)VALUE(s[i]))
#define TX_TO_OTHERS(F, FROM, VALUE)                                         \
    TX_REAL_REAL(f32, float, F, FROM, VALUE)                                 \
    TX_REAL_REAL(f64, double, F, FROM, VALUE)                                \
    TX_NARROW_CLONES TX_LOOP(tx_##F##_b, FROM, uint8_t, t[i] = s[i] != 0)    \
    TX_LOOP(tx_##F##_c64, FROM, tx_complex64, { t[i].real = (float)VALUE(s[i]); t[i].imag = 0; })   \
    TX_LOOP(tx_##F##_c128, FROM, tx_complex128, { t[i].real = (double)VALUE(s[i]); t[i].imag = 0; })
#define TX_INTEGER(F, FROM, CODE, VALUE) TX_TO_INTEGERS(TX_REAL_REAL, F, FROM, VALUE) TX_TO_OTHERS(F, FROM, VALUE)
#define TX_COMPLEX(F, FROM)                                                  \
    TX_LOOP(tx_##F##_f32, FROM, float, t[i] = (float)s[i].real)              \
    TX_LOOP(tx_##F##_f64, FROM, double, t[i] = (double)s[i].real)            \
    TX_LOOP(tx_##F##_b, FROM, uint8_t, t[i] = (s[i].real != 0) | (s[i].imag != 0))           \
    TX_LOOP(tx_##F##_c64, FROM, tx_complex64, { t[i].real = (float)s[i].real; t[i].imag = (float)s[i].imag; })     \
    TX_LOOP(tx_##F##_c128, FROM, tx_complex128, { t[i].real = (double)s[i].real; t[i].imag = (double)s[i].imag; })

TX_FROM_INTEGERS(TX_INTEGER)
TX_TO_OTHERS(f32, float, TX_SAME)
TX_TO_OTHERS(f64, double, TX_SAME)
TX_COMPLEX(c64, tx_complex64)
TX_COMPLEX(c128, tx_complex128)

/* Floating-point numbers to integers: see above. No NaN is within anything. The choice is among numbers, so that the
   loops can be vectorised. */
#define TX_IS_WITHIN(x, low, high) ((x) > (low) && (x) < (high))
#define TX_I32(x) (int32_t)(TX_IS_WITHIN(x, -0x1p31f, 0x1p31f) ? (x) : -0x1p31f)

#if defined(__x86_64__) || defined(_M_X64)

static inline int32_t tx_i32_of_f32(const float *s) { return _mm_cvttss_si32(_mm_load_ss(s)); }
static inline int32_t tx_i32_of_f64(const double *s) { return _mm_cvttsd_si32(_mm_load_sd(s)); }
static inline int64_t tx_i64_of_f32(const float *s) { return _mm_cvttss_si64(_mm_load_ss(s)); }
static inline int64_t tx_i64_of_f64(const double *s) { return _mm_cvttsd_si64(_mm_load_sd(s)); }

static inline __m128i tx_four_i32_of_f32(const float *s) { return _mm_cvttps_epi32(_mm_loadu_ps(s)); }

static inline __m128i tx_four_i32_of_f64(const double *s)
{
    return _mm_unpacklo_epi64(_mm_cvttpd_epi32(_mm_loadu_pd(s)), _mm_cvttpd_epi32(_mm_loadu_pd(s + 2)));
}

/* The lowest bits of eight and of sixteen int32. */
static inline __m128i tx_eight_i16(__m128i a, __m128i b)
{
    const __m128i first = _mm_unpacklo_epi16(a, b), last = _mm_unpackhi_epi16(a, b); /* a0 b0 . . a1 b1 . . */
    return _mm_unpacklo_epi16(_mm_unpacklo_epi16(first, last), _mm_unpackhi_epi16(first, last));
}

static inline __m128i tx_sixteen_i8(__m128i a, __m128i b, __m128i c, __m128i d)
{
    const __m128i lowest = _mm_set1_epi32(0xFF);
    return _mm_packus_epi16(
        _mm_packs_epi32(_mm_and_si128(a, lowest), _mm_and_si128(b, lowest)),
        _mm_packs_epi32(_mm_and_si128(c, lowest), _mm_and_si128(d, lowest)));
}

/* So many at once, and the others one by one. */
#define TX_LOOP_BY(COUNT, NAME, FROM, TO, MANY, ONE)                         \
    static void NAME(const void *source, void *target, intptr_t count)       \
    {                                                                        \
        const FROM *__restrict s = (const FROM *)source;                     \
        TO *__restrict t = (TO *)target;                                     \
        for (; count >= COUNT; count -= COUNT, s += COUNT, t += COUNT) MANY; \
        for (; count > 0; count--, s++, t++) *t = (TO)ONE;                   \
    }
#define TX_STORE_AT(i, vector) _mm_storeu_si128((__m128i *)(t + i), vector)
#define TX_STORE(vector) TX_STORE_AT(0, vector)
#define TX_FOUR(F, i) tx_four_i32_of_##F(s + i)
#define TX_TO_LESS(F, FROM)                                                  \
    TX_LOOP_BY(16, tx_##F##_i32, FROM, int32_t,                              \
               { TX_STORE(TX_FOUR(F, 0)); TX_STORE_AT(4, TX_FOUR(F, 4));     \
                 TX_STORE_AT(8, TX_FOUR(F, 8)); TX_STORE_AT(12, TX_FOUR(F, 12)); },                \
               tx_i32_of_##F(s))                                             \
    TX_LOOP_BY(8, tx_##F##_i16, FROM, int16_t, TX_STORE(tx_eight_i16(TX_FOUR(F, 0), TX_FOUR(F, 4))), tx_i32_of_##F(s)) \
    TX_LOOP_BY(16, tx_##F##_i8, FROM, int8_t,                                \
               TX_STORE(tx_sixteen_i8(TX_FOUR(F, 0), TX_FOUR(F, 4), TX_FOUR(F, 8), TX_FOUR(F, 12))),   \
               tx_i32_of_##F(s))                                             \
    TX_LOOP_BY(4, tx_##F##_i64, FROM, int64_t, for (int i = 0; i < 4; i++) t[i] = tx_i64_of_##F(s + i), \
               tx_i64_of_##F(s))

#else

#define TX_TO_LESS(F, FROM)                                                  \
    TX_LOOP(tx_##F##_i32, FROM, int32_t, t[i] = TX_I32(s[i]))                \
    TX_LOOP(tx_##F##_i16, FROM, int16_t, t[i] = (int16_t)TX_I32(s[i]))       \
    TX_LOOP(tx_##F##_i8, FROM, int8_t, t[i] = (int8_t)TX_I32(s[i]))          \
    TX_LOOP(tx_##F##_i64, FROM, int64_t, t[i] = (int64_t)(TX_IS_WITHIN(s[i], -0x1p63f, 0x1p63f) ? s[i] : -0x1p63f))

#endif

/* The upper half of uint32 is the lower one with another highest bit. */
#define TX_TO_U32(F, FROM)                                                   \
    static inline uint32_t tx_u32_of_##F(FROM x)                             \
    {                                                                        \
        const int is_upper = (x >= 0x1p31f) & (x < 0x1p32f);                 \
        const FROM rest = is_upper ? x - 0x1p31f : x;                        \
        return (uint32_t)TX_I32(rest) ^ (uint32_t)is_upper << 31;            \
    }                                                                        \
    TX_NARROW_CLONES TX_LOOP(tx_##F##_u32, FROM, uint32_t, t[i] = tx_u32_of_##F(s[i]))
#define TX_U64(x)                                                            \
    (fabs(x) < 0x1p63 ? (uint64_t)(int64_t)(x)             \
     : TX_IS_WITHIN(x, 0, 0x1p64f) ? (uint64_t)(x) : (uint64_t)1 << 63)
TX_TO_LESS(f32, float)
TX_TO_LESS(f64, double)
/* GCC vectorises its choices if exceptions of floating point do not count; half precision would be a third slower. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("no-trapping-math")
#endif
TX_TO_U32(f32, float)
TX_TO_U32(f64, double)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
TX_LOOP(tx_f32_u64, float, uint64_t, t[i] = TX_U64(s[i]))
TX_LOOP(tx_f64_u64, double, uint64_t, t[i] = TX_U64(s[i]))

TX_LOOP(tx_f16_f32, uint16_t, float, t[i] = (float)tx_double_of_half(s[i]))
TX_LOOP(tx_f32_f16, float, uint16_t, t[i] = tx_half_of_double(tx_bits((double)s[i])))
TX_LOOP(tx_f64_f16, uint64_t, uint16_t, t[i] = tx_half_of_double(s[i]))
TX_LOOP(tx_f16_f64, uint16_t, double, t[i] = tx_double_of_half(s[i]))
TX_LOOP(tx_f32_bf16, uint32_t, uint16_t, t[i] = tx_bfloat16_of_float(s[i]))
TX_LOOP(tx_bf16_f32, uint16_t, uint32_t, t[i] = (uint32_t)s[i] << 16)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* Return the function that converts in one step, NULL if none does. */
static inline tx_convert_t tx_conversion(int from, int to)
{
#define TX_ROW_TO_OTHERS(F)                                                                                    \
        case 6: return tx_##F##_f32;  case 7: return tx_##F##_f64;   case 9: return tx_##F##_c64;               \
        case 10: return tx_##F##_c128; case 11: return tx_##F##_b;
#define TX_ROW(F, FROM, CODE, VALUE)                                                                           \
    if (from == CODE) switch (to) {                                                                            \
        case 0: return tx_##F##_u8;   case 1: return tx_##F##_i8;    case 2: return tx_##F##_i16;               \
        case 3: return tx_##F##_i32;  case 4: return tx_##F##_i64;   case 27: return tx_##F##_u16;              \
        case 28: return tx_##F##_u32; case 29: return tx_##F##_u64;                                            \
        TX_ROW_TO_OTHERS(F)                                                                                    \
    }
/* Bits are the same, signed or not. */
#define TX_ROW_OF_FLOATS(F, CODE)                                                                              \
    if (from == CODE) switch (to) {                                                                            \
        case 0: case 1: return tx_##F##_i8;   case 2: case 27: return tx_##F##_i16;                             \
        case 3: return tx_##F##_i32;  case 4: return tx_##F##_i64;   case 28: return tx_##F##_u32;              \
        case 29: return tx_##F##_u64;                                                                          \
        TX_ROW_TO_OTHERS(F)                                                                                    \
    }
    TX_FROM_INTEGERS(TX_ROW)
    TX_ROW_OF_FLOATS(f32, 6)
    TX_ROW_OF_FLOATS(f64, 7)
    if (from == 9) switch (to) { TX_ROW_TO_OTHERS(c64) }
    if (from == 10) switch (to) { TX_ROW_TO_OTHERS(c128) }
    if (from == 5 && to == 6) return tx_f16_f32;
    if (from == 6 && to == 5) return tx_f32_f16;
    if (from == 7 && to == 5) return tx_f64_f16;
    if (from == 5 && to == 7) return tx_f16_f64;
    if (from == 6 && to == 15) return tx_f32_bf16;
    if (from == 15 && to == 6) return tx_bf16_f32;
    return 0;
}

#endif /* TENSIX_CONVERT_H */
