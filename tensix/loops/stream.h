/* An inner loop around another one, for results that are larger than the cache.
 *
 * Note [Stores past the cache]
 * ~~~~~~~~~~~~~~~~~~~~~~~~~~~~
 * A processor reads a cache line before it writes to it. Where the result of a sum does not fit into the cache, that is a
 * fourth of all traffic, and the result drives out what else is there. The stores of x86-64 that go past the cache need
 * no such read. So a loop that waits for memory writes a block that stays in the nearest cache, and such stores take it
 * from there. A loop that computes longer than its stores take becomes slower by them: it does not ask for this.
 */
#ifndef TENSIX_STREAM_H
#define TENSIX_STREAM_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(_M_X64)
#include <emmintrin.h>
#define TX_STREAM_FROM ((intptr_t)32 << 20) /* bytes of the result: few processors have more cache for one core */
#define TX_STREAM_LINE(to, from)                                                                            \
    for (int i = 0; i < TX_LINE; i += 16)                                                                   \
        _mm_stream_si128((__m128i *)((to) + i), _mm_loadu_si128((const __m128i *)((from) + i)))
#define TX_END_STREAM _mm_sfence()
#else
#define TX_STREAM_FROM INTPTR_MAX
#define TX_STREAM_LINE(to, from) memcpy(to, from, TX_LINE)
#define TX_END_STREAM
#endif

enum { TX_LINE = 64, TX_STREAM_BLOCK = 2048 /* bytes */ };

typedef struct {
    void (*function)(char **data, const intptr_t *count, const intptr_t *steps, void *loop_data);
    void *data;
    int last;      /* of the operands, the result */
    intptr_t size; /* of its elements */
    int copies;    /* whether they are those of the first operand, which need not be written to a block first */
} tx_streaming_loop_t;

static void tx_streaming_loop(char **data, const intptr_t *count, const intptr_t *steps, void *wrapped)
{
    const tx_streaming_loop_t *self = (const tx_streaming_loop_t *)wrapped;
    const int last = self->last;
    const intptr_t size = self->size, whole = TX_STREAM_BLOCK / size;
    const intptr_t to_line = -(uintptr_t)data[last] & (TX_LINE - 1); /* bytes */
    char buffer[TX_STREAM_BLOCK + TX_LINE], *block = buffer + (-(uintptr_t)buffer & (TX_LINE - 1)), *place[4], *made;
    if (steps[last] != size || *count < whole || to_line % size != 0) { /* else an element begins where a line does */
        self->function(data, count, steps, self->data);
        return;
    }
    for (intptr_t start = 0, n; start < *count; start += n) {
        const intptr_t rest = *count - start, wanted = start == 0 && to_line != 0 ? to_line / size : whole;
        const int streams = wanted == whole && rest >= whole;
        char *to = data[last] + start * size;
        n = wanted < rest ? wanted : rest;
        for (int k = 0; k < last; k++) place[k] = data[k] + start * steps[k];
        place[last] = streams ? block : to;
        made = streams && self->copies && steps[0] == size ? place[0] : block;
        if (made == block) self->function(place, &n, steps, self->data);
        if (streams)
            for (intptr_t line = 0; line < TX_STREAM_BLOCK; line += TX_LINE) TX_STREAM_LINE(to + line, made + line);
    }
    TX_END_STREAM;
}

#endif
