/* SPDX-License-Identifier: MIT */
/* Instructions of this machine's processor that kernels use through inline assembly. Only OpenCL implementations that run kernels on the
 * processor itself can have them. */
#ifndef CLFI_RUNTIME_PROCESSOR_H
#define CLFI_RUNTIME_PROCESSOR_H

#include <stdbool.h>

#include "clformer/status.h"

/* Dot products of bytes, in vectors of `width` 32-bit words: AVX512-VNNI for 16, AVX2 for 8. */
bool clfi_processor_has_byte_dot(int width);

/* vdpbf16ps of AVX512-BF16. */
bool clfi_processor_has_bf16_dot(void);

/* Tiles of AMX, and tdpbf16ps. A process may use them after clfi_processor_permit_tiles. */
bool clfi_processor_has_bf16_tiles(void);

/* Asks the kernel of the operating system for the registers of AMX, once per process. It covers the threads that there are and those to
 * come. UNSUPPORTED: refused, or not Linux on x86-64; the reason says which. An instruction on tiles would end the process then. */
clf_status clfi_processor_permit_tiles(void);

#endif
