/* SPDX-License-Identifier: MIT */
/* Prefetch hints for CPUs that run kernels natively; they do nothing elsewhere. PREFETCH_FOR_READ and _FOR_WRITE: what a tile needs soon,
 * into the first level. PREFETCH_STREAM: rows read or written once, into the second level. Few lines can be on their way to the first level
 * at a time, and that bounds a unit there. A line that nobody else holds may be written wherever it was read. Intel's CPU compiler is
 * recognised by its name; in its tiles the hints gain nothing. */
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
