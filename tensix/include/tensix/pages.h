/* Pages straight from the operating system: our own regions, so that what is advised or bound there ends with
 * them and never sticks to the C library's heap. Where a system lacks a call, the function says so by failing.
 */
#ifndef TENSIX_PAGES_H
#define TENSIX_PAGES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static __inline void *tx_map_pages(size_t nbytes)
{
    return VirtualAlloc(NULL, nbytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static __inline void tx_unmap_pages(void *address, size_t nbytes)
{
    (void)nbytes;
    VirtualFree(address, 0, MEM_RELEASE);
}

/* Whether a few bytes, all in one region, can be read. */
static __inline int tx_can_read(const void *address, size_t nbytes)
{
    MEMORY_BASIC_INFORMATION info;
    return VirtualQuery(address, &info, sizeof info) != 0 && info.State == MEM_COMMIT &&
           !(info.Protect & (PAGE_NOACCESS | PAGE_GUARD)) &&
           (const char *)address + nbytes <= (const char *)info.BaseAddress + info.RegionSize;
}

static __inline int tx_advise_huge_pages(void *address, size_t nbytes) { (void)address; (void)nbytes; return -1; }
static __inline int tx_bind_to_node(void *address, size_t nbytes, int node)
{
    (void)address; (void)nbytes; (void)node;
    return -1;
}

#else

#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
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

/* Whether a few bytes can be read: the kernel tries, by writing them to a pipe, and says EFAULT if not. */
static inline int tx_can_read(const void *address, size_t nbytes)
{
    int ends[2], can_read;
    if (pipe(ends) != 0) return 0;
    can_read = write(ends[1], address, nbytes) == (ssize_t)nbytes;
    close(ends[0]);
    close(ends[1]);
    return can_read;
}

static inline int tx_advise_huge_pages(void *address, size_t nbytes)
{
#if defined(MADV_HUGEPAGE)
    return madvise(address, nbytes, MADV_HUGEPAGE);
#else
    (void)address; (void)nbytes;
    errno = ENOSYS;
    return -1;
#endif
}

/* Prefer a NUMA node for whole pages; 1 is MPOL_PREFERRED of <linux/mempolicy.h>. */
static inline int tx_bind_to_node(void *address, size_t nbytes, int node)
{
#if defined(__linux__) && defined(SYS_mbind)
    unsigned long mask;
    if (node < 0 || node >= (int)(8 * sizeof mask)) { errno = EINVAL; return -1; }
    mask = 1UL << node;
    return (int)syscall(SYS_mbind, address, nbytes, 1, &mask, 8 * sizeof mask + 1, 0);
#else
    (void)address; (void)nbytes; (void)node;
    errno = ENOSYS;
    return -1;
#endif
}

#endif
#endif /* TENSIX_PAGES_H */
