/* Items, elements that are moved by their size: from anywhere to anywhere, one to many places, rows to columns.
 *
 * Note [Shuffling]
 * ~~~~~~~~~~~~~~~~
 * A block of as many rows as columns is transposed as a deck of cards is shuffled: it is cut in the middle, and an item
 * of each half is taken in turn. With 2**n rows it is transposed after n rounds. Compilers know such a loop, and the
 * copies before and behind it read and write whole cache lines, each of them once: rows may lie so far apart that few
 * of them fit into the nearest cache together.
 */
#ifndef TENSIX_ITEMS_H
#define TENSIX_ITEMS_H

#include <stdint.h>
#include <string.h>
#include "tensix/loops/target_clones.h"

typedef struct { uint64_t low, high; } tx_sixteen_bytes_t;

#define TX_SHUFFLE(FROM, TO)                                                                                \
    TX_INDEPENDENT for (int i = 0; i < HALF; i++) {                                                         \
        TO[2 * i] = FROM[i];                                                                                \
        TO[2 * i + 1] = FROM[HALF + i];                                                                     \
    }
#define TX_ITEMS(SIZE, T, ROWS)                                                                             \
    TX_TARGET_CLONES static void tx_fill_##SIZE(void *to, const void *item, intptr_t count)                 \
    {                                                                                                       \
        const T value = *(const T *)item;                                                                   \
        T *items = (T *)to;                                                                                 \
        for (intptr_t i = 0; i < count; i++) items[i] = value;                                              \
    }                                                                                                       \
    TX_TARGET_CLONES static void tx_take_every_second_##SIZE(const void *from, void *to, intptr_t count)     \
    {                                                                                                       \
        const T *all = (const T *)from;                                                                     \
        T *items = (T *)to;                                                                                 \
        TX_INDEPENDENT for (intptr_t i = 0; i < count; i++) items[i] = all[2 * i];                          \
    }                                                                                                       \
    static void tx_copy_##SIZE(                                                                             \
        const char *from, intptr_t from_step, char *to, intptr_t to_step, intptr_t count)                   \
    {                                                                                                       \
        if (to_step == SIZE && from_step == SIZE) {                                                         \
            memcpy(to, from, count * SIZE);                                                                 \
        } else if (to_step == SIZE && from_step == 0) {                                                     \
            tx_fill_##SIZE(to, from, count);                                                                \
        } else if (to_step == SIZE && from_step == 2 * SIZE) {                                              \
            tx_take_every_second_##SIZE(from, to, count);                                                   \
        } else {                                                                                            \
            TX_UNROLLED for (intptr_t i = 0; i < count; i++, from += from_step, to += to_step)              \
                *(T *)to = *(const T *)from;                                                                \
        }                                                                                                   \
    }                                                                                                       \
    TX_TARGET_CLONES static void tx_transpose_##SIZE(                                                       \
        const char *from, intptr_t from_step, char *to, intptr_t to_step, intptr_t rows, intptr_t columns)  \
    {                                                                                                       \
        enum { SIDE = ROWS, HALF = SIDE * SIDE / 2 };                                                       \
        T deck[SIDE * SIDE] = {0}, other[SIDE * SIDE];                                                      \
        for (intptr_t row = 0; row < rows; row += SIDE) {                                                   \
            const intptr_t height = rows - row < SIDE ? rows - row : SIDE;                                  \
            for (intptr_t column = 0; column < columns; column += SIDE) {                                   \
                const intptr_t width = columns - column < SIDE ? columns - column : SIDE;                   \
                const char *source = from + row * from_step + column * SIZE;                                \
                char *target = to + column * to_step + row * SIZE;                                          \
                const int is_whole = height == SIDE && width == SIDE;                                       \
                if (is_whole) {                                                                             \
                    for (int i = 0; i < SIDE; i++) memcpy(deck + i * SIDE, source + i * from_step, SIDE * SIZE);\
                } else {                                                                                    \
                    for (intptr_t i = 0; i < height; i++)                                                   \
                        memcpy(deck + i * SIDE, source + i * from_step, width * SIZE);                      \
                }                                                                                           \
                for (int round = SIDE; round > 2; round /= 4) {                                             \
                    TX_SHUFFLE(deck, other)                                                                 \
                    TX_SHUFFLE(other, deck)                                                                 \
                }                                                                                           \
                if (SIDE == 8 || SIDE == 32) {                                                              \
                    TX_SHUFFLE(deck, other)                                                                 \
                    memcpy(deck, other, sizeof deck);                                                       \
                }                                                                                           \
                if (is_whole) {                                                                             \
                    for (int i = 0; i < SIDE; i++) memcpy(target + i * to_step, deck + i * SIDE, SIDE * SIZE);\
                } else {                                                                                    \
                    for (intptr_t i = 0; i < width; i++)                                                    \
                        memcpy(target + i * to_step, deck + i * SIDE, height * SIZE);                       \
                }                                                                                           \
            }                                                                                               \
        }                                                                                                   \
    }
TX_ITEMS(1, uint8_t, 64)
TX_ITEMS(2, uint16_t, 32)
TX_ITEMS(4, uint32_t, 16)
TX_ITEMS(8, uint64_t, 8)
TX_ITEMS(16, tx_sixteen_bytes_t, 4)

/* Copy items, of any size that elements have, from one step to another. A step of 0 repeats an item. */
static inline void tx_copy(
    int itemsize, const char *from, intptr_t from_step, char *to, intptr_t to_step, intptr_t count)
{
    switch (itemsize) {
    case 1: tx_copy_1(from, from_step, to, to_step, count); break;
    case 2: tx_copy_2(from, from_step, to, to_step, count); break;
    case 4: tx_copy_4(from, from_step, to, to_step, count); break;
    case 8: tx_copy_8(from, from_step, to, to_step, count); break;
    default: tx_copy_16(from, from_step, to, to_step, count);
    }
}

/* Write rows of items that lie side by side as columns, of which the items of a row then lie `to_step` bytes apart. */
static inline void tx_transpose(
    int itemsize, const char *from, intptr_t from_step, char *to, intptr_t to_step, intptr_t rows, intptr_t columns)
{
    switch (itemsize) {
    case 1: tx_transpose_1(from, from_step, to, to_step, rows, columns); break;
    case 2: tx_transpose_2(from, from_step, to, to_step, rows, columns); break;
    case 4: tx_transpose_4(from, from_step, to, to_step, rows, columns); break;
    case 8: tx_transpose_8(from, from_step, to, to_step, rows, columns); break;
    default: tx_transpose_16(from, from_step, to, to_step, rows, columns);
    }
}

#endif
