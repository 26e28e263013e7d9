/* SPDX-License-Identifier: MIT */
/* Merged axes: the fewest axes that describe the same walk over several operands at once, and their form as a kernel argument
 * (cl/shared/axes.cl). */
#ifndef CLFI_KERNEL_AXES_H
#define CLFI_KERNEL_AXES_H

#include "tensor/view.h"

enum { CLFI_AXES_OPERANDS = 8 };

typedef struct clf_axes {
    int count; /* at least 1 */
    int operands;
    int64_t dim[CLF_MAX_RANK];
    int64_t stride[CLFI_AXES_OPERANDS][CLF_MAX_RANK]; /* elements; all 0 for an operand that is absent */
} clf_axes;

/* Merges the axes first[o] .. first[o] + count of each views[o], up to 8 operands with equal sizes there; NULL: the operand is absent. Axes
 * of size 1 are dropped. Neighbours become one axis if every operand steps through them evenly. */
void clfi_axes_merge(const clf_view *const *views, const int *first, int operands, int count, clf_axes *out);

/* Product of the sizes. */
int64_t clfi_axes_size(const clf_axes *axes);

/* True for one axis along which the elements of every present operand (views[o] not NULL) are adjacent; false if an operand repeats one
 * element. */
bool clfi_axes_is_unit(const clf_axes *axes, const clf_view *const *views);

/* The struct of longs {dim[count], stride of operand 0 [count], ...} by value; type: what the kernel calls it. */
void clfi_arg_axes(clf_launch *launch, const char *type, const clf_axes *axes);

#endif
