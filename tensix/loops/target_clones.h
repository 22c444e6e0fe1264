/* What loops tell the compiler. A function of TX_TARGET_CLONES is compiled once per instruction set; the loader takes
 * the best that the processor has. TX_NARROW_CLONES leaves out AVX-512, for loops that wait for memory: its 64 bytes gain
 * nothing there, and what is left over at the end of a row is more. Of a loop behind TX_INDEPENDENT no step reads what
 * another one writes. One behind TX_UNROLLED takes four steps at a time: short loops that lie across a cache line run at
 * half their speed.
 */
#ifndef TENSIX_TARGET_CLONES_H
#define TENSIX_TARGET_CLONES_H

#include <limits.h> /* any header of the C library says which one it is */

/* The clones are chosen by symbols of kind IFUNC, which need x86-64, ELF and a C library that knows them. Elsewhere
   there is one version, for the instruction set that the compiler was told; ARM64 has its vectors in all of them. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define TX_NARROW_CLONES __attribute__((target_clones("avx2", "default")))
#if defined(__clang__) && __clang_major__ < 16 /* 14 fails with an internal error at some loops for AVX-512 */
#define TX_TARGET_CLONES TX_NARROW_CLONES
#else
#define TX_TARGET_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#endif
#ifndef TX_TARGET_CLONES
#define TX_NARROW_CLONES
#define TX_TARGET_CLONES
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop may be vectorised, and need not be */
#define TX_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define TX_UNROLLED _Pragma("clang loop unroll_count(4)")
#elif defined(__GNUC__)
#define TX_INDEPENDENT _Pragma("GCC ivdep")
#define TX_UNROLLED _Pragma("GCC unroll 4")
#elif defined(_MSC_VER)
#define TX_INDEPENDENT __pragma(loop(ivdep))
#else
#define TX_INDEPENDENT
#endif
#ifndef TX_UNROLLED
#define TX_UNROLLED
#endif

#endif
