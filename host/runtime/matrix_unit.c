/* SPDX-License-Identifier: MIT */
/* Holds the table of matrix units, and recognises a device's unit. */
#include "runtime/matrix_unit.h"

#include <string.h>

static const clf_matrix_unit_info units[CLFI_MATRIX_COUNT] = {
#define X(id, lanes, name, is_f16, is_verified) [CLFI_MATRIX_##id] = {#id, lanes, name, is_f16, is_verified},
    CLFI_MATRIX_UNIT_MAP(X)
#undef X
};

const clf_matrix_unit_info *clfi_matrix_unit_info(clf_matrix_unit unit)
{
    return &units[unit];
}

clf_matrix_unit clfi_matrix_unit_from_name(const char *macro)
{
    for (int i = CLFI_MATRIX_NONE + 1; i < CLFI_MATRIX_COUNT; i++)
        if (strcmp(units[i].macro, macro) == 0)
            return (clf_matrix_unit)i;
    return CLFI_MATRIX_NONE;
}

bool clfi_matrix_unit_is_cpu(clf_matrix_unit unit)
{
    return units[unit].lanes == 1;
}

void clfi_spec_matrix_unit(clf_kernel_spec *spec, clf_matrix_unit unit, bool is_emulated)
{
    clfi_spec_text(spec, "UNIT", units[unit].macro);
    clfi_spec_int(spec, "IS_EMULATED", is_emulated);
    if (is_emulated)
        clfi_spec_unoptimised(spec);
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

clf_matrix_unit clfi_matrix_unit_of(const clf_matrix_unit_signs *signs)
{
    if (strcmp(signs->platform, "NVIDIA CUDA") == 0)
        return signs->nvidia_major >= 8                               ? CLFI_MATRIX_NVIDIA_BF16
               : signs->nvidia_major == 7 && signs->nvidia_minor >= 5 ? CLFI_MATRIX_NVIDIA_F16
                                                                      : CLFI_MATRIX_NONE;
    if (strcmp(signs->platform, "AMD Accelerated Parallel Processing") == 0)
        return begins_with(signs->device, "gfx11")                                            ? CLFI_MATRIX_AMD_GFX11
               : begins_with(signs->device, "gfx12")                                          ? CLFI_MATRIX_AMD_GFX12
               : begins_with(signs->device, "gfx90a") || begins_with(signs->device, "gfx942") ? CLFI_MATRIX_AMD_CDNA
                                                                                              : CLFI_MATRIX_NONE;
    if (strstr(signs->platform, "Intel") && strstr(signs->extensions, "cl_intel_subgroup_matrix_multiply_accumulate"))
        return signs->least_subgroup == 8 ? CLFI_MATRIX_INTEL_8 : signs->least_subgroup == 16 ? CLFI_MATRIX_INTEL_16 : CLFI_MATRIX_NONE;
    return CLFI_MATRIX_NONE;
}
