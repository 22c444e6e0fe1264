/* Reading and writing at a position of a file, without the GIL. */
#ifndef TENSIX_FILE_AT_H
#define TENSIX_FILE_AT_H

#include <stddef.h>
#include <stdint.h>

/* Write data to a file, or read it, and return whether that was done as a whole. */
#if defined(_WIN32)
#include <io.h>
static __inline int tx_copy_at(int file, void *data, size_t nbytes, uint64_t position, int writes)
{
    if (_lseeki64(file, (int64_t)position, 0) < 0) return 0;
    return (writes ? _write(file, data, (unsigned)nbytes) : _read(file, data, (unsigned)nbytes)) == (int)nbytes;
}
#else
#include <errno.h>
#include <unistd.h>
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
