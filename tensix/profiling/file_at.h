/* Reading and writing at a position of a file, without the GIL, by a descriptor that the program may close. */
#ifndef TENSIX_FILE_AT_H
#define TENSIX_FILE_AT_H

#include <stddef.h>
#include <stdint.h>

/* Tell which file a descriptor is of, and write data to it, or read it; return whether that was done as a whole. */
#if defined(_WIN32)
#include <io.h>
#define tx_close _close
static __inline int tx_identify(int file, uint64_t identity[3])
{
    identity[0] = identity[1] = identity[2] = 0;
    return 1;
}
static __inline int tx_copy_at(int file, void *data, size_t nbytes, uint64_t position, int writes)
{
    if (_lseeki64(file, (int64_t)position, 0) < 0) return 0;
    return (writes ? _write(file, data, (unsigned)nbytes) : _read(file, data, (unsigned)nbytes)) == (int)nbytes;
}
#else
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#define tx_close close
static inline int tx_identify(int file, uint64_t identity[3])
{
    struct stat facts;
    if (fstat(file, &facts) != 0) return 0;
    identity[0] = (uint64_t)facts.st_dev, identity[1] = (uint64_t)facts.st_ino;
    identity[2] = (uint64_t)facts.st_nlink; /* a new file may have the number of one that had no name and was closed */
    return 1;
}
static inline int tx_copy_at(int file, void *data, size_t nbytes, uint64_t position, int writes)
{
    while (nbytes != 0) {
        ssize_t count = writes ? pwrite(file, data, nbytes, (off_t)position) : pread(file, data, nbytes, (off_t)position);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        data = (char *)data + count, nbytes -= (size_t)count, position += (uint64_t)count;
    }
    return 1;
}
#endif

#endif /* TENSIX_FILE_AT_H */
