/* Reductions of elements that lie side by side, one loop per operation and element type, vectorised by the compiler.
 *
 * `run` combines a result with n elements; `rows` combines n results with a row of n elements each, row after row.
 * `center` is what the sum of squares takes distances from, one for a run and n for rows; the others ignore it.
 *
 * Note [Lanes]
 * ~~~~~~~~~~~~
 * Floating numbers give other digits in another order, so compilers keep the order that is written. What is written
 * here is 256 bytes of partial results: of float32, element i is added to the partial sum i % 64, whatever the width of
 * the processor's vectors, and the partial sums are then added two by two. In a block of 16 elements per partial sum a
 * number takes part in at most 16 + 6 additions; blocks are added by pairs. NumPy's sum by pairs has blocks of 128 and
 * 8 partial sums, which is as many additions. Bits are the same on every instruction set.
 *
 * A product may leave the range of numbers in one order and not in another. One that did is taken again from first to
 * last, which ends as soon as nothing changes any more. One of 0 is so in that order, too, if early factors make it so:
 * none is larger than 1, and so many are at most a half that they have shifted out all bits. The factors behind them
 * are numbers then: infinity, and what is none, would not have left 0.
 *
 * Types have the codes of tensix/tensors/dtype.pxd.
 */
#ifndef TENSIX_REDUCE_H
#define TENSIX_REDUCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "tensix/loops/target_clones.h"

typedef void (*tx_run_t)(const void *x, intptr_t n, void *result, const void *center);
typedef void (*tx_rows_t)(void *result, const void *x, intptr_t n, intptr_t rows, intptr_t row_step,
                          const void *center);
typedef void (*tx_scan_t)(const void *x, void *results, intptr_t lines, intptr_t x_step, intptr_t to_step, intptr_t n,
                          intptr_t width, intptr_t pitch);
typedef struct { tx_run_t run; tx_rows_t rows; } tx_reduction_t;

enum { TX_SUM, TX_PROD, TX_MAX, TX_MIN, TX_ANY, TX_ALL, TX_COUNT, TX_SQUARES, TX_REDUCTIONS };

#if defined(_MSC_VER)
#define TX_RESTRICT __restrict
#else
#define TX_RESTRICT __restrict__
#endif

#define TX_RUN(NAME) TX_TARGET_CLONES static void NAME##_run(                                                       \
    const void *elements, intptr_t n, void *result, const void *center)
#define TX_ADD(a, b) ((a) + (b))
#define TX_MULTIPLY(a, b) ((a) * (b))
#define TX_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define TX_SMALLER(a, b) ((a) < (b) ? (a) : (b))
/* The first of two equal numbers stays, and what is not a number takes the place of one. */
#define TX_LARGER_OR_NAN(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))
#define TX_SMALLER_OR_NAN(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))
#define TX_OR(a, b) ((a) | (b))
#define TX_AND(a, b) ((a) & (b))
#define TX_ROWS_OF_LANES 8
/* What is taken of element i. */
#define TX_ITSELF(x, i) ((x)[i])
#define TX_IS_TRUE(x, i) ((x)[i] != 0)
#define TX_HALF_IS_TRUE(x, i) (((x)[i] & 0x7FFF) != 0)
#define TX_PAIR_IS_TRUE(x, i) (((x)[2 * (i)] != 0) | ((x)[2 * (i) + 1] != 0))

/* Four rows at a time: each result is read and written a quarter as often. PER results are those of one element. */
#define TX_ROWS(NAME, T, W, TAKE, OP, PER)                                                                          \
    TX_NARROW_CLONES static void NAME##_rows(                                                                       \
        void *result, const void *elements, intptr_t n, intptr_t rows, intptr_t row_step, const void *center)       \
    {                                                                                                               \
        W *TX_RESTRICT to = (W *)result;                                                                            \
        const char *row = (const char *)elements;                                                                   \
        intptr_t i;                                                                                                 \
        for (; rows >= 4; rows -= 4, row += 4 * row_step) {                                                         \
            const T *a = (const T *)row, *b = (const T *)(row + row_step);                                          \
            const T *c = (const T *)(row + 2 * row_step), *d = (const T *)(row + 3 * row_step);                     \
            for (i = 0; i < PER * n; i++) {                                                                         \
                const W ab = OP((W)TAKE(a, i), (W)TAKE(b, i));                                                      \
                const W cd = OP((W)TAKE(c, i), (W)TAKE(d, i));                                                      \
                const W all = OP(ab, cd);                                                                           \
                to[i] = OP(to[i], all);                                                                             \
            }                                                                                                       \
        }                                                                                                           \
        for (; rows > 0; rows--, row += row_step) {                                                                 \
            const T *a = (const T *)row;                                                                            \
            for (i = 0; i < PER * n; i++) {                                                                         \
                const W x = (W)TAKE(a, i);                                                                          \
                to[i] = OP(to[i], x);                                                                               \
            }                                                                                                       \
        }                                                                                                           \
        (void)center;                                                                                               \
    }

/* Integers: any order gives the same bits, so the compiler chooses one. */
#define TX_FREE(NAME, T, W, TAKE, OP)                                                                               \
    TX_RUN(NAME)                                                                                                    \
    {                                                                                                               \
        const T *x = (const T *)elements;                                                                           \
        W all = *(W *)result;                                                                                       \
        intptr_t i;                                                                                                 \
        for (i = 0; i < n; i++) {                                                                                   \
            const W one = (W)TAKE(x, i);                                                                            \
            all = OP(all, one);                                                                                     \
        }                                                                                                           \
        *(W *)result = all;                                                                                         \
        (void)center;                                                                                               \
    }                                                                                                               \
    TX_ROWS(NAME, T, W, TAKE, OP, 1)

/* See Note [Lanes]. Two results are KEPT, as PER, of complex numbers whose parts are reduced side by side. */
#define TX_FOLD(W, OP, WIDTH)                                                                                       \
    if (WIDTH >= PER && WIDTH < 256 / sizeof(W)) for (i = 0; i < WIDTH; i++) {                                      \
        lanes[i] = OP(lanes[i], lanes[i + WIDTH]);                                                                  \
    }
#define TX_FOLD_ALL(W, OP)                                                                                          \
    TX_FOLD(W, OP, 32) TX_FOLD(W, OP, 16) TX_FOLD(W, OP, 8) TX_FOLD(W, OP, 4) TX_FOLD(W, OP, 2) TX_FOLD(W, OP, 1)
#define TX_LANES(NAME, W, IDENTITY, OP, TAKE, COMPONENTS, KEPT, START, CHECK)                                       \
    TX_RUN(NAME)                                                                                                    \
    {                                                                                                               \
        enum { LANES = 256 / sizeof(W), PER = KEPT };                                                               \
        const W *x = (const W *)elements;                                                                           \
        const W *const begin = x, *const end = x + COMPONENTS * n;                                                  \
        W *all = (W *)result;                                                                                       \
        W lanes[LANES], part[LANES];                                                                                \
        intptr_t i;                                                                                                 \
        START                                                                                                       \
        for (i = 0; i < LANES; i++) lanes[i] = IDENTITY;                                                            \
        while (x < end) {                                                                                           \
            const W *const stop = end - x > TX_ROWS_OF_LANES * LANES ? x + TX_ROWS_OF_LANES * LANES : end;          \
            for (i = 0; i < LANES; i++) part[i] = IDENTITY;                                                         \
            for (; stop - x >= LANES; x += LANES) {                                                                 \
                for (i = 0; i < LANES; i++) part[i] = OP(part[i], TAKE(x, i));                                      \
            }                                                                                                       \
            for (i = 0; i < stop - x; i++) part[i] = OP(part[i], TAKE(x, i));                                       \
            for (i = 0; i < LANES; i++) lanes[i] = OP(lanes[i], part[i]);                                           \
            x = stop;                                                                                               \
        }                                                                                                           \
        TX_FOLD_ALL(W, OP)                                                                                          \
        CHECK                                                                                                       \
        for (i = 0; i < PER; i++) all[i] = OP(all[i], lanes[i]);                                                    \
        (void)center; (void)begin;                                                                                  \
    }

#define TX_OUT_OF_RANGE(a) ((a) == 0 || !isfinite(a))
#define TX_VANISHES(NAME, W, SHIFTS)                                                                                \
    static inline int NAME(const W *x, const W *end)                                                                \
    {                                                                                                               \
        int shifts = 0, growths = 0, i;                                                                             \
        for (; shifts < SHIFTS && growths == 0 && end - x >= 64; x += 64) {                                         \
            for (i = 0; i < 64; i++) {                                                                              \
                const W square = x[i] * x[i];                                                                       \
                shifts += square <= (W)0.25;                                                                        \
                growths |= !(square <= 1);                                                                          \
            }                                                                                                       \
        }                                                                                                           \
        return shifts >= SHIFTS && growths == 0;                                                                    \
    }
TX_VANISHES(tx_vanishes_f32, float, 150)
TX_VANISHES(tx_vanishes_f64, double, 1075)

#define TX_IN_ORDER(TYPE, W)                                                                                        \
    if (TX_OUT_OF_RANGE(lanes[0]) && !(lanes[0] == 0 && tx_vanishes_##TYPE(begin, end))) {                          \
        const W other = lanes[0];                                                                                   \
        W product = 1;                                                                                              \
        for (x = begin; x < end && !(product == other && TX_OUT_OF_RANGE(product)) && product == product; x++) {    \
            product *= *x;                                                                                          \
        }                                                                                                           \
        if (product != other) lanes[0] = product; /* else unchanged, with the sign that all factors give */             \
    }

/* The largest or smallest number; what is none is kept apart, so that a step is one instruction for each. */
#define TX_EXTREME(NAME, W, IDENTITY, OP, OP_OR_NAN)                                                                \
    TX_RUN(NAME)                                                                                                    \
    {                                                                                                               \
        enum { LANES = 256 / sizeof(W), PER = 1 };                                                                  \
        const W *x = (const W *)elements;                                                                           \
        const W *const end = x + n;                                                                                 \
        W lanes[LANES], nans[LANES];                                                                                \
        intptr_t i;                                                                                                 \
        for (i = 0; i < LANES; i++) lanes[i] = IDENTITY;                                                            \
        for (i = 0; i < LANES; i++) nans[i] = 0;                                                                    \
        for (; end - x >= LANES; x += LANES) {                                                                      \
            for (i = 0; i < LANES; i++) lanes[i] = OP(x[i], lanes[i]);                                              \
            for (i = 0; i < LANES; i++) nans[i] = x[i] != x[i] ? x[i] : nans[i];                                    \
        }                                                                                                           \
        for (i = 0; i < LANES; i++) lanes[i] = nans[i] != nans[i] ? nans[i] : lanes[i];                             \
        for (i = 0; i < end - x; i++) lanes[i] = OP_OR_NAN(lanes[i], x[i]);                                         \
        TX_FOLD_ALL(W, OP_OR_NAN)                                                                                   \
        *(W *)result = OP_OR_NAN(*(W *)result, lanes[0]);                                                           \
        (void)center;                                                                                               \
    }                                                                                                               \
    TX_ROWS(NAME, W, W, TX_ITSELF, OP_OR_NAN, 1)

/* The sum of squared distances; of complex numbers, those of both parts. */
#define TX_SQUARE(x, i) (((x)[i] - centers[i]) * ((x)[i] - centers[i]))
#define TX_CENTERS(W, COMPONENTS)                                                                                   \
    W centers[LANES];                                                                                               \
    for (i = 0; i < LANES; i++) centers[i] = ((const W *)center)[i % COMPONENTS];
#define TX_SQUARED(NAME, W, COMPONENTS)                                                                             \
    TX_LANES(NAME, W, 0, TX_ADD, TX_SQUARE, COMPONENTS, 1, TX_CENTERS(W, COMPONENTS), )                             \
    TX_NARROW_CLONES static void NAME##_rows(                                                                       \
        void *result, const void *elements, intptr_t n, intptr_t rows, intptr_t row_step, const void *center)       \
    {                                                                                                               \
        W *TX_RESTRICT to = (W *)result;                                                                            \
        const W *centers = (const W *)center;                                                                       \
        const char *row = (const char *)elements;                                                                   \
        intptr_t i;                                                                                                 \
        for (; rows > 0; rows--, row += row_step) {                                                                 \
            const W *x = (const W *)row;                                                                            \
            for (i = 0; i < n; i++) {                                                                               \
                W distance = x[COMPONENTS * i] - centers[COMPONENTS * i], square = distance * distance;             \
                if (COMPONENTS == 2) {                                                                              \
                    distance = x[2 * i + 1] - centers[2 * i + 1];                                                   \
                    square += distance * distance;                                                                  \
                }                                                                                                   \
                to[i] += square;                                                                                    \
            }                                                                                                       \
        }                                                                                                           \
    }

/* How many elements are not 0: first in numbers as wide as the elements, as many as those can count. */
#define TX_TRUTHS(TYPE, T, NARROW, TRUTH, PARTS)                                                                    \
    TX_RUN(tx_count_##TYPE)                                                                                         \
    {                                                                                                               \
        const T *x = (const T *)elements;                                                                           \
        intptr_t i, stop;                                                                                           \
        while (n > 0) {                                                                                             \
            NARROW found = 0;                                                                                       \
            stop = n < 255 ? n : 255;                                                                               \
            for (i = 0; i < stop; i++) found += (NARROW)TRUTH(x, i);                                                \
            *(int64_t *)result += (int64_t)found;                                                                   \
            x += PARTS * stop;                                                                                      \
            n -= stop;                                                                                              \
        }                                                                                                           \
        (void)center;                                                                                               \
    }                                                                                                               \
    TX_ROWS(tx_count_##TYPE, T, int64_t, TRUTH, TX_ADD, 1)                                                          \
    TX_ROWS(tx_any_##TYPE, T, uint8_t, TRUTH, TX_OR, 1)                                                             \
    TX_ROWS(tx_all_##TYPE, T, uint8_t, TRUTH, TX_AND, 1)

#define TX_WIDE_TRUTHS(TYPE, T, NARROW, TRUTH, PART_TRUTH, PARTS)                                                   \
    TX_TRUTHS(TYPE, T, NARROW, TRUTH, PARTS)                                                                        \
    TX_RUN(tx_any_##TYPE)                                                                                           \
    {                                                                                                               \
        const T *x = (const T *)elements;                                                                           \
        NARROW found = 0;                                                                                           \
        intptr_t i;                                                                                                 \
        for (i = 0; i < PARTS * n; i++) found |= (NARROW)PART_TRUTH(x, i);                                          \
        *(uint8_t *)result |= found != 0;                                                                           \
        (void)center;                                                                                               \
    }                                                                                                               \
    TX_RUN(tx_all_##TYPE)                                                                                           \
    {                                                                                                               \
        const T *x = (const T *)elements;                                                                           \
        NARROW missing = 0;                                                                                         \
        intptr_t i;                                                                                                 \
        for (i = 0; i < n; i++) missing |= (NARROW)!TRUTH(x, i);                                                    \
        *(uint8_t *)result &= missing == 0;                                                                         \
        (void)center;                                                                                               \
    }

/* Running results, from first to last as NumPy has them: of `lines` that begin `x_step` elements apart, and whose
   results begin `to_step` apart, n rows of `width` elements that lie `pitch` apart. Four lines of single elements are
   taken at a time, as each addition waits for the one before it. */
#define TX_SCAN(NAME, T, W, TAKE, OP)                                                                               \
    TX_NARROW_CLONES static void NAME(                                                                              \
        const void *elements, void *results, intptr_t lines, intptr_t x_step, intptr_t to_step, intptr_t n,         \
        intptr_t width, intptr_t pitch)                                                                             \
    {                                                                                                               \
        const T *x = (const T *)elements;                                                                           \
        W *to = (W *)results;                                                                                       \
        intptr_t i, j;                                                                                              \
        if (n == 0) return;                                                                                         \
        for (; pitch == 1 && lines >= 4; lines -= 4, x += 4 * x_step, to += 4 * to_step) {                          \
            W a = (W)TAKE(x, 0), b = (W)TAKE(x, x_step), c = (W)TAKE(x, 2 * x_step), d = (W)TAKE(x, 3 * x_step);    \
            to[0] = a, to[to_step] = b, to[2 * to_step] = c, to[3 * to_step] = d;                                   \
            for (i = 1; i < n; i++) {                                                                               \
                const W e = (W)TAKE(x, i), f = (W)TAKE(x, i + x_step);                                              \
                const W g = (W)TAKE(x, i + 2 * x_step), h = (W)TAKE(x, i + 3 * x_step);                             \
                to[i] = a = OP(a, e);                                                                               \
                to[i + to_step] = b = OP(b, f);                                                                     \
                to[i + 2 * to_step] = c = OP(c, g);                                                                 \
                to[i + 3 * to_step] = d = OP(d, h);                                                                 \
            }                                                                                                       \
        }                                                                                                           \
        for (; lines > 0; lines--, x += x_step, to += to_step) {                                                    \
            if (pitch == 1) {                                                                                       \
                W all = (W)TAKE(x, 0);                                                                              \
                to[0] = all;                                                                                        \
                for (i = 1; i < n; i++) {                                                                           \
                    const W one = (W)TAKE(x, i);                                                                    \
                    to[i] = all = OP(all, one);                                                                     \
                }                                                                                                   \
                continue;                                                                                           \
            }                                                                                                       \
            for (j = 0; j < width; j++) to[j] = (W)TAKE(x, j);                                                      \
            for (i = 1; i < n; i++) {                                                                               \
                const T *const row = x + i * pitch;                                                                 \
                const W *const before = to + (i - 1) * pitch;                                                       \
                W *TX_RESTRICT after = to + i * pitch;                                                              \
                for (j = 0; j < width; j++) {                                                                       \
                    const W one = (W)TAKE(row, j);                                                                  \
                    after[j] = OP(before[j], one);                                                                  \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }

#define TX_INTEGER(TYPE, T, W)                                                                                      \
    TX_FREE(tx_sum_##TYPE, T, W, TX_ITSELF, TX_ADD)                                                                 \
    TX_FREE(tx_prod_##TYPE, T, W, TX_ITSELF, TX_MULTIPLY)                                                           \
    TX_SCAN(tx_scan_sum_##TYPE, T, W, TX_ITSELF, TX_ADD)                                                            \
    TX_SCAN(tx_scan_prod_##TYPE, T, W, TX_ITSELF, TX_MULTIPLY)                                                      \
    TX_FREE(tx_max_##TYPE, T, T, TX_ITSELF, TX_LARGER)                                                              \
    TX_FREE(tx_min_##TYPE, T, T, TX_ITSELF, TX_SMALLER)
#define TX_FLOATING(TYPE, T)                                                                                        \
    TX_LANES(tx_sum_##TYPE, T, 0, TX_ADD, TX_ITSELF, 1, 1, , )                                                      \
    TX_ROWS(tx_sum_##TYPE, T, T, TX_ITSELF, TX_ADD, 1)                                                              \
    TX_LANES(tx_prod_##TYPE, T, 1, TX_MULTIPLY, TX_ITSELF, 1, 1, , TX_IN_ORDER(TYPE, T))                            \
    TX_ROWS(tx_prod_##TYPE, T, T, TX_ITSELF, TX_MULTIPLY, 1)                                                        \
    TX_EXTREME(tx_max_##TYPE, T, (T)-INFINITY, TX_LARGER, TX_LARGER_OR_NAN)                                         \
    TX_EXTREME(tx_min_##TYPE, T, (T)INFINITY, TX_SMALLER, TX_SMALLER_OR_NAN)                                        \
    TX_SCAN(tx_scan_sum_##TYPE, T, T, TX_ITSELF, TX_ADD)                                                            \
    TX_SCAN(tx_scan_prod_##TYPE, T, T, TX_ITSELF, TX_MULTIPLY)                                                      \
    TX_SQUARED(tx_squares_##TYPE, T, 1)
#define TX_COMPLEX(TYPE, T)                                                                                         \
    TX_LANES(tx_sum_##TYPE, T, 0, TX_ADD, TX_ITSELF, 2, 2, , )                                                      \
    TX_ROWS(tx_sum_##TYPE, T, T, TX_ITSELF, TX_ADD, 2)                                                              \
    TX_SQUARED(tx_squares_##TYPE, T, 2)

TX_INTEGER(u8, uint8_t, uint64_t)
TX_INTEGER(i8, int8_t, uint64_t)
TX_INTEGER(i16, int16_t, uint64_t)
TX_INTEGER(i32, int32_t, uint64_t)
TX_INTEGER(i64, int64_t, uint64_t)
TX_INTEGER(u16, uint16_t, uint64_t)
TX_INTEGER(u32, uint32_t, uint64_t)
TX_INTEGER(u64, uint64_t, uint64_t)
TX_FLOATING(f32, float)
TX_FLOATING(f64, double)
TX_COMPLEX(c64, float)
TX_COMPLEX(c128, double)
TX_FREE(tx_sum_b, uint8_t, uint64_t, TX_IS_TRUE, TX_ADD)
TX_FREE(tx_prod_b, uint8_t, uint64_t, TX_IS_TRUE, TX_MULTIPLY)
TX_SCAN(tx_scan_sum_b, uint8_t, uint64_t, TX_IS_TRUE, TX_ADD)
TX_SCAN(tx_scan_prod_b, uint8_t, uint64_t, TX_IS_TRUE, TX_MULTIPLY)
TX_TRUTHS(8, uint8_t, uint8_t, TX_IS_TRUE, 1)
/* The C library's loops, which stop at the byte that settles it. */
static void tx_any_8_run(const void *elements, intptr_t n, void *result, const void *center)
{
    const uint8_t *x = (const uint8_t *)elements;
    *(uint8_t *)result |= x[0] != 0 || memcmp(x, x + 1, (size_t)n - 1) != 0; /* all are what the first is */
    (void)center;
}
static void tx_all_8_run(const void *elements, intptr_t n, void *result, const void *center)
{
    *(uint8_t *)result &= memchr(elements, 0, (size_t)n) == NULL;
    (void)center;
}
TX_WIDE_TRUTHS(16, uint16_t, uint16_t, TX_IS_TRUE, TX_IS_TRUE, 1)
TX_WIDE_TRUTHS(32, uint32_t, uint32_t, TX_IS_TRUE, TX_IS_TRUE, 1)
TX_WIDE_TRUTHS(64, uint64_t, uint64_t, TX_IS_TRUE, TX_IS_TRUE, 1)
TX_WIDE_TRUTHS(f16, uint16_t, uint16_t, TX_HALF_IS_TRUE, TX_HALF_IS_TRUE, 1)
TX_WIDE_TRUTHS(f32, float, uint32_t, TX_IS_TRUE, TX_IS_TRUE, 1)
TX_WIDE_TRUTHS(f64, double, uint64_t, TX_IS_TRUE, TX_IS_TRUE, 1)
TX_WIDE_TRUTHS(c64, float, uint32_t, TX_PAIR_IS_TRUE, TX_IS_TRUE, 2)
TX_WIDE_TRUTHS(c128, double, uint64_t, TX_PAIR_IS_TRUE, TX_IS_TRUE, 2)

/* Return the loops of an operation for elements of a type; none are NULL. */
static inline tx_reduction_t tx_reduction(int operation, int code)
{
#define TX_CASE(CODE, LOOP) case CODE: { const tx_reduction_t found = {LOOP##_run, LOOP##_rows}; return found; }
#define TX_INTEGER_CASES(NAME)                                                                                      \
    TX_CASE(0, tx_##NAME##_u8) TX_CASE(1, tx_##NAME##_i8) TX_CASE(2, tx_##NAME##_i16) TX_CASE(3, tx_##NAME##_i32)   \
    TX_CASE(4, tx_##NAME##_i64) TX_CASE(27, tx_##NAME##_u16) TX_CASE(28, tx_##NAME##_u32)                           \
    TX_CASE(29, tx_##NAME##_u64)
#define TX_FLOATING_CASES(NAME) TX_CASE(6, tx_##NAME##_f32) TX_CASE(7, tx_##NAME##_f64)
#define TX_COMPLEX_CASES(NAME) TX_CASE(9, tx_##NAME##_c64) TX_CASE(10, tx_##NAME##_c128)
#define TX_TRUTH_CASES(NAME)                                                                                        \
    TX_CASE(0, tx_##NAME##_8) TX_CASE(1, tx_##NAME##_8) TX_CASE(11, tx_##NAME##_8)                                  \
    TX_CASE(2, tx_##NAME##_16) TX_CASE(27, tx_##NAME##_16) TX_CASE(3, tx_##NAME##_32) TX_CASE(28, tx_##NAME##_32)   \
    TX_CASE(4, tx_##NAME##_64) TX_CASE(29, tx_##NAME##_64) TX_CASE(5, tx_##NAME##_f16) TX_CASE(15, tx_##NAME##_f16) \
    TX_FLOATING_CASES(NAME) TX_COMPLEX_CASES(NAME)
    const tx_reduction_t none = {NULL, NULL};
    switch (operation) {
    case TX_SUM:
        switch (code) { TX_INTEGER_CASES(sum) TX_FLOATING_CASES(sum) TX_COMPLEX_CASES(sum) TX_CASE(11, tx_sum_b) }
        break;
    case TX_PROD:
        switch (code) { TX_INTEGER_CASES(prod) TX_FLOATING_CASES(prod) TX_CASE(11, tx_prod_b) }
        break;
    case TX_MAX: switch (code) { TX_INTEGER_CASES(max) TX_FLOATING_CASES(max) TX_CASE(11, tx_any_8) } break;
    case TX_MIN: switch (code) { TX_INTEGER_CASES(min) TX_FLOATING_CASES(min) TX_CASE(11, tx_all_8) } break;
    case TX_ANY: switch (code) { TX_TRUTH_CASES(any) } break;
    case TX_ALL: switch (code) { TX_TRUTH_CASES(all) } break;
    case TX_COUNT: switch (code) { TX_TRUTH_CASES(count) } break;
    case TX_SQUARES: switch (code) { TX_FLOATING_CASES(squares) TX_COMPLEX_CASES(squares) } break;
    }
    return none;
}

/* Return the loop that makes running sums or products of elements of a type: of small integers in 64 bits. */
static inline tx_scan_t tx_scan(int operation, int code)
{
#define TX_SCAN_CASE(CODE, TYPE) case CODE: return operation == TX_SUM ? tx_scan_sum_##TYPE : tx_scan_prod_##TYPE;
    switch (code) {
    TX_SCAN_CASE(0, u8) TX_SCAN_CASE(1, i8) TX_SCAN_CASE(2, i16) TX_SCAN_CASE(3, i32) TX_SCAN_CASE(4, i64)
    TX_SCAN_CASE(27, u16) TX_SCAN_CASE(28, u32) TX_SCAN_CASE(29, u64) TX_SCAN_CASE(6, f32) TX_SCAN_CASE(7, f64)
    TX_SCAN_CASE(11, b)
    }
    return NULL;
}

#endif
