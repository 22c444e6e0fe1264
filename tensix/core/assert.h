/* Assertions of debug builds: what the code takes for granted is checked where it is relied on.
 *
 * TX_ASSERT(condition, expected, found) ends the process with the place, what was expected and the number found. Without
 * TENSIX_DEBUG nothing is left of it, not even its arguments, so these must not change anything. It aborts and does not
 * raise: it stands in code that holds no GIL and cannot fail, and what is broken by then is memory or a count.
 */
#ifndef TENSIX_ASSERT_H
#define TENSIX_ASSERT_H

#if defined(TENSIX_DEBUG)

#include <Python.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void tx_assertion_failed(const char *file, int line, const char *expected, int64_t found)
{
    fprintf(stderr, "%s:%d: assertion failed: expected %s, found %lld (%#llx).\n", file, line, expected,
            (long long)found, (unsigned long long)found);
    fflush(stderr);
    abort();
}

#define TX_ASSERT(condition, expected, found) \
    ((condition) ? (void)0 : tx_assertion_failed(__FILE__, __LINE__, expected, (int64_t)(found)))
static inline uint64_t tx_checksum(const void *bytes, size_t nbytes)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < nbytes; i++) {
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    }
    return sum;
}
#define TX_CHECKSUM(bytes, nbytes) tx_checksum(bytes, nbytes)
#define TX_ASSERT_GIL() TX_ASSERT(PyGILState_Check(), "the GIL to be held by this thread", 0)

#else

/* What is inside sizeof is compiled and not run. Of a text outside of it nothing is left either; inside, Clang warns that
 * it is never used. */
#define TX_ASSERT(condition, expected, found) ((void)sizeof(condition), (void)(expected), (void)sizeof(found))
#define TX_CHECKSUM(bytes, nbytes) ((void)sizeof(bytes), (void)sizeof(nbytes), (uint64_t)0)
#define TX_ASSERT_GIL() ((void)0)

#endif
#endif /* TENSIX_ASSERT_H */
