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

/* Each line of these calls M(name, C type, code) for a type; two copies, since no macro expands inside itself. */
#define TX_FROM_INTEGERS(M)                                                                                    \
    M(u8, uint8_t, 0) M(i8, int8_t, 1) M(i16, int16_t, 2) M(i32, int32_t, 3) M(i64, int64_t, 4) M(b, uint8_t, 11) \
    M(u16, uint16_t, 27) M(u32, uint32_t, 28) M(u64, uint64_t, 29)
#define TX_TO_INTEGERS(M, F, FROM)                                                                              \
    M(u8, uint8_t, F, FROM) M(i8, int8_t, F, FROM) M(i16, int16_t, F, FROM) M(i32, int32_t, F, FROM)             \
    M(i64, int64_t, F, FROM) M(u16, uint16_t, F, FROM) M(u32, uint32_t, F, FROM) M(u64, uint64_t, F, FROM)

/* What is not 0 is true, and counts once: files and other libraries hold other bytes than 0 and 1. */
#define TX_VALUE_b(x) ((x) != 0)
#define TX_VALUE_u8(x) (x)
#define TX_VALUE_i8(x) (x)
#define TX_VALUE_i16(x) (x)
#define TX_VALUE_i32(x) (x)
#define TX_VALUE_i64(x) (x)
#define TX_VALUE_f32(x) (x)
#define TX_VALUE_f64(x) (x)
#define TX_VALUE_u16(x) (x)
#define TX_VALUE_u32(x) (x)
#define TX_VALUE_u64(x) (x)
#define TX_REAL_REAL(T, TO, F, FROM) TX_NARROW_CLONES TX_LOOP(tx_##F##_##T, FROM, TO, t[i] = (TO)TX_VALUE_##F(s[i]))
#define TX_TO_OTHERS(F, FROM)                                                \
    TX_REAL_REAL(f32, float, F, FROM)                                        \
    TX_REAL_REAL(f64, double, F, FROM)                                       \
    TX_NARROW_CLONES TX_LOOP(tx_##F##_b, FROM, uint8_t, t[i] = s[i] != 0)    \
    TX_LOOP(tx_##F##_c64, FROM, tx_complex64, { t[i].real = (float)TX_VALUE_##F(s[i]); t[i].imag = 0; })   \
    TX_LOOP(tx_##F##_c128, FROM, tx_complex128, { t[i].real = (double)TX_VALUE_##F(s[i]); t[i].imag = 0; })
#define TX_INTEGER(F, FROM, CODE) TX_TO_INTEGERS(TX_REAL_REAL, F, FROM) TX_TO_OTHERS(F, FROM)
#define TX_COMPLEX(F, FROM)                                                  \
    TX_LOOP(tx_##F##_f32, FROM, float, t[i] = (float)s[i].real)              \
    TX_LOOP(tx_##F##_f64, FROM, double, t[i] = (double)s[i].real)            \
    TX_LOOP(tx_##F##_b, FROM, uint8_t, t[i] = (s[i].real != 0) | (s[i].imag != 0))           \
    TX_LOOP(tx_##F##_c64, FROM, tx_complex64, { t[i].real = (float)s[i].real; t[i].imag = (float)s[i].imag; })     \
    TX_LOOP(tx_##F##_c128, FROM, tx_complex128, { t[i].real = (double)s[i].real; t[i].imag = (double)s[i].imag; })

TX_FROM_INTEGERS(TX_INTEGER)
TX_TO_OTHERS(f32, float)
TX_TO_OTHERS(f64, double)
TX_COMPLEX(c64, tx_complex64)
TX_COMPLEX(c128, tx_complex128)

/* Floating-point numbers to integers: see above. No NaN is within anything. */
#define TX_IS_WITHIN(x, low, high) ((x) > (low) && (x) < (high))

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

static inline __m128i tx_four_u32_of_f32(const float *s)
{
    const __m128 half = _mm_set1_ps(0x1p31f), x = _mm_loadu_ps(s);
    const __m128 is_upper = _mm_and_ps(_mm_cmpge_ps(x, half), _mm_cmplt_ps(x, _mm_set1_ps(0x1p32f)));
    const __m128i rest = _mm_cvttps_epi32(_mm_sub_ps(x, _mm_and_ps(is_upper, half)));
    return _mm_xor_si128(rest, _mm_slli_epi32(_mm_castps_si128(is_upper), 31));
}

static inline __m128i tx_two_u32_of_f64(const double *s)
{
    const __m128d half = _mm_set1_pd(0x1p31), x = _mm_loadu_pd(s);
    const __m128d is_upper = _mm_and_pd(_mm_cmpge_pd(x, half), _mm_cmplt_pd(x, _mm_set1_pd(0x1p32)));
    const __m128i rest = _mm_cvttpd_epi32(_mm_sub_pd(x, _mm_and_pd(is_upper, half)));
    return _mm_xor_si128(rest, _mm_slli_epi32(_mm_shuffle_epi32(_mm_castpd_si128(is_upper), 0x88), 31));
}

static inline __m128i tx_four_u32_of_f64(const double *s)
{
    return _mm_unpacklo_epi64(tx_two_u32_of_f64(s), tx_two_u32_of_f64(s + 2));
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
    TX_LOOP_BY(8, tx_##F##_u32, FROM, uint32_t,                              \
               { TX_STORE(tx_four_u32_of_##F(s)); TX_STORE_AT(4, tx_four_u32_of_##F(s + 4)); }, TX_U32(*s))  \
    TX_LOOP_BY(4, tx_##F##_i64, FROM, int64_t, for (int i = 0; i < 4; i++) t[i] = tx_i64_of_##F(s + i), \
               tx_i64_of_##F(s))

#else

/* The choice is among numbers, so that the loops can be vectorised. */
#define TX_I32(x) (int32_t)(TX_IS_WITHIN(x, -0x1p31f, 0x1p31f) ? (x) : -0x1p31f)
#define TX_TO_LESS(F, FROM)                                                  \
    TX_LOOP(tx_##F##_i32, FROM, int32_t, t[i] = TX_I32(s[i]))                \
    TX_LOOP(tx_##F##_i16, FROM, int16_t, t[i] = (int16_t)TX_I32(s[i]))       \
    TX_LOOP(tx_##F##_i8, FROM, int8_t, t[i] = (int8_t)TX_I32(s[i]))          \
    TX_LOOP(tx_##F##_u32, FROM, uint32_t, t[i] = TX_U32(s[i]))               \
    TX_LOOP(tx_##F##_i64, FROM, int64_t, t[i] = (int64_t)(TX_IS_WITHIN(s[i], -0x1p63f, 0x1p63f) ? s[i] : -0x1p63f))

#endif

#define TX_U32(x)                                                            \
    (TX_IS_WITHIN(x, -0x1p31f, 0x1p31f) ? (uint32_t)(int32_t)(x)             \
     : TX_IS_WITHIN(x, 0, 0x1p32f) ? (uint32_t)(x) : (uint32_t)1 << 31)
#define TX_U64(x)                                                            \
    (fabs(x) < 0x1p63 ? (uint64_t)(int64_t)(x)             \
     : TX_IS_WITHIN(x, 0, 0x1p64f) ? (uint64_t)(x) : (uint64_t)1 << 63)
TX_TO_LESS(f32, float)
TX_TO_LESS(f64, double)
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
#define TX_ROW(F, FROM, CODE)                                                                                  \
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
