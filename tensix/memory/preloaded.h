/* What the recorder and the library that is loaded before a program know of each other; see preloaded.c. Another tensix
 * may be loaded in a process that inherits the environment: if this changes, so does the number in tensix_preloaded_2.
 */
#ifndef TENSIX_PRELOADED_H
#define TENSIX_PRELOADED_H

#include <stddef.h>

enum { TX_LEAST_NATIVE_BYTES = 65536 }; /* smaller requests pass straight through */
enum { TX_PRIVATE_MAPPING = 1, TX_SHARED_MAPPING = 2 }; /* is_mapping; 0 is a block of the C heap */

/* What the recorder wants to hear, in the thread where it happens. */
typedef struct {
    void (*made)(void *data, size_t nbytes, int is_mapping, void *caller);
    size_t (*gone)(void *data); /* before it goes; returns the bytes of a block that was noted, else 0 */
    size_t (*unmapped)(void *begin, size_t nbytes, int is_own); /* likewise; if others ask, of parts too */
    const char *begin, *end; /* of the code of tensix, whose own requests are not reported */
} tx_native_hooks_t;

typedef struct {
    void (*lock)(void); /* one that forks take last; of the thread that holds it nothing is reported */
    void (*unlock)(void);
    void (*ignore)(int change); /* above 0 blocks that this thread makes are not reported; what it maps or frees is */
    void (*listen)(const tx_native_hooks_t *hooks); /* static ones; NULL ends it; a fork's child begins with NULL */
} tx_preloaded_t;

#endif /* TENSIX_PRELOADED_H */
