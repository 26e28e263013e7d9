/* SPDX-License-Identifier: MIT */
/* Hints to the caches of processors that run kernels as their own code; nothing elsewhere. */
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define PREFETCH_FOR_READ(p) __builtin_prefetch((__private const void *)(uintptr_t)(p), 0)
#define PREFETCH_FOR_WRITE(p) __builtin_prefetch((__private const void *)(uintptr_t)(p), 1)
#else
#define PREFETCH_FOR_READ(p)
#define PREFETCH_FOR_WRITE(p)
#endif
