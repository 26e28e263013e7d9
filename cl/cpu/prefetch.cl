/* SPDX-License-Identifier: MIT */
/* Prefetch hints for CPUs that run kernels natively; they do nothing elsewhere. PREFETCH_FOR_READ and PREFETCH_FOR_WRITE fetch data that a
 * tile needs soon into the first-level cache. PREFETCH_STREAM fetches rows that are read or written once into the second-level cache,
 * because only few lines can be on their way to the first level at a time. It serves writes as well: a line that no other core holds is
 * fetched writable. Intel's CPU compiler gets PREFETCH_STREAM alone, because the other hints gain nothing in its tiles. */
#define PREFETCH_ADDRESS(p) ((__private const void *)(uintptr_t)(p))
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define PREFETCH_FOR_READ(p) __builtin_prefetch(PREFETCH_ADDRESS(p), 0)
#define PREFETCH_FOR_WRITE(p) __builtin_prefetch(PREFETCH_ADDRESS(p), 1)
#else
#define PREFETCH_FOR_READ(p)
#define PREFETCH_FOR_WRITE(p)
#endif
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__INTEL_LLVM_COMPILER))
#define PREFETCH_STREAM(p) __builtin_prefetch(PREFETCH_ADDRESS(p), 0, 2)
#else
#define PREFETCH_STREAM(p)
#endif
