#include "pool.h"
#include <pthread.h>
#include <stdlib.h>

static void pool_free(pool_t *pool, pool_entry_t *entry)
{
    const unsigned char *bytes = (const unsigned char *)entry->block.data;
    int is_broken = bytes[0] != entry->mark || bytes[entry->nbytes - 1] != entry->mark;
    __atomic_add_fetch(&pool->broken, is_broken, __ATOMIC_RELAXED);
    tensix_free(&entry->block);
    free(entry);
}

typedef struct { pool_t *pool; uint64_t random; pthread_t thread; } worker_t;

static void *work(void *argument)
{
    worker_t *self = (worker_t *)argument;
    pool_t *pool = self->pool;
    uint64_t turn, made = 0, refused = 0, nbytes = 0, random = self->random;
    for (turn = 0; turn < pool->turns; turn++) {
        pool_entry_t *entry = (pool_entry_t *)malloc(sizeof *entry), *other;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17; /* xorshift */
        /* Small sizes are the most likely, as in programs. */
        entry->nbytes = 1 + (random >> 20) % (pool->max_bytes >> (random & 15) | 1);
        entry->mark = (unsigned char)(random >> 8);
        if (tensix_allocate(entry->nbytes, &entry->block) != 0) {
            refused++;
            free(entry);
            entry = NULL;
        } else {
            unsigned char *bytes = (unsigned char *)entry->block.data;
            bytes[0] = bytes[entry->nbytes - 1] = entry->mark;
            made++;
            nbytes += entry->nbytes;
        }
        other = __atomic_exchange_n(&pool->slots[(random >> 32) % POOL_SLOTS], entry, __ATOMIC_ACQ_REL);
        if (other != NULL) pool_free(pool, other);
    }
    __atomic_add_fetch(&pool->made, made, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->refused, refused, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->nbytes, nbytes, __ATOMIC_RELAXED);
    return NULL;
}

int pool_run(pool_t *pool, int threads)
{
    worker_t workers[POOL_MAX_THREADS];
    int i, started = 0;
    for (i = 0; i < threads && i < POOL_MAX_THREADS; i++) {
        workers[i].pool = pool;
        workers[i].random = 0x9E3779B97F4A7C15U * (uint64_t)(i + 1);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) break;
        started++;
    }
    for (i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
    return started;
}

uint64_t pool_clear(pool_t *pool, uint64_t *nbytes)
{
    uint64_t count = 0;
    int i;
    *nbytes = 0;
    for (i = 0; i < POOL_SLOTS; i++) {
        if (pool->slots[i] == NULL) continue;
        count++;
        *nbytes += pool->slots[i]->nbytes;
        pool_free(pool, pool->slots[i]);
        pool->slots[i] = NULL;
    }
    return count;
}
