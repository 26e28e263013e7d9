/* SPDX-License-Identifier: MIT */
/* Launches rotary positions. */
#include "kernel/rotary.h"

enum { GROUP = 32 };

clf_status clfi_rotary_launch(clf_context *context, const clf_view *x, const clf_view *positions, const clf_view *turns,
                              bool is_interleaved)
{
    const int64_t pairs = turns->dim[1], item_pairs = context->device.caps.is_cpu ? pairs : 1;
    clf_kernel_spec spec = clfi_kernel_spec("rotary.cl", "rotary");
    clfi_spec_int(&spec, "PAIRS", pairs);
    clfi_spec_int(&spec, "ITEM_PAIRS", item_pairs);
    clfi_spec_int(&spec, "IS_INTERLEAVED", is_interleaved);
    clfi_spec_int(&spec, "FINE", CLFI_ROTARY_FINE);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_view(&launch, x);
    clfi_arg_long(&launch, x->stride[0]);
    clfi_arg_long(&launch, x->stride[1]);
    clfi_arg_view(&launch, positions);
    clfi_arg_int(&launch, positions->stride[0]);
    clfi_arg_view(&launch, turns);
    clfi_arg_int(&launch, turns->dim[0] - CLFI_ROTARY_FINE);
    const size_t local = context->device.caps.is_cpu ? 1 : GROUP, items = (size_t)(pairs / item_pairs);
    clfi_launch_work(&launch, 4.0 * (double)clfi_view_count(x), 3.0 * sizeof(float) * (double)clfi_view_count(x));
    return clfi_launch_3d(&launch, (size_t[3]){(items + local - 1) / local, (size_t)x->dim[1], (size_t)x->dim[0]},
                          (size_t[3]){local, 1, 1});
}
