/* SPDX-License-Identifier: MIT */
/* Launches the sums of exponentials of rows. */
#include "kernel/exp_sum.h"

/* Work-items that share a row. They are many, because rows are as long as a vocabulary and few run at a time. */
static int group_of(const clf_device_caps *caps)
{
    enum { LARGE = 1024, MEDIUM = 256, SMALL = 64 };
    const size_t most = caps->max_work_group_size;
    return caps->is_cpu || most < SMALL ? 1 : most >= LARGE ? LARGE : most >= MEDIUM ? MEDIUM : SMALL;
}

clf_status clfi_exp_sum_launch(clf_context *context, const clf_view *x, const clf_view *scale, const clf_view *y)
{
    const int local = group_of(&context->device.caps);
    clf_kernel_spec spec = clfi_kernel_spec("exp_sum.cl", "exp_sum");
    clfi_spec_int(&spec, "WG", local);
    clfi_spec_int(&spec, "HAS_SCALE", scale != NULL);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, x->dim[1]);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, scale ? scale : x); /* not read without a scale */
    clfi_arg_view(&launch, y);
    clfi_launch_work(&launch, 10.0 * (double)clfi_view_count(x), 2.0 * sizeof(float) * (double)clfi_view_count(x));
    return clfi_launch_1d(&launch, (size_t)x->dim[0], (size_t)local);
}
