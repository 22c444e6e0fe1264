/* Report to the recorder large blocks that any library asks the C library and the system for.
 *
 * LD_PRELOAD loads this before a program, and before all that the program starts, so it needs nothing but the C library
 * and does nothing until a recorder of the same process asks. Its functions stand in front of the C library's. What is
 * smaller than TX_LEAST_NATIVE_BYTES costs a comparison; a free asks the C library for the size of the block.
 *
 * A block is reported after it was made and before it goes, for its address may be given out again at once. Nothing is
 * reported while a thread is in here already, or holds the lock: what the recorder allocates there is its own. The
 * lock's handler for forks is registered before those of other allocators, so forks take the lock last, and these
 * allocators may call mmap() while they hold locks of their own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

#include "tensix/core/lock.h"
#include "tensix/memory/preloaded.h"

#define EXPORTED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static struct {
    void *(*malloc)(size_t), *(*calloc)(size_t, size_t), *(*realloc)(void *, size_t), *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t), (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t), (*munmap)(void *, size_t);
    size_t (*malloc_usable_size)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t), *(*mremap)(void *, size_t, size_t, int, void *);
} real;

static const tx_native_hooks_t *hooks = NULL;
static tx_lock_t lock = 0;
static _Thread_local int inside __attribute__((tls_model("initial-exec"))) = 0;
static _Thread_local int ignored __attribute__((tls_model("initial-exec"))) = 0;

/* dlsym() itself may allocate, before there is anything to call: it goes on if it gets nothing. */
static int is_resolving = 0;

static __attribute__((cold, noinline)) int resolve(void)
{
    if (is_resolving) return 0;
    is_resolving = 1;
#define RESOLVE(name) *(void **)&real.name = dlsym(RTLD_NEXT, #name)
    RESOLVE(calloc), RESOLVE(realloc), RESOLVE(memalign), RESOLVE(aligned_alloc), RESOLVE(free), RESOLVE(munmap);
    RESOLVE(posix_memalign), RESOLVE(malloc_usable_size), RESOLVE(mmap), RESOLVE(mremap), RESOLVE(malloc);
    is_resolving = 0;
    return 1;
}

#define IS_READY (__builtin_expect(real.malloc != NULL, 1) || resolve())

static const tx_native_hooks_t *hooks_now(void)
{
    const tx_native_hooks_t *found = __atomic_load_n(&hooks, __ATOMIC_ACQUIRE);
    return inside ? NULL : found;
}

static int is_own(const tx_native_hooks_t *listening, const char *caller)
{
    return caller >= listening->begin && caller < listening->end;
}

/* Call a hook as if it were not there: nothing in it is reported, and errno stays. */
#define TELL(call) do { int error = errno; inside++; call; inside--; errno = error; } while (0)

static void made(void *data, size_t nbytes, int is_mapping, void *caller)
{
    const tx_native_hooks_t *listening = hooks_now();
    if (listening == NULL || data == NULL || is_own(listening, caller)) return;
    if (ignored && !is_mapping) return; /* an arena serves other threads, too */
    TELL(listening->made(data, nbytes, is_mapping, caller));
}

static size_t gone(void *data)
{
    const tx_native_hooks_t *listening = hooks_now();
    size_t nbytes;
    if (listening == NULL || data == NULL || real.malloc_usable_size(data) < TX_LEAST_NATIVE_BYTES) return 0;
    TELL(nbytes = listening->gone(data));
    return nbytes;
}

static size_t unmapped(void *begin, size_t nbytes, void *caller)
{
    const tx_native_hooks_t *listening = hooks_now();
    if (listening == NULL) return 0;
    TELL(nbytes = listening->unmapped(begin, nbytes, is_own(listening, caller)));
    return nbytes;
}

static inline void *reported(void *data, size_t nbytes, void *caller)
{
    if (__builtin_expect(nbytes >= TX_LEAST_NATIVE_BYTES, 0)) made(data, nbytes, 0, caller);
    return data;
}

EXPORTED void *malloc(size_t nbytes)
{
    return IS_READY ? reported(real.malloc(nbytes), nbytes, CALLER) : NULL;
}

EXPORTED void *calloc(size_t count, size_t each)
{
    return IS_READY ? reported(real.calloc(count, each), count * each, CALLER) : NULL;
}

static void *reallocate(void *before, size_t nbytes, void *caller)
{
    size_t bytes_before;
    void *data;
    if (!IS_READY) return NULL;
    bytes_before = gone(before);
    data = real.realloc(before, nbytes);
    if (data == NULL && nbytes != 0 && bytes_before != 0) made(before, bytes_before, 0, caller); /* it stays */
    return reported(data, nbytes, caller);
}

EXPORTED void *realloc(void *before, size_t nbytes) { return reallocate(before, nbytes, CALLER); }

EXPORTED void *reallocarray(void *before, size_t count, size_t each)
{
    size_t nbytes;
    if (__builtin_mul_overflow(count, each, &nbytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(before, nbytes, CALLER);
}

EXPORTED void *memalign(size_t alignment, size_t nbytes)
{
    return IS_READY ? reported(real.memalign(alignment, nbytes), nbytes, CALLER) : NULL;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t nbytes)
{
    return IS_READY ? reported(real.aligned_alloc(alignment, nbytes), nbytes, CALLER) : NULL;
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t nbytes)
{
    int error = IS_READY ? real.posix_memalign(out, alignment, nbytes) : ENOMEM;
    if (error == 0) reported(*out, nbytes, CALLER);
    return error;
}

EXPORTED void free(void *data)
{
    if (!IS_READY) return;
    gone(data);
    real.free(data);
}

/* Anonymous memory that may be written; of files and of reserved addresses other figures tell. */
static void mapped(void *data, size_t nbytes, int access, int flags, void *caller)
{
    if (data != MAP_FAILED && nbytes >= TX_LEAST_NATIVE_BYTES && (flags & MAP_ANONYMOUS) && (access & PROT_WRITE))
        made(data, nbytes, flags & MAP_SHARED ? TX_SHARED_MAPPING : TX_PRIVATE_MAPPING, caller);
}

EXPORTED void *mmap(void *address, size_t nbytes, int access, int flags, int file, off_t offset)
{
    void *data;
    if (!IS_READY) return MAP_FAILED;
    if (flags & MAP_FIXED) unmapped(address, nbytes, CALLER);
    data = real.mmap(address, nbytes, access, flags, file, offset);
    mapped(data, nbytes, access, flags, CALLER);
    return data;
}

EXPORTED void *mmap64(void *, size_t, int, int, int, __off64_t) __attribute__((alias("mmap")));

EXPORTED int munmap(void *begin, size_t nbytes)
{
    if (!IS_READY) return -1;
    unmapped(begin, nbytes, CALLER);
    return real.munmap(begin, nbytes);
}

EXPORTED void *mremap(void *before, size_t bytes_before, size_t nbytes, int flags, ...)
{
    va_list more;
    void *address, *data;
    size_t noted;
    va_start(more, flags);
    address = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    if (!IS_READY) return MAP_FAILED;
    noted = unmapped(before, bytes_before, CALLER);
    if (address != NULL) unmapped(address, nbytes, CALLER);
    data = real.mremap(before, bytes_before, nbytes, flags, address);
    if (noted != 0 && data == MAP_FAILED) made(before, bytes_before, TX_PRIVATE_MAPPING, CALLER); /* it stays */
    else if (noted != 0) mapped(data, nbytes, PROT_WRITE, MAP_ANONYMOUS, CALLER);
    return data;
}

static void take_lock(void)
{
    inside++;
    tx_lock_take(&lock);
}

static void release_lock(void)
{
    tx_lock_release(&lock);
    inside--;
}

static void release_in_child(void)
{
    hooks = NULL; /* what the parent recorded is the parent's */
    release_lock();
}

static void ignore(int change) { ignored += change; }

static void listen(const tx_native_hooks_t *listening) { __atomic_store_n(&hooks, listening, __ATOMIC_RELEASE); }

static __attribute__((constructor)) void begin(void)
{
    (void)IS_READY;
    pthread_atfork(take_lock, release_lock, release_in_child);
}

EXPORTED const tx_preloaded_t tensix_preloaded_2 = {take_lock, release_lock, ignore, listen};
