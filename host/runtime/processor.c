/* SPDX-License-Identifier: MIT */
/* Finds instructions by CPUID. Documentation: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A (CPUID, leaf 7), and
 * Linux's Documentation/arch/x86/xstate.rst for the permission. */
#include "runtime/processor.h"

#include <pthread.h>
#include <string.h>

#include "base/status.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#define IS_X86_64 1
#else
#define IS_X86_64 0
#endif
#if IS_X86_64 && defined(__linux__)
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HAS_PERMISSION 1
#else
#define HAS_PERMISSION 0
#endif

#if IS_X86_64
enum { AVX512_BF16 = 1u << 5 /* leaf 7.1, eax */, AMX_BF16 = 1u << 22, AMX_TILE = 1u << 24 /* leaf 7.0, edx */ };
#endif

bool clfi_processor_has_byte_dot(int width)
{
#if IS_X86_64
    return width == 16 ? __builtin_cpu_supports("avx512vnni") : width == 8 && __builtin_cpu_supports("avx2");
#else
    (void)width;
    return false;
#endif
}

bool clfi_processor_has_bf16_dot(void)
{
#if IS_X86_64
    unsigned eax, ebx, ecx, edx;
    return __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & AVX512_BF16);
#else
    return false;
#endif
}

bool clfi_processor_has_bf16_tiles(void)
{
#if IS_X86_64
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & AMX_BF16) && (edx & AMX_TILE);
#else
    return false;
#endif
}

#if HAS_PERMISSION
static int refusal; /* errno of the only request; 0: permitted */

static void ask_once(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILE_DATA = 18 };
    refusal = syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA) == 0 ? 0 : errno;
}
#endif

clf_status clfi_processor_permit_tiles(void)
{
#if HAS_PERMISSION
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_once);
    if (refusal)
        CLF_FAIL(CLF_UNSUPPORTED, "the operating system does not permit AMX: arch_prctl: %s", strerror(refusal));
    return CLF_OK;
#else
    CLF_FAIL(CLF_UNSUPPORTED, "AMX can be asked for on Linux alone");
#endif
}
