/* Memory that other processes can map: a file without a name, known by its descriptor. Where a system has none of the
 * calls, the functions fail with ENOSYS.
 */
#ifndef TENSIX_SHARED_MEMORY_H
#define TENSIX_SHARED_MEMORY_H

#include <errno.h>
#include <stddef.h>

#if defined(_WIN32)

static __inline int tx_shared_file(size_t nbytes) { (void)nbytes; errno = ENOSYS; return -1; }
static __inline void tx_close(int fd) { (void)fd; }
static __inline int tx_process_id(void) { return 0; }

#else

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

static inline void tx_close(int fd)
{
    int before = errno;
    close(fd);
    errno = before;
}

static inline int tx_process_id(void) { return (int)getpid(); }

/* Return the descriptor of a new file of zeros in memory, -1 if there is none. On Linux its size is sealed, since a process
 * that reads behind the end of a file that was cut is killed; 2, 1 and F_ADD_SEALS are of <linux/memfd.h> and <fcntl.h>.
 */
static inline int tx_shared_file(size_t nbytes)
{
    int fd;
#if defined(__linux__) && defined(SYS_memfd_create)
    fd = (int)syscall(SYS_memfd_create, "tensix", 1u | 2u);  /* MFD_CLOEXEC, MFD_ALLOW_SEALING */
#else
    char name[64];
    static int count = 0;
    snprintf(name, sizeof name, "/tensix-%d-%d", (int)getpid(), ++count);
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd >= 0) {
        shm_unlink(name);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
#endif
    if (fd >= 0 && ftruncate(fd, (off_t)nbytes) != 0) {
        tx_close(fd);
        return -1;
    }
#if defined(F_ADD_SEALS)
    if (fd >= 0) fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
#endif
    return fd;
}

#endif
#endif /* TENSIX_SHARED_MEMORY_H */
