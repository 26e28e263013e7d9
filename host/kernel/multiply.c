/* SPDX-License-Identifier: MIT */
/* Launching the product of two dense arrays. */
#include "kernel/multiply.h"

enum { CHUNK = 256, GROUP = 64 };

clf_status clfi_multiply_launch(clf_context *context, const clf_view *x, const clf_view *y)
{
    const clf_device_caps *caps = &context->device.caps;
    const int64_t width = caps->is_cpu ? caps->vector_width : 1, chunk = caps->is_cpu ? CHUNK : 1, count = clfi_view_count(y);
    const size_t local = caps->is_cpu ? 1 : GROUP;
    clf_kernel_spec spec = clfi_kernel_spec("multiply.cl", "multiply");
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_int(&spec, "CHUNK", chunk);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_long(&launch, count);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, y);
    const int64_t per_group = width * chunk * (int64_t)local;
    return clfi_launch_1d(&launch, (size_t)((count + per_group - 1) / per_group), local);
}
