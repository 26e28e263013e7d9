/* SPDX-License-Identifier: MIT */
/* Launches log-softmax. */
#include "kernel/log_softmax.h"

#include <limits.h>

#include "kernel/loops.h"

enum { GROUP_WG = 64 };

static void set_arguments(clf_launch *launch, const clf_log_softmax_args *args)
{
    clfi_arg_view(launch, args->x);
    clfi_arg_view(launch, args->shift ? args->shift : args->x); /* a dummy if there is no shift: the kernel does not read it */
    clfi_arg_view(launch, args->y);
    clfi_arg_long(launch, args->x->dim[0]);
    clfi_arg_int(launch, args->x->dim[1]);
}

static int64_t row_iterations(const clf_context *context, const clf_log_softmax_args *args)
{
    const int width = context->device.caps.vector_width;
    return 3 * (args->x->dim[1] / width) + 5 * width;
}

static void state_work(clf_launch *launch, const clf_log_softmax_args *args)
{
    const double elements = (double)clfi_view_count(args->x);
    clfi_launch_work(launch, 10 * elements, 4 * sizeof(float) * elements);
}

bool clfi_log_softmax_vector_supports(const clf_context *context, const void *arguments)
{
    const clf_log_softmax_args *args = arguments;
    return args->x->dim[1] <= INT_MAX - 64 && clfi_loops_fit(context, row_iterations(context, args));
}

clf_status clfi_log_softmax_vector(clf_context *context, const void *arguments)
{
    const clf_log_softmax_args *args = arguments;
    const int64_t rows = args->x->dim[0];
    const int64_t per_item = clfi_rows_per_item(context, rows, row_iterations(context, args));
    clf_kernel_spec spec = clfi_kernel_spec("log_softmax_vector.cl", "log_softmax_vector");
    clfi_spec_int(&spec, "HAS_SHIFT", args->shift != NULL);
    clfi_spec_int(&spec, "WIDTH", context->device.caps.vector_width);
    clf_launch launch = clfi_launch(context, &spec);
    set_arguments(&launch, args);
    clfi_arg_int(&launch, per_item);
    state_work(&launch, args);
    return clfi_launch_1d(&launch, (size_t)((rows + per_item - 1) / per_item), 1);
}

bool clfi_log_softmax_group_supports(const clf_context *context, const void *arguments)
{
    const clf_log_softmax_args *args = arguments;
    return args->x->dim[1] <= INT_MAX - GROUP_WG && context->device.caps.max_work_group_size >= GROUP_WG &&
           clfi_loops_fit(context, 3 * (args->x->dim[1] / GROUP_WG + 1));
}

clf_status clfi_log_softmax_group(clf_context *context, const void *arguments)
{
    const clf_log_softmax_args *args = arguments;
    const int lanes = args->x->dim[1] <= 16 ? 16 : GROUP_WG;
    const int64_t per_group = GROUP_WG / lanes;
    clf_kernel_spec spec = clfi_kernel_spec("log_softmax_group.cl", "log_softmax_group");
    clfi_spec_int(&spec, "HAS_SHIFT", args->shift != NULL);
    clfi_spec_int(&spec, "WG", GROUP_WG);
    clfi_spec_int(&spec, "LANES", lanes);
    clf_launch launch = clfi_launch(context, &spec);
    set_arguments(&launch, args);
    state_work(&launch, args);
    return clfi_launch_1d(&launch, (size_t)((args->x->dim[0] + per_group - 1) / per_group), GROUP_WG);
}
