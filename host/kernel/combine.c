/* SPDX-License-Identifier: MIT */
/* Launches the product and the sum of two dense arrays, and the soft cap of one. */
#include "kernel/combine.h"

enum { CHUNK = 256, GROUP = 64 };

static clf_status combine(clf_context *context, bool is_sum, const clf_view *x, const clf_view *y)
{
    const clf_device_caps *caps = &context->device.caps;
    const int64_t width = caps->is_cpu ? caps->vector_width : 1, chunk = caps->is_cpu ? CHUNK : 1, count = clfi_view_count(y);
    const size_t local = caps->is_cpu ? 1 : GROUP;
    clf_kernel_spec spec = clfi_kernel_spec("combine.cl", "combine");
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_int(&spec, "CHUNK", chunk);
    clfi_spec_int(&spec, "IS_SUM", is_sum);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_long(&launch, count);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, y);
    const int64_t per_group = width * chunk * (int64_t)local;
    clfi_launch_work(&launch, (double)count, 3.0 * sizeof(float) * (double)count);
    return clfi_launch_1d(&launch, (size_t)((count + per_group - 1) / per_group), local);
}

clf_status clfi_multiply_launch(clf_context *context, const clf_view *x, const clf_view *y)
{
    return combine(context, false, x, y);
}

clf_status clfi_add_launch(clf_context *context, const clf_view *x, const clf_view *y)
{
    return combine(context, true, x, y);
}

clf_status clfi_soft_cap_launch(clf_context *context, float cap, const clf_view *y)
{
    const int64_t count = clfi_view_count(y);
    clf_kernel_spec spec = clfi_kernel_spec("soft_cap.cl", "soft_cap");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_long(&launch, count);
    clfi_arg_float(&launch, cap);
    clfi_arg_view(&launch, y);
    clfi_launch_work(&launch, 32.0 * (double)count, 2.0 * sizeof(float) * (double)count);
    return clfi_launch_1d(&launch, (size_t)(count + GROUP - 1) / GROUP, GROUP);
}
