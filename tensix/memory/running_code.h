/* Where a thread is now: at which lines of Python, and in which library. It is read inside malloc(), with the GIL or
 * without, so nothing is counted, waited for or asked of Python. The frames of a thread do not change while it is inside
 * of them, and keep their code.
 */
#ifndef TENSIX_RUNNING_CODE_H
#define TENSIX_RUNNING_CODE_H

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tensix/memory/preloaded.h"

typedef struct {
    PyCodeObject *code;
    int instruction; /* in bytes, as of PyFrame_GetLasti() */
} tx_position_t;

/* What is left of a position when its code has gone: line, and the names of file and function. */
typedef struct {
    int line, kinds[2];
    Py_ssize_t lengths[2];
    char *texts[2];
} tx_named_line_t;

enum { TX_OTHER_LIBRARY, TX_INTERPRETER, TX_PASSED_ON }; /* the last asks on behalf of its callers */

#if defined(__linux__) && defined(__GLIBC__) && !defined(Py_GIL_DISABLED)

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe.h"
#else
#include "internal/pycore_frame.h"
#endif

static int tx_running_positions(tx_position_t *out, int most)
{
    PyThreadState *thread = PyGILState_GetThisThreadState();
    struct _PyInterpreterFrame *frame;
    int count = 0;
    if (thread == NULL) return 0;
#if PY_VERSION_HEX >= 0x030D0000
    frame = thread->current_frame;
#else
    frame = thread->cframe->current_frame;
#endif
    for (; frame != NULL && count < most; frame = frame->previous) {
        if (_PyFrame_IsIncomplete(frame)) continue;
#if PY_VERSION_HEX >= 0x030D0000
        out[count].code = _PyFrame_GetCode(frame);
#else
        out[count].code = frame->f_code;
#endif
        out[count++].instruction = _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
    }
    return count;
}

/* Return the address of what a module names in the library that is loaded before the program, NULL without it. */
static const tx_preloaded_t *tx_find_preloaded(void) { return dlsym(RTLD_DEFAULT, "tensix_preloaded_2"); }

/* Tell the file of the library that an address is in, and which kind it is. Takes the loader's lock. */
static int tx_library_at(void *address, const char **path)
{
    static const char *const passing_on[] = {"libc.so", "libc-2", "libstdc++.so", "ld-linux", "ld-2", "preloaded."};
    Dl_info found, interpreter;
    const char *name;
    size_t i;
    *path = "?";
    if (!dladdr(address, &found) || found.dli_fname == NULL) return TX_OTHER_LIBRARY;
    if (dladdr((void *)PyObject_Malloc, &interpreter) && interpreter.dli_fbase == found.dli_fbase) return TX_INTERPRETER;
    *path = found.dli_fname;
    name = strrchr(found.dli_fname, '/') == NULL ? found.dli_fname : strrchr(found.dli_fname, '/') + 1;
    for (i = 0; i < sizeof passing_on / sizeof *passing_on; i++) {
        if (strncmp(name, passing_on[i], strlen(passing_on[i])) == 0) return TX_PASSED_ON;
    }
    return TX_OTHER_LIBRARY;
}

/* Fill in the addresses that called the one that called malloc(), and return how many there are. */
static int tx_callers_of(void *caller, void **out, int most)
{
    int count = backtrace(out, most), i = 0;
    while (i < count && out[i] != caller) i++;
    count = i < count ? count - i - 1 : 0;
    memmove(out, out + i + 1, (size_t)count * sizeof *out);
    return count;
}

/* Tell where the shared object of tensix begins and ends: the linker has a name for its header, which says the rest. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
static void tx_own_code(const char **begin, const char **end)
{
    const ElfW(Phdr) *part = (const ElfW(Phdr) *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    int i;
    *begin = *end = (const char *)&__ehdr_start;
    for (i = 0; i < __ehdr_start.e_phnum; i++, part++) {
        const char *last = *begin + part->p_vaddr + part->p_memsz;
        if (part->p_type == PT_LOAD && last > *end) *end = last;
    }
}

#else

static int tx_running_positions(tx_position_t *out, int most) { return 0; }
static const tx_preloaded_t *tx_find_preloaded(void) { return NULL; }
static int tx_library_at(void *address, const char **path) { *path = "?"; return TX_OTHER_LIBRARY; }
static int tx_callers_of(void *caller, void **out, int most) { return 0; }
static void tx_own_code(const char **begin, const char **end) { *begin = *end = NULL; }

#endif

static inline uint64_t tx_mixed(uint64_t hashed, uint64_t more)
{
    hashed = (hashed ^ more) * 0x9E3779B97F4A7C15U;
    return hashed ^ (hashed >> 29);
}

/* Return what tells a position apart also from one whose code had the same address and has gone. */
static uint64_t tx_position_hash(const tx_position_t *one)
{
    const PyCodeObject *code = one->code;
    uint64_t names = (uint64_t)((PyASCIIObject *)code->co_filename)->hash;
    names = tx_mixed(names, (uint64_t)((PyASCIIObject *)code->co_qualname)->hash ^ (uint64_t)code->co_firstlineno);
    return tx_mixed(tx_mixed(names, (uint64_t)(uintptr_t)code), (uint64_t)one->instruction);
}

/* Return a copy of what a position is called, NULL if there is no memory. */
static tx_named_line_t *tx_name_position(const tx_position_t *one)
{
    PyObject *names[2] = {one->code->co_filename, one->code->co_qualname};
    tx_named_line_t *made = calloc(1, sizeof *made);
    int i;
    if (made == NULL) return NULL;
    made->line = PyCode_Addr2Line(one->code, one->instruction);
    if (made->line < 0) made->line = 0;
    for (i = 0; i < 2; i++) {
        size_t nbytes = (size_t)PyUnicode_GET_LENGTH(names[i]) * PyUnicode_KIND(names[i]);
        made->texts[i] = malloc(nbytes + 1);
        if (made->texts[i] == NULL) continue; /* an empty name */
        memcpy(made->texts[i], PyUnicode_DATA(names[i]), nbytes);
        made->kinds[i] = PyUnicode_KIND(names[i]), made->lengths[i] = PyUnicode_GET_LENGTH(names[i]);
    }
    return made;
}

#endif /* TENSIX_RUNNING_CODE_H */
