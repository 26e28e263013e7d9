/* SPDX-License-Identifier: MIT */
/* Merges the axes of several strided operands. */
#include "kernel/axes.h"

void clfi_axes_merge(const clf_view *const *views, const int *first, int operands, int count, clf_axes *out)
{
    *out = (clf_axes){.operands = operands};
    int shape = 0; /* an operand that is there */
    while (!views[shape])
        shape++;
    for (int i = 0; i < count; i++) {
        const int64_t size = views[shape]->dim[first[shape] + i];
        if (size == 1)
            continue;
        int64_t step[CLFI_AXES_OPERANDS];
        bool is_even = out->count > 0;
        for (int o = 0; o < operands; o++) {
            step[o] = views[o] ? views[o]->stride[first[o] + i] : 0;
            is_even = is_even && out->stride[o][out->count - 1] == step[o] * size;
        }
        const int axis = is_even ? out->count - 1 : out->count++;
        out->dim[axis] = is_even ? out->dim[axis] * size : size;
        for (int o = 0; o < operands; o++)
            out->stride[o][axis] = step[o];
    }
    if (out->count == 0) { /* a single element */
        out->count = 1;
        out->dim[0] = 1;
        for (int o = 0; o < operands; o++)
            out->stride[o][0] = views[o] ? 1 : 0;
    }
}

int64_t clfi_axes_size(const clf_axes *axes)
{
    int64_t size = 1;
    for (int i = 0; i < axes->count; i++)
        size *= axes->dim[i];
    return size;
}

bool clfi_axes_is_unit(const clf_axes *axes, const clf_view *const *views)
{
    bool is_unit = axes->count == 1;
    for (int o = 0; o < axes->operands; o++)
        is_unit = is_unit && (!views[o] || axes->stride[o][0] == 1);
    return is_unit;
}

void clfi_arg_axes(clf_launch *launch, const char *type, const clf_axes *axes)
{
    cl_long packed[(1 + CLFI_AXES_OPERANDS) * CLF_MAX_RANK];
    size_t count = 0;
    for (int i = 0; i < axes->count; i++)
        packed[count++] = axes->dim[i];
    for (int o = 0; o < axes->operands; o++)
        for (int i = 0; i < axes->count; i++)
            packed[count++] = axes->stride[o][i];
    clfi_arg_struct(launch, type, packed, count * sizeof packed[0]);
}
