/* SPDX-License-Identifier: MIT */
/* Lists the matrix units that kernels can use, of GPUs (cl/gpu/matrix_unit.cl) and of CPUs (cl/cpu/bf16_unit.cl), and finds which of them a
 * GPU has. */
#ifndef CLFI_RUNTIME_MATRIX_UNIT_H
#define CLFI_RUNTIME_MATRIX_UNIT_H

#include <stdbool.h>

#include "runtime/kernel_spec.h"

/* id, lanes of a wave (1: a CPU's unit), name, whether its numbers are float16 (else bfloat16), whether a product was verified. It
 * was on hardware; AMX's machine code was verified by a test that computes each of its instructions (tests/op/amx_trap.c). */
#define CLFI_MATRIX_UNIT_MAP(X)                                    \
    X(NVIDIA_F16, 32, "NVIDIA mma float16", true, true)            \
    X(NVIDIA_BF16, 32, "NVIDIA mma bfloat16", false, true)         \
    X(AMD_GFX11, 32, "AMD RDNA 3 wmma bfloat16", false, false)     \
    X(AMD_GFX12, 32, "AMD RDNA 4 wmma bfloat16", false, false)     \
    X(AMD_CDNA, 64, "AMD CDNA mfma bfloat16", false, false)        \
    X(INTEL_16, 16, "Intel dpas bfloat16, 16 lanes", false, false) \
    X(INTEL_8, 8, "Intel dpas bfloat16, 8 lanes", false, false)    \
    X(X86_AMX, 1, "AMX bfloat16", false, true)                     \
    X(X86_BF16, 1, "AVX512-BF16", false, true)

typedef enum clf_matrix_unit {
    CLFI_MATRIX_NONE,
#define X(id, lanes, name, is_f16, is_verified) CLFI_MATRIX_##id,
    CLFI_MATRIX_UNIT_MAP(X)
#undef X
        CLFI_MATRIX_COUNT
} clf_matrix_unit;

typedef struct clf_matrix_unit_info {
    const char *macro; /* UNIT of the kernels */
    int lanes;
    const char *name; /* for users */
    bool is_f16, is_verified;
} clf_matrix_unit_info;

/* Static storage; the row of NONE is empty. */
const clf_matrix_unit_info *clfi_matrix_unit_info(clf_matrix_unit unit);

/* Whether it is a unit of CPUs. */
bool clfi_matrix_unit_is_cpu(clf_matrix_unit unit);

/* The unit with that macro name ("AMD_CDNA"); NONE: there is no such unit. */
clf_matrix_unit clfi_matrix_unit_from_name(const char *macro);

/* Adds the macros UNIT and IS_EMULATED. Kernels of an emulated unit are only for tests, and are compiled without optimisation. */
void clfi_spec_matrix_unit(clf_kernel_spec *spec, clf_matrix_unit unit, bool is_emulated);

/* Signs by which a device's unit is recognised. */
typedef struct clf_matrix_unit_signs {
    const char *platform, *device, *extensions;
    unsigned nvidia_major, nvidia_minor; /* compute capability (cl_nv_device_attribute_query); 0: not reported */
    unsigned least_subgroup;             /* smallest of CL_DEVICE_SUB_GROUP_SIZES_INTEL; 0: not reported */
} clf_matrix_unit_signs;

/* Returns the GPU's unit, or NONE. Units are recognised only under drivers whose compilers know the unit's instruction. */
clf_matrix_unit clfi_matrix_unit_of(const clf_matrix_unit_signs *signs);

#endif
