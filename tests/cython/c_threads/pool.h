/* A pool of threads that Python does not know, which allocate and free blocks of tensix and pass them on to each other. */
#ifndef POOL_H
#define POOL_H

#include <tensix/c_api.h>

enum { POOL_SLOTS = 1024, POOL_MAX_THREADS = 64 };

typedef struct {
    tensix_block block;
    size_t nbytes;
    unsigned char mark; /* what its first and last byte are */
} pool_entry_t;

typedef struct {
    pool_entry_t *slots[POOL_SLOTS]; /* exchanged by all threads */
    size_t max_bytes;
    uint64_t turns;    /* of each thread; a turn makes a block and frees another */
    uint64_t made;
    uint64_t refused;
    uint64_t nbytes;   /* of all blocks made */
    uint64_t broken;   /* blocks that were not as they were left */
} pool_t;

/* Let threads run; returns how many could be started. The GIL need not be held. */
int pool_run(pool_t *pool, int threads);

/* Free what is left in the slots, and return how many blocks and bytes that were. */
uint64_t pool_clear(pool_t *pool, uint64_t *nbytes);

#endif
