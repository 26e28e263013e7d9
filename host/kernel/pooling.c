/* SPDX-License-Identifier: MIT */
/* Launches pooling. */
#include "kernel/pooling.h"

#include <limits.h>

#include "kernel/loops.h"

enum { GROUP_WG = 64, BLOCK = 32 /* tokens summed together */ };

bool clfi_pool_supports(const clf_context *context, const void *arguments)
{
    const clf_pool_args *args = arguments;
    const int64_t tokens = args->x->dim[0];
    return tokens <= INT_MAX && args->x->dim[1] <= INT_MAX - GROUP_WG && clfi_loops_fit(context, tokens + tokens / BLOCK + 1);
}

static clf_status run(clf_context *context, const clf_pool_args *args, int width, int wg)
{
    const int64_t columns = args->x->dim[1], per_group = (int64_t)width * wg;
    clf_kernel_spec spec = clfi_kernel_spec("pooling.cl", "pooling_columns");
    clfi_spec_dtype(&spec, "X", args->x->dtype);
    clfi_spec_dtype(&spec, "Y", args->y->dtype);
    clfi_spec_int(&spec, "BLOCK", BLOCK);
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_int(&spec, "WG", wg);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_view(&launch, args->x);
    clfi_arg_long(&launch, args->x->stride[0]);
    clfi_arg_long(&launch, args->x->dim[0]);
    clfi_arg_view(&launch, args->offsets);
    clfi_arg_view(&launch, args->y);
    clfi_arg_long(&launch, args->y->stride[0]);
    clfi_arg_int(&launch, columns);
    clfi_arg_int(&launch, args->skipped);
    clfi_arg_int(&launch, args->mode);
    clfi_launch_work(&launch, (double)clfi_view_count(args->x), sizeof(float) * (double)clfi_view_count(args->x));
    return clfi_launch_2d(&launch, (size_t)((columns + per_group - 1) / per_group), (size_t)args->y->dim[0], (size_t)wg, 1);
}

clf_status clfi_pool_vector(clf_context *context, const void *arguments)
{
    const clf_pool_args *args = arguments;
    int width = context->device.caps.vector_width;
    while (width > 1 && (args->x->dim[1] % width != 0 || width == 2))
        width /= 2;
    return run(context, args, width, 1);
}

clf_status clfi_pool_group(clf_context *context, const void *args)
{
    return run(context, args, 1, GROUP_WG);
}
