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

/* The same for float32, by polynomials in float64, because both vector functions together take longer than PyTorch's of
   float32, which are off by more than a unit. Terms of the highest power first, from Chebyshev fits in 50 digits: 2**f for
   f in [-0.5, 0.5], off by 4.3e-11 at most, and log1p(e)/e for e in [0, 1], by 1.4e-10. */
static const double tx_exp2_terms[] = {
    1.5303700711365693e-05, 0.00015469729214118296, 0.0013333478473685416, 0.009618025613318034,
    0.055504109063258665, 0.24022651213498092, 0.6931471805568324, 0.9999999999595618};
static const double tx_log1p_terms[] = {
    -0.0012525852620659762, 0.008925603861739712, -0.029800145490202278, 0.06350289738777211, -0.1008180479257159,
    0.13403457249133155, -0.1644481781513311, 0.19963546159118528, -0.24996389178843487, 0.33333145512337686,
    -0.4999999612139627, 0.9999999998657495};

#pragma GCC push_options
#pragma GCC optimize("fp-contract=fast") /* a product and a sum in one instruction: half the time of the polynomials */
#define TX_POLYNOMIAL(RESULT, TERMS, X)                                                                     \
    double RESULT = 0;                                                                                      \
    _Pragma("GCC unroll 32") for (size_t k = 0; k < sizeof(TERMS) / sizeof(double); k++) RESULT = RESULT * (X) + TERMS[k];

static inline float tx_log_of_sum_f32(double x, double y)
{
    const double t = x == y ? 0 : fabs(x - y), near = t > 200 ? 200 : t; /* exp(-200) rounds to 0; a NaN stays one */
    const double shifted = near * -1.4426950408889634 + 0x1.8p52, whole = shifted - 0x1.8p52; /* in units of log(2) */
    uint64_t bits;
    double power;
    memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits << 52) + 0x3ff0000000000000; /* the exponent's field of 2**whole */
    memcpy(&power, &bits, sizeof(bits));
    TX_POLYNOMIAL(fraction, tx_exp2_terms, near * -1.4426950408889634 - whole)
    TX_POLYNOMIAL(slope, tx_log1p_terms, power * fraction)
    return (float)((x > y ? x : y) + power * fraction * slope);
}
TX_VECTOR_BINARY(vector_logaddexp_f32, float, tx_log_of_sum_f32(x, y))
#pragma GCC pop_options
TX_VECTOR_BINARY(vector_logaddexp_f64, double, tx_log_of_sum(x, y))
TX_CHOICE(logaddexp_f32, TX_NEVER, vector_logaddexp_f32, vector_logaddexp_f32)
TX_CHOICE(logaddexp_f64, TX_NEVER, vector_logaddexp_f64, vector_logaddexp_f64)

#endif
#endif
