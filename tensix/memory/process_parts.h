/* What the C library and Python say of the memory that they manage in this process. */
#ifndef TENSIX_PROCESS_PARTS_H
#define TENSIX_PROCESS_PARTS_H

#include <Python.h>

#include "tensix/memory/machine.h"
#include "tensix/profiling/clock.h"

typedef struct {
    size_t now, most, files, shared; /* bytes; 0 where the system does not say */
    int64_t at_ns;
} tx_resident_t;

/* What of this process is in main memory, the most that ever was, what of it are pages of files and shared memory, and
 * when: with the GIL, more may happen in between.
 */
#if defined(__linux__)
static tx_resident_t tx_resident_now(void)
{
    tx_resident_t found;
    char text[TX_FILE_BYTES];
    tx_read_text("", "/proc/self/status", "", text);
    found.at_ns = tx_now_ns();
    found.most = tx_number_after(text, "VmHWM:", 0) << 10, found.now = tx_number_after(text, "VmRSS:", 0) << 10;
    found.files = tx_number_after(text, "RssFile:", 0) << 10, found.shared = tx_number_after(text, "RssShmem:", 0) << 10;
    return found;
}
#else
static tx_resident_t tx_resident_now(void) { tx_resident_t found = {0, 0, 0, 0, 0}; return found; }
#endif

/* Bytes of the C library's heaps: in use, with what it mapped for single blocks, and free but kept. */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define TX_HAS_MALLINFO2
#endif
#endif
#if defined(TX_HAS_MALLINFO2)
#include <malloc.h>
static void tx_heap_bytes(size_t *used, size_t *unused)
{
    struct mallinfo2 info = mallinfo2();
    *used = info.uordblks + info.hblkhd;
    *unused = info.fordblks;
}
#else
static void tx_heap_bytes(size_t *used, size_t *unused) { *used = *unused = 0; }
#endif

/* Arenas of the interpreter's allocator of small objects. They are counted from tx_count_arenas() on; how many there
 * are by then only a report says, which the interpreter writes to the standard error of C; what other threads write
 * there in the same millisecond is lost.
 */
static size_t tx_arena_bytes = 0;
#if !defined(Py_GIL_DISABLED)
static PyObjectArenaAllocator tx_arenas;

static void *tx_arena_make(void *ctx, size_t nbytes)
{
    void *arena = tx_arenas.alloc(tx_arenas.ctx, nbytes);
    (void)ctx;
    if (arena != NULL) tx_arena_bytes += nbytes;
    return arena;
}

static void tx_arena_free(void *ctx, void *arena, size_t nbytes)
{
    (void)ctx;
    tx_arena_bytes -= nbytes;
    tx_arenas.free(tx_arenas.ctx, arena, nbytes);
}
#endif

#if defined(__GLIBC__)
/* Return the bytes of the arenas in the interpreter's report, 0 if there is none. */
static size_t tx_arenas_in_report(void)
{
    char *text = NULL, *place;
    size_t nbytes = 0, length = 0, count = 0, each = 0;
    FILE *standard_error = stderr, *report = open_memstream(&text, &length);
    PyObject *function = PySys_GetObject("_debugmallocstats"), *result = NULL;
    if (report != NULL && function != NULL) {
        stderr = report;
        result = PyObject_CallNoArgs(function);
        stderr = standard_error;
    }
    if (report != NULL) fclose(report);
    if (result == NULL) PyErr_Clear();
    Py_XDECREF(result);
    place = text == NULL ? NULL : strstr(text, " bytes/arena");
    while (place != NULL && place > text && *place != '\n') place--; /* to the beginning of its line */
    if (place != NULL && sscanf(place, " %zu arenas * %zu", &count, &each) == 2) nbytes = count * each;
    free(text);
    return nbytes;
}
#else
static size_t tx_arenas_in_report(void) { return 0; }
#endif

static void tx_count_arenas(void)
{
#if !defined(Py_GIL_DISABLED)
    PyObjectArenaAllocator counting = {NULL, tx_arena_make, tx_arena_free};
    tx_arena_bytes = tx_arenas_in_report();
    PyObject_GetArenaAllocator(&tx_arenas);
    PyObject_SetArenaAllocator(&counting);
#endif
}

#endif /* TENSIX_PROCESS_PARTS_H */
