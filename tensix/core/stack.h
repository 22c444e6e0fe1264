/* Whether the stack of this thread has space for a call of Python code, which may come back to where it was called. */
#ifndef TENSIX_STACK_H
#define TENSIX_STACK_H

#include <Python.h>
#include <stdint.h>

#include "tensix/core/thread_local.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#endif

/* The lowest address of the stack, and how many bytes from there on are kept free; 0 where that cannot be found out.
   Python counts calls, and ours have frames of several KiB: its limit may come too late. */
static TX_THREAD_LOCAL uintptr_t tx_stack_base = 0;
static TX_THREAD_LOCAL size_t tx_stack_reserve = 0;

static inline void tx_find_stack(void)
{
    size_t size = 0;
    tx_stack_base = 1; /* known */
#if defined(_WIN32)
    ULONG_PTR low = 0, high = 0;
    GetCurrentThreadStackLimits(&low, &high);
    tx_stack_base = (uintptr_t)low;
    size = (size_t)(high - low);
#elif defined(__APPLE__)
    size = pthread_get_stacksize_np(pthread_self());
    tx_stack_base = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size;
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *base = NULL;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &base, &size) == 0)
        tx_stack_base = (uintptr_t)base;
    else
        size = 0;
    pthread_attr_destroy(&attributes);
#endif
    tx_stack_reserve = size / 8;
}

/* Return 0; -1 with a RecursionError if the stack is nearly used up. On a stack of another kind nothing is checked. */
static inline int tx_check_stack(const char *what)
{
    char here;
    if (tx_stack_base == 0)
        tx_find_stack();
    if ((size_t)((uintptr_t)(void *)&here - tx_stack_base) >= tx_stack_reserve)
        return 0;
    PyErr_Format(PyExc_RecursionError, "the stack of this thread is nearly full: %s calls itself.", what);
    return -1;
}

#endif
