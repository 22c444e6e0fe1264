/* Pages straight from the operating system: our own regions, so that what is advised or bound there ends with
 * them and never sticks to the C library's heap, and a file's bytes as memory. Unlike Python's mmap no descriptor is kept:
 * the caller may close the file at once. Where a system lacks a call, the function says so by failing.
 */
#ifndef TENSIX_PAGES_H
#define TENSIX_PAGES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether a file's memory may be written, and who sees it: no one, only this process, or the file. */
enum { TX_MAP_READ_ONLY, TX_MAP_PRIVATE, TX_MAP_SHARED };

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <io.h>

static __inline void *tx_map_pages(size_t nbytes)
{
    return VirtualAlloc(NULL, nbytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static __inline void tx_unmap_pages(void *address, size_t nbytes)
{
    (void)nbytes;
    VirtualFree(address, 0, MEM_RELEASE);
}

static __inline void tx_keep_pages(void **base, size_t *nbytes, const void *first, const void *last)
{
    (void)base; (void)nbytes; (void)first; (void)last; /* the system releases a region only as a whole */
}

/* Map a file from a multiple of a page on; return NULL and set errno if it cannot be done. */
static __inline void *tx_map_file(int descriptor, size_t offset, size_t nbytes, int kind)
{
    static const DWORD PROTECTION[] = {PAGE_READONLY, PAGE_WRITECOPY, PAGE_READWRITE};
    static const DWORD ACCESS[] = {FILE_MAP_READ, FILE_MAP_COPY, FILE_MAP_READ | FILE_MAP_WRITE};
    HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PROTECTION[kind], 0, 0, NULL);
    void *address = mapping == NULL ? NULL
        : MapViewOfFile(mapping, ACCESS[kind], (DWORD)(offset >> 32), (DWORD)offset, nbytes);
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

/* Copy a few bytes from any address, or return 0 where they cannot be read. */
static __inline int tx_read_bytes(void *to, const void *from, size_t nbytes)
{
    SIZE_T count = 0;
    return ReadProcessMemory(GetCurrentProcess(), from, to, nbytes, &count) && count == nbytes;
}

static __inline size_t tx_page_bytes(void) { return 4096; }
static __inline size_t tx_huge_page_bytes(void) { return 2097152; }
static __inline int tx_populate(void *address, size_t nbytes)
{
    volatile char *bytes = (volatile char *)address;
    size_t i;
    for (i = 0; i < nbytes; i += 4096) bytes[i] = bytes[i];
    return 0;
}
static __inline size_t tx_resident_bytes(void *address, size_t nbytes) { (void)address; (void)nbytes; return 0; }
static __inline int tx_is_untouched(void *address, size_t nbytes) { (void)address; (void)nbytes; return 0; }
static __inline void tx_trim_heap(void) {}
static __inline int tx_discard_pages(void *address, size_t nbytes) { (void)address; (void)nbytes; return -1; }
static __inline void tx_advise_huge_pages(void *address, size_t nbytes) { (void)address; (void)nbytes; }
static __inline void tx_bind_to_node(void *address, size_t nbytes, int node) { (void)address; (void)nbytes; (void)node; }

#else

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/uio.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
#endif
#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0
#endif

static inline void *tx_map_pages(size_t nbytes)
{
    void *address = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

static inline void tx_unmap_pages(void *address, size_t nbytes)
{
    munmap(address, nbytes);
}

/* Give back the pages of a region around a part of it: limits of private memory count them, touched or not. */
static inline void tx_keep_pages(void **base, size_t *nbytes, const void *first, const void *last)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)*base, end = begin + *nbytes;
    uintptr_t kept = (uintptr_t)first & ~(page - 1), kept_end = ((uintptr_t)last + page - 1) & ~(page - 1);
    if (kept > begin && munmap((void *)begin, kept - begin) == 0) begin = kept; /* else there are too many regions */
    if (kept_end < end && munmap((void *)kept_end, end - kept_end) == 0) end = kept_end;
    *base = (void *)begin, *nbytes = end - begin;
}

/* Map a file from a multiple of a page on; return NULL and set errno if it cannot be done. */
static inline void *tx_map_file(int descriptor, size_t offset, size_t nbytes, int kind)
{
    int protection = kind == TX_MAP_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    /* A private map may be larger than memory: only pages that are written take any. */
    int flags = kind == TX_MAP_PRIVATE ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
    void *address = mmap(NULL, nbytes, protection, flags, descriptor, (off_t)offset);
    return address == MAP_FAILED ? NULL : address;
}

#define tx_unmap_file tx_unmap_pages

/* Copy a few bytes from any address, or return 0 where they cannot be read: the kernel reads, not we. Where reading
 * our own process is forbidden to us or unknown, the bytes go through a pipe.
 */
static inline int tx_read_bytes(void *to, const void *from, size_t nbytes)
{
    int ends[2], was_read;
#if defined(__linux__) && defined(SYS_process_vm_readv)
    struct iovec local = {to, nbytes}, remote = {(void *)from, nbytes};
    long count = syscall(SYS_process_vm_readv, (long)getpid(), &local, 1L, &remote, 1L, 0L);
    if (count == (long)nbytes) return 1;
    if (count >= 0 || errno == EFAULT) return 0;
#endif
    if (pipe(ends) != 0) return 0;
    was_read = write(ends[1], from, nbytes) == (ssize_t)nbytes && read(ends[0], to, nbytes) == (ssize_t)nbytes;
    close(ends[0]);
    close(ends[1]);
    return was_read;
}

static inline size_t tx_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

#if !defined(TX_HUGE_PAGE_FILE)
#define TX_HUGE_PAGE_FILE "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
#endif

/* Return the size of a huge page, as Linux says it: 2 MiB with pages of 4 KiB, and 512 MiB with 64 KiB on ARM64. Else it
 * is what one table of pages maps: a table fills a page, with 8 bytes per entry.
 */
static inline size_t tx_huge_page_bytes(void)
{
    size_t page = tx_page_bytes(), said = 0;
    char text[32] = {0};
    int file = open(TX_HUGE_PAGE_FILE, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) > 0) said = (size_t)strtoull(text, NULL, 10);
        close(file);
    }
    return said > page && (said & (said - 1)) == 0 ? said : page * page / 8;
}

/* Make all pages at once; -1 if there is no memory for them. 23 is MADV_POPULATE_WRITE of <asm/mman.h>; where the system
 * does not know it, each page is touched.
 */
static inline int tx_populate(void *address, size_t nbytes)
{
    size_t page = tx_page_bytes(), i;
    volatile char *bytes = (volatile char *)((uintptr_t)address & ~(page - 1));
    size_t length = nbytes + ((uintptr_t)address & (page - 1));
#if defined(__linux__)
    if (madvise((void *)bytes, length, 23) == 0) return 0;
    if (errno == ENOMEM || errno == EFAULT) return -1;
#endif
    for (i = 0; i < length; i += page) bytes[i] = bytes[i];
    return 0;
}

#if defined(__APPLE__)
typedef char tx_presence_t; /* what mincore() wants */
#else
typedef unsigned char tx_presence_t;
#endif

/* Count the bytes that have a page in main memory; those of addresses that are not mapped have none. */
static inline size_t tx_resident_bytes(void *address, size_t nbytes)
{
    enum { PAGES_AT_ONCE = 4096 };
    tx_presence_t present[PAGES_AT_ONCE];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)address, end = begin + nbytes, at, next;
    size_t resident = 0, i, pages;
    for (at = begin & ~(page - 1); at < end; at += pages * page) {
        pages = (end - at + page - 1) / page;
        if (pages > PAGES_AT_ONCE) pages = PAGES_AT_ONCE;
        if (mincore((void *)at, pages * page, present) != 0) break;
        for (i = 0; i < pages; i++) {
            if (!(present[i] & 1)) continue;
            next = at + (i + 1) * page;
            resident += (next < end ? next : end) - (at + i * page > begin ? at + i * page : begin);
        }
    }
    return resident;
}

/* Whether no page that lies wholly in a block is in main memory, which mostly the first one tells; 0 if that is unknown. */
static inline int tx_is_untouched(void *address, size_t nbytes)
{
    enum { PAGES_AT_ONCE = 4096 };
    tx_presence_t present[PAGES_AT_ONCE];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = ((uintptr_t)address + nbytes) & ~(page - 1);
    uintptr_t begin = ((uintptr_t)address + page - 1) & ~(page - 1), at;
    size_t i, pages;
    for (at = begin; at < end; at += pages * page) {
        pages = at == begin ? 1 : (end - at) / page;
        if (pages > PAGES_AT_ONCE) pages = PAGES_AT_ONCE;
        if (mincore((void *)at, pages * page, present) != 0) return 0;
        for (i = 0; i < pages; i++) {
            if (present[i] & 1) return 0;
        }
    }
    return begin < end;
}

/* Let the C library give the system what it has kept itself. */
static inline void tx_trim_heap(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/* Make private anonymous memory zero by giving its whole pages back: the next access to one gets a new page. -1 where the system
 * does not promise that; nothing has changed then.
 */
static inline int tx_discard_pages(void *address, size_t nbytes)
{
#if defined(__linux__)
    size_t page = tx_page_bytes();
    char *begin = (char *)address, *end = begin + nbytes;
    char *first = (char *)(((uintptr_t)begin + page - 1) & ~(page - 1)), *last = (char *)((uintptr_t)end & ~(page - 1));
    if (first >= last || madvise(first, (size_t)(last - first), MADV_DONTNEED) != 0) return -1;
    memset(begin, 0, (size_t)(first - begin));
    memset(last, 0, (size_t)(end - last));
    return 0;
#else
    (void)address; (void)nbytes;
    return -1;
#endif
}

/* Advice and a preference: where the system refuses them, nothing changes. */
static inline void tx_advise_huge_pages(void *address, size_t nbytes)
{
    (void)address; (void)nbytes;
#if defined(MADV_HUGEPAGE)
    madvise(address, nbytes, MADV_HUGEPAGE);
#endif
}

/* Prefer a NUMA node, 0 to 63, for whole pages; 1 is MPOL_PREFERRED of <linux/mempolicy.h>. */
static inline void tx_bind_to_node(void *address, size_t nbytes, int node)
{
#if defined(__linux__) && defined(SYS_mbind)
    unsigned long mask = 1UL << node;
    syscall(SYS_mbind, address, nbytes, 1, &mask, 8 * sizeof mask + 1, 0);
#else
    (void)address; (void)nbytes; (void)node;
#endif
}

#endif
#endif /* TENSIX_PAGES_H */
