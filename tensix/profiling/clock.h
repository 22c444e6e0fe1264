/* Nanoseconds of a clock that only goes forward, for code that has no GIL to ask Python's. */
#ifndef TENSIX_CLOCK_H
#define TENSIX_CLOCK_H

#include <stdint.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
static __inline int64_t tx_now_ns(void)
{
    LARGE_INTEGER ticks, per_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    return ticks.QuadPart / per_second.QuadPart * 1000000000
        + ticks.QuadPart % per_second.QuadPart * 1000000000 / per_second.QuadPart;
}
#else
#include <time.h>
static inline int64_t tx_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif

#endif /* TENSIX_CLOCK_H */
