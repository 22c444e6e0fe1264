/* A file's bytes as memory. Unlike Python's mmap no descriptor is kept: the caller may close the file at once. */
#ifndef TENSIX_FILE_MAP_H
#define TENSIX_FILE_MAP_H

#include <errno.h>
#include <stddef.h>

/* Whether the memory may be written, and who sees it: no one, only this process, or the file. */
enum { TX_MAP_READ_ONLY, TX_MAP_PRIVATE, TX_MAP_SHARED };

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <io.h>

/* Return NULL and set errno if it cannot be done. */
static __inline void *tx_map_file(int descriptor, size_t nbytes, int kind)
{
    static const DWORD PROTECTION[] = {PAGE_READONLY, PAGE_WRITECOPY, PAGE_READWRITE};
    static const DWORD ACCESS[] = {FILE_MAP_READ, FILE_MAP_COPY, FILE_MAP_READ | FILE_MAP_WRITE};
    HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PROTECTION[kind], 0, 0, NULL);
    void *address = mapping == NULL ? NULL : MapViewOfFile(mapping, ACCESS[kind], 0, 0, nbytes);
    DWORD error = GetLastError();
    if (mapping != NULL) CloseHandle(mapping);  /* the view keeps it alive */
    if (address == NULL) errno = error == ERROR_NOT_ENOUGH_MEMORY ? ENOMEM : EACCES;
    return address;
}

static __inline void tx_unmap_file(void *address, size_t nbytes)
{
    (void)nbytes;
    UnmapViewOfFile(address);
}

#else

#include <sys/mman.h>
#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0
#endif

/* Return NULL and set errno if it cannot be done. */
static inline void *tx_map_file(int descriptor, size_t nbytes, int kind)
{
    int protection = kind == TX_MAP_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    /* A private map may be larger than memory: only pages that are written take any. */
    int flags = kind == TX_MAP_PRIVATE ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
    void *address = mmap(NULL, nbytes, protection, flags, descriptor, 0);
    return address == MAP_FAILED ? NULL : address;
}

static inline void tx_unmap_file(void *address, size_t nbytes)
{
    munmap(address, nbytes);
}

#endif
#endif /* TENSIX_FILE_MAP_H */
