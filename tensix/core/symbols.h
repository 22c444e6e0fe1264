/* The name of a C function, where the system's loader knows it. Needs Python.h before it, for _GNU_SOURCE. */
#ifndef TENSIX_SYMBOLS_H
#define TENSIX_SYMBOLS_H

#if !defined(_WIN32)
#include <dlfcn.h>

/* Look up an address. `*name` is set if an exported function starts exactly there, `*library` if a file was mapped
   there; both stay NULL otherwise. */
static inline void tx_find_symbol(void *address, const char **name, const char **library)
{
    Dl_info info;
    *name = *library = NULL;
    if (dladdr(address, &info) == 0)
        return;
    *library = info.dli_fname;
    if (info.dli_saddr == address)
        *name = info.dli_sname;
}
#else
static inline void tx_find_symbol(void *address, const char **name, const char **library)
{
    (void)address;
    *name = *library = NULL;
}
#endif

#endif
