/* Conversion of numbers of one type to another, as C converts them; NumPy gives away no functions of its own for it.
 *
 * Types have the codes of tensix/tensors/dtype.pxd. What is converted to and from float16 goes over float64, and over
 * float32 what is converted to and from bfloat16: as in PyTorch, a float64 is rounded twice on its way to bfloat16.
 */
#ifndef TENSIX_CONVERT_H
#define TENSIX_CONVERT_H

#include <stdint.h>
#include <string.h>

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
#define TX_FROM_REALS(M)                                                                                       \
    M(u8, uint8_t, 0) M(i8, int8_t, 1) M(i16, int16_t, 2) M(i32, int32_t, 3) M(i64, int64_t, 4) M(f32, float, 6) \
    M(f64, double, 7) M(b, uint8_t, 11) M(u16, uint16_t, 27) M(u32, uint32_t, 28) M(u64, uint64_t, 29)
#define TX_TO_INTEGERS(M, F, FROM)                                                                              \
    M(u8, uint8_t, F, FROM) M(i8, int8_t, F, FROM) M(i16, int16_t, F, FROM) M(i32, int32_t, F, FROM)             \
    M(i64, int64_t, F, FROM) M(f32, float, F, FROM) M(f64, double, F, FROM) M(u16, uint16_t, F, FROM)            \
    M(u32, uint32_t, F, FROM) M(u64, uint64_t, F, FROM)

/* What is no 0 is true, and counts once: files and other libraries hold other bytes than 0 and 1. */
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
#define TX_REAL_REAL(T, TO, F, FROM) TX_LOOP(tx_##F##_##T, FROM, TO, t[i] = (TO)TX_VALUE_##F(s[i]))
#define TX_COMPLEX_REAL(T, TO, F, FROM) TX_LOOP(tx_##F##_##T, FROM, TO, t[i] = (TO)s[i].real)
#define TX_REAL(F, FROM, CODE)                                               \
    TX_TO_INTEGERS(TX_REAL_REAL, F, FROM)                                    \
    TX_LOOP(tx_##F##_b, FROM, uint8_t, t[i] = s[i] != 0)                     \
    TX_LOOP(tx_##F##_c64, FROM, tx_complex64, { t[i].real = (float)TX_VALUE_##F(s[i]); t[i].imag = 0; })   \
    TX_LOOP(tx_##F##_c128, FROM, tx_complex128, { t[i].real = (double)TX_VALUE_##F(s[i]); t[i].imag = 0; })
#define TX_COMPLEX(F, FROM)                                                  \
    TX_TO_INTEGERS(TX_COMPLEX_REAL, F, FROM)                                 \
    TX_LOOP(tx_##F##_b, FROM, uint8_t, t[i] = (s[i].real != 0) | (s[i].imag != 0))           \
    TX_LOOP(tx_##F##_c64, FROM, tx_complex64, { t[i].real = (float)s[i].real; t[i].imag = (float)s[i].imag; })     \
    TX_LOOP(tx_##F##_c128, FROM, tx_complex128, { t[i].real = (double)s[i].real; t[i].imag = (double)s[i].imag; })

TX_FROM_REALS(TX_REAL)
TX_COMPLEX(c64, tx_complex64)
TX_COMPLEX(c128, tx_complex128)
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
#define TX_ROW(F, FROM, CODE)                                                                                  \
    if (from == CODE) switch (to) {                                                                            \
        case 0: return tx_##F##_u8;   case 1: return tx_##F##_i8;    case 2: return tx_##F##_i16;               \
        case 3: return tx_##F##_i32;  case 4: return tx_##F##_i64;   case 6: return tx_##F##_f32;               \
        case 7: return tx_##F##_f64;  case 9: return tx_##F##_c64;   case 10: return tx_##F##_c128;             \
        case 11: return tx_##F##_b;   case 27: return tx_##F##_u16;  case 28: return tx_##F##_u32;              \
        case 29: return tx_##F##_u64;                                                                          \
    }
    TX_FROM_REALS(TX_ROW)
    TX_ROW(c64, tx_complex64, 9)
    TX_ROW(c128, tx_complex128, 10)
    if (from == 5 && to == 6) return tx_f16_f32;
    if (from == 6 && to == 5) return tx_f32_f16;
    if (from == 7 && to == 5) return tx_f64_f16;
    if (from == 5 && to == 7) return tx_f16_f64;
    if (from == 6 && to == 15) return tx_f32_bf16;
    if (from == 15 && to == 6) return tx_bf16_f32;
    return 0;
#undef TX_ROW
}

#undef TX_LOOP
#undef TX_FROM_REALS
#undef TX_TO_INTEGERS
#undef TX_REAL_REAL
#undef TX_COMPLEX_REAL
#undef TX_REAL
#undef TX_COMPLEX
#endif /* TENSIX_CONVERT_H */
