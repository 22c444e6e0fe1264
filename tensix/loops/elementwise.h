/* Inner loops of elementwise functions, where they are faster than those of NumPy. They have the signature of NumPy's.
 *
 * An operand is read before the result is written at its place, so the result may lie over it element by element, and
 * in no other way: that is what TX_INDEPENDENT tells the compiler.
 *
 * What is computed here is the same on every instruction set, since products and sums are rounded each and only
 * operations that IEEE 754 defines are used. Functions that need more are computed in two ways: most elements by a
 * formula that the compiler can take many at once, and those that it says it is not made for by the C library. Which of
 * them serves an element depends on that element alone. `remainder` and `floor_divide` are exact in both, so that they
 * have NumPy's bits. Functions of the C library's vector mathematics are in vector_math.h.
 */
#ifndef TENSIX_ELEMENTWISE_H
#define TENSIX_ELEMENTWISE_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tensix/loops/items.h"
#include "tensix/loops/target_clones.h"

typedef void (*tx_loop_t)(char **data, const intptr_t *count, const intptr_t *steps, void *original);
typedef struct { tx_loop_t function; void *data; int level; } tx_original_t; /* See original_loop_t */

#define TX_BLOCK 256
#define TX_AT(T, k, i) (*(T *)(data[k] + (i) * steps[k]))
#define TX_SIDE_BY_SIDE(T, k) (steps[k] == sizeof(T))

/* Run a loop over elements that do not lie side by side, as it wants them: in blocks that are copied to where they do.
   Compilers make vectors of such a loop only. What is one element for all is copied once. */
static void tx_in_blocks(
    tx_loop_t loop, int operands, const int *sizes, char **data, const intptr_t *count, const intptr_t *steps)
{
    uint64_t copies[4][TX_BLOCK];
    char *block[4];
    intptr_t block_steps[4];
    const int result = operands - 1;
    for (intptr_t start = 0; start < *count; start += TX_BLOCK) {
        const intptr_t n = *count - start < TX_BLOCK ? *count - start : TX_BLOCK;
        for (int k = 0; k < operands; k++) {
            char *given = data[k] + start * steps[k];
            block_steps[k] = sizes[k];
            block[k] = steps[k] == sizes[k] ? given : (char *)copies[k];
            if (block[k] == given || k == result || (steps[k] == 0 && start > 0)) continue;
            tx_copy(sizes[k], given, steps[k], block[k], sizes[k], n);
        }
        loop(block, &n, block_steps, NULL);
        if (steps[result] != sizes[result])
            tx_copy(sizes[result], block[result], sizes[result], data[result] + start * steps[result], steps[result], n);
    }
}
#define TX_RUN_IN_BLOCKS(NAME, ...)                                                                         \
    do {                                                                                                    \
        static const int sizes[] = {__VA_ARGS__};                                                           \
        tx_in_blocks(tx_##NAME, sizeof(sizes) / sizeof(int), sizes, data, count, steps);                    \
    } while (0)

/* A loop over one operand, x. */
#define TX_UNARY(NAME, T, RESULT, EXPRESSION)                                                               \
    TX_TARGET_CLONES static void tx_##NAME(                                                                 \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                           \
    {                                                                                                       \
        const intptr_t n = *count;                                                                          \
        const T *given = (const T *)data[0];                                                                \
        RESULT *made = (RESULT *)data[1];                                                                   \
        (void)original;                                                                                      \
        if (TX_SIDE_BY_SIDE(T, 0) && TX_SIDE_BY_SIDE(RESULT, 1)) {                                          \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) { const T x = given[i]; made[i] = EXPRESSION; } \
        } else {                                                                                            \
            TX_RUN_IN_BLOCKS(NAME, sizeof(T), sizeof(RESULT));                                              \
        }                                                                                                   \
    }

/* A loop over two operands, x and y, of which either may be one element for all. */
#define TX_BINARY(NAME, T, RESULT, EXPRESSION)                                                              \
    TX_TARGET_CLONES static void tx_##NAME(                                                                 \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                           \
    {                                                                                                       \
        const intptr_t n = *count;                                                                          \
        const T *left = (const T *)data[0], *right = (const T *)data[1];                                    \
        RESULT *made = (RESULT *)data[2];                                                                   \
        (void)original;                                                                                      \
        if (TX_SIDE_BY_SIDE(T, 0) && TX_SIDE_BY_SIDE(T, 1) && TX_SIDE_BY_SIDE(RESULT, 2)) {                 \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) {                                               \
                const T x = left[i], y = right[i];                                                          \
                made[i] = EXPRESSION;                                                                       \
            }                                                                                               \
        } else if (TX_SIDE_BY_SIDE(T, 0) && steps[1] == 0 && TX_SIDE_BY_SIDE(RESULT, 2)) {                  \
            const T y = *right;                                                                             \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) { const T x = left[i]; made[i] = EXPRESSION; }  \
        } else if (TX_SIDE_BY_SIDE(T, 1) && steps[0] == 0 && TX_SIDE_BY_SIDE(RESULT, 2)) {                  \
            const T x = *left;                                                                              \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) { const T y = right[i]; made[i] = EXPRESSION; } \
        } else {                                                                                            \
            TX_RUN_IN_BLOCKS(NAME, sizeof(T), sizeof(T), sizeof(RESULT));                                   \
        }                                                                                                   \
    }

/* A loop over two operands, block by block. FORMULA(x, y, &rare) sets `rare` to what is not 0 where RARE(x, y) has to
   compute; the result of such an element is never used. */
#define TX_IN_BLOCKS(NAME, T, FORMULA, RARE)                                                                \
    TX_TARGET_CLONES static void tx_##NAME(                                                                 \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                           \
    {                                                                                                       \
        T made[TX_BLOCK];                                                                                   \
        (void)original;                                                                                      \
        if (!TX_SIDE_BY_SIDE(T, 0) || !TX_SIDE_BY_SIDE(T, 1) || !TX_SIDE_BY_SIDE(T, 2)) {                   \
            TX_RUN_IN_BLOCKS(NAME, sizeof(T), sizeof(T), sizeof(T));                                        \
            return;                                                                                         \
        }                                                                                                   \
        for (intptr_t start = 0; start < *count; start += TX_BLOCK) {                                       \
            const intptr_t n = *count - start < TX_BLOCK ? *count - start : TX_BLOCK;                       \
            const T *left = (const T *)data[0] + start, *right = (const T *)data[1] + start;                \
            int is_any_rare = 0;                                                                            \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) {                                               \
                int rare = 0;                                                                               \
                made[i] = FORMULA(left[i], right[i], &rare);                                                \
                is_any_rare |= rare;                                                                        \
            }                                                                                               \
            if (is_any_rare) {                                                                              \
                for (intptr_t i = 0; i < n; i++) {                                                          \
                    int rare = 0;                                                                           \
                    FORMULA(left[i], right[i], &rare);                                                      \
                    if (rare) made[i] = RARE(left[i], right[i]);                                            \
                }                                                                                           \
            }                                                                                               \
            memcpy((T *)data[2] + start, made, n * sizeof(T));                                              \
        }                                                                                                   \
    }

/* ---- bounds and choices. Not a number wins, the first of two; of equal ones, zeros of two signs, the second. */

#define TX_MAXIMUM(x, y) ((((x) > (y)) | ((x) != (x))) ? (x) : (y))
#define TX_MINIMUM(x, y) ((((x) < (y)) | ((x) != (x))) ? (x) : (y))
#define TX_BOUNDS(SUFFIX, T)                                                                                \
    TX_BINARY(maximum_##SUFFIX, T, T, TX_MAXIMUM(x, y))                                                     \
    TX_BINARY(minimum_##SUFFIX, T, T, TX_MINIMUM(x, y))                                                     \
    TX_TARGET_CLONES static void tx_clip_##SUFFIX(                                                          \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                           \
    {                                                                                                       \
        const intptr_t n = *count;                                                                          \
        const T *given = (const T *)data[0], *lower = (const T *)data[1], *upper = (const T *)data[2];      \
        T *made = (T *)data[3];                                                                             \
        const T low = *lower, high = *upper;                                                                \
        const int is_flat = TX_SIDE_BY_SIDE(T, 0) && TX_SIDE_BY_SIDE(T, 3);                                 \
        (void)original;                                                                                      \
        if (is_flat && steps[1] == 0 && steps[2] == 0 && low == low && high == high) {                      \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) {                                               \
                const T x = given[i], raised = low >= x ? low : x;                                          \
                made[i] = high <= raised ? high : raised;                                                   \
            }                                                                                               \
        } else if (is_flat && TX_SIDE_BY_SIDE(T, 1) && TX_SIDE_BY_SIDE(T, 2)) {                             \
            TX_INDEPENDENT for (intptr_t i = 0; i < n; i++) {                                               \
                const T raised = TX_MAXIMUM(given[i], lower[i]);                                            \
                made[i] = TX_MINIMUM(raised, upper[i]);                                                     \
            }                                                                                               \
        } else {                                                                                            \
            TX_RUN_IN_BLOCKS(clip_##SUFFIX, sizeof(T), sizeof(T), sizeof(T), sizeof(T));                    \
        }                                                                                                   \
    }
TX_BOUNDS(u8, uint8_t)
TX_BOUNDS(i8, int8_t)
TX_BOUNDS(i16, int16_t)
TX_BOUNDS(i32, int32_t)
TX_BOUNDS(i64, int64_t)
TX_BOUNDS(u16, uint16_t)
TX_BOUNDS(u32, uint32_t)
TX_BOUNDS(u64, uint64_t)
TX_BOUNDS(f32, float)
TX_BOUNDS(f64, double)

/* ---- functions that are one expression */

static inline uint32_t tx_bits_of_f32(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
static inline uint64_t tx_bits_of_f64(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
static inline float tx_f32_of_bits(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline double tx_f64_of_bits(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }

/* The order of bits is that of values, away from zero. */
#define TX_OF_FLOATS(SUFFIX, T, BITS, MINUS)                                                                \
    static inline T tx_signed_##SUFFIX(T x, T y)                                                            \
    {                                                                                                       \
        return tx_##SUFFIX##_of_bits((tx_bits_of_##SUFFIX(x) & ~MINUS) | (tx_bits_of_##SUFFIX(y) & MINUS)); \
    }                                                                                                       \
    static inline T tx_neighbour_##SUFFIX(T x, T y)                                                         \
    {                                                                                                       \
        const BITS bits = tx_bits_of_##SUFFIX(x);                                                           \
        const BITS stepped = (x < y) == (x > 0) ? bits + 1 : bits - 1;                                      \
        const BITS smallest = (tx_bits_of_##SUFFIX(y) & MINUS) | 1;                                         \
        const T neighbour = tx_##SUFFIX##_of_bits(x == 0 ? smallest : stepped);                             \
        return x != x || y != y ? x + y : x == y ? y : neighbour;                                           \
    }                                                                                                       \
    TX_BINARY(copysign_##SUFFIX, T, T, tx_signed_##SUFFIX(x, y))                                            \
    TX_BINARY(nextafter_##SUFFIX, T, T, tx_neighbour_##SUFFIX(x, y))                                        \
    TX_BINARY(logical_and_##SUFFIX, T, uint8_t, (x != 0) & (y != 0))                                        \
    TX_BINARY(logical_or_##SUFFIX, T, uint8_t, (x != 0) | (y != 0))                                         \
    TX_BINARY(logical_xor_##SUFFIX, T, uint8_t, (x != 0) ^ (y != 0))                                        \
    TX_UNARY(logical_not_##SUFFIX, T, uint8_t, x == 0)                                                      \
    TX_UNARY(reciprocal_##SUFFIX, T, T, 1 / x)                                                              \
    TX_UNARY(sign_##SUFFIX, T, T, x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x)
TX_OF_FLOATS(f32, float, uint32_t, 0x80000000)
TX_OF_FLOATS(f64, double, uint64_t, 0x8000000000000000)

/* ---- division rounded down.

   A remainder is a - q * b, with q the quotient's whole part. It is exact if the products are: float32 is computed in
   float64, whose quotient is never rounded up to a whole number while it is so small. In float64 b is cut in two, so
   that q, of 24 bits at most, times either part is exact; the difference of a and the greater product may need one bit
   more than there are, which is kept; and a quotient rounded up is one too large. */

/* A number of less than 22 or 51 bits before the point, rounded down: to the nearest whole number and one less. */
#define TX_FLOORED(T, x, SHIFT) (((x) + SHIFT - SHIFT) - (((x) + SHIFT - SHIFT) > (x) ? (T)1 : (T)0))

static inline float tx_mod_f32(float a, float b, int *rare)
{
    const double x = fabs((double)a), y = fabs((double)b), q = x / y;
    const double mod = x - TX_FLOORED(double, q, 0x1.8p52) * y;
    *rare |= !(q < 0x1p21) | !(mod <= x); /* not a number, of an infinite b */
    return tx_signed_f32((float)mod, a);
}

static inline double tx_mod_f64(double a, double b, int *rare)
{
    const double x = fabs(a), y = fabs(b), q = x / y, whole = TX_FLOORED(double, q, 0x1.8p52);
    const double upper = tx_f64_of_bits(tx_bits_of_f64(y) & ~(uint64_t)0x7FFFFFF), lower = y - upper;
    const double most = whole * upper, rest = x - most, lost = (x - rest) - most;
    const double mod = (rest - whole * lower) + lost;
    *rare |= !(q < 0x1p24) | !(mod <= x);
    return tx_signed_f64(mod < 0 ? mod + y : mod, a);
}

/* As NumPy rounds it: the remainder has the divisor's sign, and the quotient is what is left without it. */
#define TX_DIVISION(SUFFIX, T, SHIFT, FMOD, FLOOR)                                                          \
    static inline T tx_remainder_of_##SUFFIX(T a, T b, int *rare)                                           \
    {                                                                                                       \
        const T mod = tx_mod_##SUFFIX(a, b, rare);                                                          \
        const T back = (((mod < 0) & (b > 0)) | ((mod > 0) & (b < 0))) ? b : (T)0;                          \
        return tx_signed_##SUFFIX(mod + back, b);                                                           \
    }                                                                                                       \
    static inline T tx_quotient_of_##SUFFIX(T a, T b, int *rare)                                            \
    {                                                                                                       \
        const T mod = tx_mod_##SUFFIX(a, b, rare), left = (a - mod) / b;                                    \
        const T quotient = left - ((((mod < 0) & (b > 0)) | ((mod > 0) & (b < 0))) ? (T)1 : (T)0);          \
        const T floored = TX_FLOORED(T, quotient, SHIFT);                                                   \
        const T rounded = floored + (quotient - floored > (T)0.5 ? (T)1 : (T)0);                            \
        const T zero = tx_signed_##SUFFIX(0, a / b);                                                        \
        return quotient == 0 ? zero : rounded;                                                              \
    }                                                                                                       \
    static T tx_rare_remainder_##SUFFIX(T a, T b)                                                           \
    {                                                                                                       \
        const T mod = FMOD(a, b);                                                                           \
        if (b == 0 || mod != mod) return mod;                                                               \
        return mod == 0 ? tx_signed_##SUFFIX(0, b) : (mod < 0) != (b < 0) ? mod + b : mod;                  \
    }                                                                                                       \
    static T tx_rare_quotient_##SUFFIX(T a, T b)                                                            \
    {                                                                                                       \
        T mod, quotient, floored;                                                                           \
        if (b == 0 || isinf(a) || isinf(b)) return a / b; /* the standard's answer for infinite operands */ \
        mod = FMOD(a, b);                                                                                   \
        quotient = (a - mod) / b;                                                                           \
        if (mod != 0 && (mod < 0) != (b < 0)) quotient -= 1;                                                \
        if (quotient == 0) return tx_signed_##SUFFIX(0, a / b);                                             \
        floored = FLOOR(quotient);                                                                          \
        return quotient - floored > (T)0.5 ? floored + 1 : floored;                                         \
    }                                                                                                       \
    TX_IN_BLOCKS(remainder_##SUFFIX, T, tx_remainder_of_##SUFFIX, tx_rare_remainder_##SUFFIX)               \
    TX_IN_BLOCKS(floor_divide_##SUFFIX, T, tx_quotient_of_##SUFFIX, tx_rare_quotient_##SUFFIX)
TX_DIVISION(f32, float, 0x1.8p23f, fmodf, floorf)
TX_DIVISION(f64, double, 0x1.8p52, fmod, floor)

/* Integers of less than 51 bits are whole numbers of float64. The quotient, rounded to a whole number, times the divisor
   is exact then, and so is what is left: that has another sign than the divisor if the quotient is one too large. By
   one divisor for all NumPy multiplies, which is faster. */

static inline double tx_f64_of_i64(int64_t x) { return tx_f64_of_bits((uint64_t)x + 0x4338000000000000) - 0x1.8p52; }
static inline int64_t tx_i64_of_f64(double x) { return (int64_t)(tx_bits_of_f64(x + 0x1.8p52) - 0x4338000000000000); }

static inline double tx_divided(int64_t a, int64_t b, double *left, int *rare)
{
    const double x = tx_f64_of_i64(a), y = tx_f64_of_i64(b), quotient = (x / y + 0x1.8p52) - 0x1.8p52;
    const double rest = x - quotient * y;
    const int is_more = ((rest < 0) & (y > 0)) | ((rest > 0) & (y < 0));
    const uint64_t wide = ((uint64_t)a + ((uint64_t)1 << 50)) | ((uint64_t)b + ((uint64_t)1 << 50));
    *rare |= (wide >> 51 != 0) | (b == 0);
    *left = rest + (is_more ? y : 0);
    return quotient - (is_more ? 1 : 0);
}

#define TX_WHOLE_DIVISION(SUFFIX, T)                                                                        \
    static inline T tx_remainder_of_##SUFFIX(T a, T b, int *rare)                                           \
    {                                                                                                       \
        double left;                                                                                        \
        tx_divided(a, b, &left, rare);                                                                      \
        return (T)tx_i64_of_f64(left);                                                                      \
    }                                                                                                       \
    static inline T tx_quotient_of_##SUFFIX(T a, T b, int *rare)                                            \
    {                                                                                                       \
        double left;                                                                                        \
        return (T)tx_i64_of_f64(tx_divided(a, b, &left, rare));                                             \
    }                                                                                                       \
    static T tx_rare_remainder_##SUFFIX(T a, T b)                                                           \
    {                                                                                                       \
        const T left = b == 0 || b == -1 ? 0 : a % b;                                                       \
        return left != 0 && (left < 0) != (b < 0) ? left + b : left;                                        \
    }                                                                                                       \
    static T tx_rare_quotient_##SUFFIX(T a, T b)                                                            \
    {                                                                                                       \
        if (b == 0 || b == -1) return b == 0 ? 0 : (T)(0 - (uint64_t)a);                                    \
        return a / b - (a % b != 0 && (a < 0) != (b < 0));                                                  \
    }                                                                                                       \
    TX_IN_BLOCKS(remainder_##SUFFIX, T, tx_remainder_of_##SUFFIX, tx_rare_remainder_##SUFFIX)               \
    TX_IN_BLOCKS(quotients_##SUFFIX, T, tx_quotient_of_##SUFFIX, tx_rare_quotient_##SUFFIX)                 \
    static void tx_floor_divide_##SUFFIX(                                                                   \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                          \
    {                                                                                                       \
        const tx_original_t *numpy = (const tx_original_t *)original;                                       \
        if (steps[1] == 0) numpy->function(data, count, steps, numpy->data);                                \
        else tx_quotients_##SUFFIX(data, count, steps, NULL);                                               \
    }
TX_WHOLE_DIVISION(i32, int32_t)
TX_WHOLE_DIVISION(i64, int64_t)

#include "tensix/loops/vector_math.h"

/* ---- the table: the loops of a function by the codes of element types, of tensix/tensors/dtype.pxd */

#define TX_TYPES 47
#define TX_ROW_OF_FLOATS(NAME) {#NAME, {[6] = tx_##NAME##_f32, [7] = tx_##NAME##_f64}}
#define TX_ROW_OF_DIVISION(NAME)                                                                            \
    {#NAME, {[3] = tx_##NAME##_i32, [4] = tx_##NAME##_i64, [6] = tx_##NAME##_f32, [7] = tx_##NAME##_f64}}
#define TX_ROW_OF_REALS(NAME)                                                                               \
    {#NAME, {[0] = tx_##NAME##_u8, [1] = tx_##NAME##_i8, [2] = tx_##NAME##_i16, [3] = tx_##NAME##_i32,      \
             [4] = tx_##NAME##_i64, [6] = tx_##NAME##_f32, [7] = tx_##NAME##_f64, [27] = tx_##NAME##_u16,   \
             [28] = tx_##NAME##_u32, [29] = tx_##NAME##_u64}}

#define TX_ROW_OF_MATH(NAME) {#NAME, {[6] = tx_##NAME##_f32, [7] = tx_##NAME##_f64}, 1}

static const struct { const char *name; tx_loop_t loops[TX_TYPES]; int is_math; } tx_elementwise_table[] = {
    TX_ROW_OF_REALS(clip), TX_ROW_OF_REALS(maximum), TX_ROW_OF_REALS(minimum), TX_ROW_OF_FLOATS(copysign),
    TX_ROW_OF_DIVISION(floor_divide),
    TX_ROW_OF_FLOATS(logical_and), TX_ROW_OF_FLOATS(logical_not), TX_ROW_OF_FLOATS(logical_or),
    TX_ROW_OF_FLOATS(logical_xor), TX_ROW_OF_FLOATS(nextafter), TX_ROW_OF_FLOATS(reciprocal),
    TX_ROW_OF_DIVISION(remainder), TX_ROW_OF_FLOATS(sign),
#ifdef TX_VECTOR_MATH
    TX_ROW_OF_MATH(acos), TX_ROW_OF_MATH(acosh), TX_ROW_OF_MATH(asin), TX_ROW_OF_MATH(asinh), TX_ROW_OF_MATH(atan),
    TX_ROW_OF_MATH(atan2), TX_ROW_OF_MATH(atanh), TX_ROW_OF_MATH(cos), TX_ROW_OF_MATH(cosh), TX_ROW_OF_MATH(exp),
    TX_ROW_OF_MATH(expm1), TX_ROW_OF_MATH(hypot), TX_ROW_OF_MATH(log), TX_ROW_OF_MATH(log10), TX_ROW_OF_MATH(log1p),
    TX_ROW_OF_MATH(log2), TX_ROW_OF_MATH(logaddexp), TX_ROW_OF_MATH(pow), TX_ROW_OF_MATH(sin), TX_ROW_OF_MATH(sinh),
    TX_ROW_OF_MATH(tan), TX_ROW_OF_MATH(tanh),
#endif
};

/* Return the loops of a function, by codes, with NULL where there is none; NULL if there are none at all. If `is_math` is
   set, those of float32 serve float16 too. */
static inline const tx_loop_t *tx_elementwise_loops(const char *name, int *is_math)
{
    for (size_t i = 0; i < sizeof(tx_elementwise_table) / sizeof(tx_elementwise_table[0]); i++) {
        if (strcmp(tx_elementwise_table[i].name, name) == 0) {
            *is_math = tx_elementwise_table[i].is_math;
            return tx_elementwise_table[i].loops;
        }
    }
    return NULL;
}

#endif
