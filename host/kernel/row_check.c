/* SPDX-License-Identifier: MIT */
/* Launches the check of rows for numbers that are not finite or not zero. */
#include "kernel/row_check.h"

enum { GROUP = 64 };

clf_status clfi_row_check_launch(clf_context *context, const clf_view *x, const clf_view *flags)
{
    const size_t rows = (size_t)x->dim[0], local = context->device.caps.is_cpu ? 1 : GROUP;
    clf_kernel_spec spec = clfi_kernel_spec("row_check.cl", "row_check");
    clfi_spec_int(&spec, "FLAG_NOT_FINITE", CLFI_ROW_NOT_FINITE);
    clfi_spec_int(&spec, "FLAG_NOT_ZERO", CLFI_ROW_NOT_ZERO);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_long(&launch, x->dim[0]);
    clfi_arg_int(&launch, x->dim[1]);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, flags);
    clfi_launch_work(&launch, 0, sizeof(float) * (double)clfi_view_count(x));
    return clfi_launch_1d(&launch, (rows + local - 1) / local, local);
}
