/* Inner loops of mathematical functions by the vector functions of the C library, libmvec.
 *
 * Note [Vector mathematics]
 * ~~~~~~~~~~~~~~~~~~~~~~~~~
 * Without AVX-512 most of NumPy's loops of such functions call the C library once an element. The GNU C library has them
 * for vectors too, on x86-64 since 2.35; a compiler calls those if a function is declared with the attribute `simd`. They
 * are declared under names of their own, because the compiler knows the ordinary names and what it may do with them.
 *
 * Which loop serves is decided for each call by `tensix.set_math`:
 *
 * - by default NumPy's, where it uses vectors itself on this processor, and else the vector functions of float64, for
 *   float32 too: their results are rounded to half a unit in the last place. `pow` of float32 needs no such detour;
 * - "exact": NumPy's;
 * - "fast": the vector functions of the element type.
 *
 * A vector function may round otherwise than the function of one element. So all elements are computed in vectors, the
 * last ones too, in a copy that is filled up: a result depends on its operands alone, and not on their place.
 */
#ifndef TENSIX_VECTOR_MATH_H
#define TENSIX_VECTOR_MATH_H

enum { TX_MATH_DEFAULT, TX_MATH_EXACT, TX_MATH_FAST };
static volatile int tx_math = TX_MATH_DEFAULT;

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define TX_VECTOR_MATH
#endif
#endif

#ifdef TX_VECTOR_MATH

#define TX_VECTOR 16 /* elements, computed together: a constant, so that nothing is left over for the loop's end */

/* Not unrolled, because the compiler makes no vectors of single calls. */
#define TX_EACH_OF_VECTOR _Pragma("GCC unroll 1") _Pragma("GCC ivdep") for (int i = 0; i < TX_VECTOR; i++)

#define TX_DECLARE(NAME, SYMBOL, T, ...) \
    extern T NAME(__VA_ARGS__) __asm__(SYMBOL) __attribute__((simd("notinbranch"), const));

#define TX_VECTOR_UNARY(NAME, T, EXPRESSION)                                                                \
    TX_TARGET_CLONES static void tx_##NAME(                                                                 \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                           \
    {                                                                                                       \
        T padded[TX_VECTOR], results[TX_VECTOR];                                                            \
        (void)original;                                                                                      \
        if (!TX_SIDE_BY_SIDE(T, 0) || !TX_SIDE_BY_SIDE(T, 1)) {                                             \
            TX_RUN_IN_BLOCKS(NAME, sizeof(T), sizeof(T));                                                   \
            return;                                                                                         \
        }                                                                                                   \
        for (intptr_t start = 0; start < *count; start += TX_VECTOR) {                                      \
            const intptr_t rest = *count - start;                                                           \
            const T *given = (const T *)data[0] + start;                                                    \
            T *made = (T *)data[1] + start;                                                                 \
            if (rest < TX_VECTOR) {                                                                         \
                for (int i = 0; i < TX_VECTOR; i++) padded[i] = given[i < rest ? i : 0];                    \
                given = padded, made = results;                                                             \
            }                                                                                               \
            TX_EACH_OF_VECTOR { const T x = given[i]; made[i] = EXPRESSION; }                               \
            if (rest < TX_VECTOR) memcpy((T *)data[1] + start, results, rest * sizeof(T));                  \
        }                                                                                                   \
    }

#define TX_VECTOR_BINARY(NAME, T, EXPRESSION)                                                               \
    TX_TARGET_CLONES static void tx_##NAME(                                                                 \
        char **data, const intptr_t *count, const intptr_t *steps, void *original)                           \
    {                                                                                                       \
        T padded[2][TX_VECTOR], results[TX_VECTOR];                                                         \
        (void)original;                                                                                      \
        if (!TX_SIDE_BY_SIDE(T, 0) || !TX_SIDE_BY_SIDE(T, 1) || !TX_SIDE_BY_SIDE(T, 2)) {                   \
            TX_RUN_IN_BLOCKS(NAME, sizeof(T), sizeof(T), sizeof(T));                                        \
            return;                                                                                         \
        }                                                                                                   \
        for (intptr_t start = 0; start < *count; start += TX_VECTOR) {                                      \
            const intptr_t rest = *count - start;                                                           \
            const T *left = (const T *)data[0] + start, *right = (const T *)data[1] + start;                \
            T *made = (T *)data[2] + start;                                                                 \
            if (rest < TX_VECTOR) {                                                                         \
                for (int i = 0; i < TX_VECTOR; i++)                                                         \
                    padded[0][i] = left[i < rest ? i : 0], padded[1][i] = right[i < rest ? i : 0];          \
                left = padded[0], right = padded[1], made = results;                                        \
            }                                                                                               \
            TX_EACH_OF_VECTOR {                                                                             \
                const T x = left[i], y = right[i];                                                          \
                made[i] = EXPRESSION;                                                                       \
            }                                                                                               \
            if (rest < TX_VECTOR) memcpy((T *)data[2] + start, results, rest * sizeof(T));                  \
        }                                                                                                   \
    }

/* The loop of an element type: NumPy's uses vectors on processors of this level and above. */
#define TX_CHOICE(NAME, LEVEL, FAST, DEFAULT)                                                               \
    static void tx_##NAME(char **data, const intptr_t *count, const intptr_t *steps, void *original)         \
    {                                                                                                       \
        const tx_original_t *numpy = (const tx_original_t *)original;                                       \
        const int math = tx_math;                                                                           \
        if (math == TX_MATH_EXACT || (math == TX_MATH_DEFAULT && numpy->level >= LEVEL))                    \
            numpy->function(data, count, steps, numpy->data);                                               \
        else if (math == TX_MATH_FAST)                                                                      \
            tx_##FAST(data, count, steps, NULL);                                                            \
        else                                                                                                \
            tx_##DEFAULT(data, count, steps, NULL);                                                         \
    }

#define TX_MATH_UNARY(NAME, LEVEL_F32, LEVEL_F64)                                                           \
    TX_DECLARE(tx_c_##NAME##f, #NAME "f", float, float)                                                     \
    TX_DECLARE(tx_c_##NAME, #NAME, double, double)                                                          \
    TX_VECTOR_UNARY(fast_##NAME##_f32, float, tx_c_##NAME##f(x))                                            \
    TX_VECTOR_UNARY(wide_##NAME##_f32, float, (float)tx_c_##NAME((double)x))                                \
    TX_VECTOR_UNARY(vector_##NAME##_f64, double, tx_c_##NAME(x))                                            \
    TX_CHOICE(NAME##_f32, LEVEL_F32, fast_##NAME##_f32, wide_##NAME##_f32)                                  \
    TX_CHOICE(NAME##_f64, LEVEL_F64, vector_##NAME##_f64, vector_##NAME##_f64)

#define TX_MATH_BINARY(NAME, LEVEL, DEFAULT_F32)                                                            \
    TX_DECLARE(tx_c_##NAME##f, #NAME "f", float, float, float)                                              \
    TX_DECLARE(tx_c_##NAME, #NAME, double, double, double)                                                  \
    TX_VECTOR_BINARY(fast_##NAME##_f32, float, tx_c_##NAME##f(x, y))                                        \
    TX_VECTOR_BINARY(wide_##NAME##_f32, float, (float)tx_c_##NAME((double)x, (double)y))                    \
    TX_VECTOR_BINARY(vector_##NAME##_f64, double, tx_c_##NAME(x, y))                                        \
    TX_CHOICE(NAME##_f32, LEVEL, fast_##NAME##_f32, DEFAULT_F32##_##NAME##_f32)                             \
    TX_CHOICE(NAME##_f64, LEVEL, vector_##NAME##_f64, vector_##NAME##_f64)

/* NumPy 2's own vectors: https://github.com/numpy/numpy, numpy/_core/src/umath/loops_*.dispatch.c.src */
#define TX_AVX2 2
#define TX_AVX512 3
#define TX_NEVER 4
TX_MATH_UNARY(acos, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(acosh, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(asin, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(asinh, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(atan, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(atanh, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(cos, TX_AVX2, TX_NEVER)
TX_MATH_UNARY(cosh, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(exp, TX_AVX2, TX_AVX512)
TX_MATH_UNARY(expm1, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(log, TX_AVX2, TX_AVX512)
TX_MATH_UNARY(log10, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(log1p, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(log2, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(sin, TX_AVX2, TX_NEVER)
TX_MATH_UNARY(sinh, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(tan, TX_AVX512, TX_AVX512)
TX_MATH_UNARY(tanh, TX_AVX2, TX_AVX2)
TX_MATH_BINARY(atan2, TX_AVX512, wide)
TX_MATH_BINARY(hypot, TX_NEVER, wide)
TX_MATH_BINARY(pow, TX_AVX512, fast)

/* The larger operand plus log1p(exp(-t)), with t the distance of the two; the distance of equal infinities is NaN. */
static inline double tx_log_of_sum(double x, double y)
{
    const double t = x == y ? 0 : fabs(x - y);
    return (x > y ? x : y) + tx_c_log1p(tx_c_exp(-t));
}
TX_VECTOR_BINARY(vector_logaddexp_f32, float, (float)tx_log_of_sum((double)x, (double)y))
TX_VECTOR_BINARY(vector_logaddexp_f64, double, tx_log_of_sum(x, y))
TX_CHOICE(logaddexp_f32, TX_NEVER, vector_logaddexp_f32, vector_logaddexp_f32)
TX_CHOICE(logaddexp_f64, TX_NEVER, vector_logaddexp_f64, vector_logaddexp_f64)

#endif
#endif
