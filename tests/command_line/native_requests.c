/* Ask for memory in every way there is, for test_native.py. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *ask(const char *how, size_t nbytes)
{
    void *data = NULL;
    if (strcmp(how, "malloc") == 0) data = malloc(nbytes);
    if (strcmp(how, "calloc") == 0) data = calloc(nbytes, 1);
    if (strcmp(how, "realloc") == 0) data = realloc(NULL, nbytes);
    if (strcmp(how, "reallocarray") == 0) data = reallocarray(NULL, nbytes, 1);
    if (strcmp(how, "memalign") == 0) data = memalign(64, nbytes);
    if (strcmp(how, "aligned_alloc") == 0) data = aligned_alloc(64, nbytes);
    if (strcmp(how, "posix_memalign") == 0 && posix_memalign(&data, 64, nbytes) != 0) data = NULL;
    if (strcmp(how, "mmap") == 0) data = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (strcmp(how, "reserve") == 0) data = mmap(NULL, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data;
}

void *resize(void *data, size_t nbytes) { return realloc(data, nbytes); }
void give_back(void *data) { free(data); }
void *resize_mapping(void *data, size_t before, size_t after) { return mremap(data, before, after, MREMAP_MAYMOVE); }
int unmap(char *data, size_t from, size_t nbytes) { return munmap(data + from, nbytes); }
void *map_over(void *data, size_t nbytes)
{
    return mmap(data, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void *ask_there(void *nbytes) { return malloc((size_t)(uintptr_t)nbytes); }

void *ask_in_thread(size_t nbytes)
{
    pthread_t thread;
    void *data = NULL;
    pthread_create(&thread, NULL, ask_there, (void *)(uintptr_t)nbytes);
    pthread_join(thread, &data);
    return data;
}

/* Blocks that threads hand to one another; what is alive at the end, of 64 KiB and more, is added up. */
enum { SHARED = 64, TURNS = 20000 };
static void *shared[SHARED];
static size_t sizes[SHARED];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *exchange(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    int turn;
    for (turn = 0; turn < TURNS; turn++) {
        int place = rand_r(&state) % SHARED;
        size_t nbytes = 1 + (size_t)rand_r(&state) % 140000, before;
        void *data, *other;
        pthread_mutex_lock(&mutex);
        data = shared[place], before = sizes[place];
        shared[place] = NULL, sizes[place] = 0;
        pthread_mutex_unlock(&mutex);
        if (turn % 3 == 0) free(data), data = malloc(nbytes);
        else data = realloc(data, nbytes);
        (void)before;
        pthread_mutex_lock(&mutex);
        other = shared[place];
        shared[place] = data, sizes[place] = nbytes;
        pthread_mutex_unlock(&mutex);
        free(other);
    }
    return NULL;
}

size_t exchange_in_threads(void)
{
    pthread_t threads[4];
    size_t sum = 0;
    int i;
    for (i = 0; i < 4; i++) pthread_create(&threads[i], NULL, exchange, (void *)(uintptr_t)(i + 1));
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (i = 0; i < SHARED; i++) sum += sizes[i] >= 65536 ? sizes[i] : 0;
    return sum;
}
