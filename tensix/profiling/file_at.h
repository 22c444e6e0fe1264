/* Reading and writing at a position of a file, as a whole or not at all, without the GIL. */
#ifndef TENSIX_FILE_AT_H
#define TENSIX_FILE_AT_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#include <io.h>
static __inline int tx_write_at(int file, const void *data, size_t nbytes, uint64_t position)
{
    if (_lseeki64(file, (int64_t)position, 0) < 0) return -1;
    return _write(file, data, (unsigned)nbytes) == (int)nbytes ? 0 : -1;
}
static __inline int tx_read_at(int file, void *data, size_t nbytes, uint64_t position)
{
    if (_lseeki64(file, (int64_t)position, 0) < 0) return -1;
    return _read(file, data, (unsigned)nbytes) == (int)nbytes ? 0 : -1;
}
#else
#include <errno.h>
#include <unistd.h>
static inline int tx_write_at(int file, const void *data, size_t nbytes, uint64_t position)
{
    while (nbytes != 0) {
        ssize_t count = pwrite(file, data, nbytes, (off_t)position);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return -1;
        data = (const char *)data + count, nbytes -= (size_t)count, position += (uint64_t)count;
    }
    return 0;
}
static inline int tx_read_at(int file, void *data, size_t nbytes, uint64_t position)
{
    while (nbytes != 0) {
        ssize_t count = pread(file, data, nbytes, (off_t)position);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return -1;
        data = (char *)data + count, nbytes -= (size_t)count, position += (uint64_t)count;
    }
    return 0;
}
#endif

#endif /* TENSIX_FILE_AT_H */
