/* A variable of which every thread has its own; zero in a new thread. */
#ifndef TENSIX_THREAD_LOCAL_H
#define TENSIX_THREAD_LOCAL_H

#if defined(_MSC_VER) && !defined(__clang__)
#define TX_THREAD_LOCAL __declspec(thread)
#else
#define TX_THREAD_LOCAL _Thread_local
#endif

#endif /* TENSIX_THREAD_LOCAL_H */
