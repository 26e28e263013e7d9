/* SPDX-License-Identifier: MIT */
/* Launching the sums of weights. */
#include "kernel/exp_sum.h"

enum { GROUP = 64 };

clf_status clfi_exp_sum_launch(clf_context *context, const clf_view *x, const clf_view *scale, const clf_view *y)
{
    const int local = context->device.caps.is_cpu || context->device.caps.max_work_group_size < GROUP ? 1 : GROUP;
    clf_kernel_spec spec = clfi_kernel_spec("exp_sum.cl", "exp_sum");
    clfi_spec_int(&spec, "WG", local);
    clfi_spec_int(&spec, "HAS_SCALE", scale != NULL);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, x->dim[1]);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, scale ? scale : x); /* not read without a scale */
    clfi_arg_view(&launch, y);
    return clfi_launch_1d(&launch, (size_t)x->dim[0], (size_t)local);
}
