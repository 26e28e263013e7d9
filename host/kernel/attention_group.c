/* SPDX-License-Identifier: MIT */
/* Launches attention_group.cl: GPUs, keys and values shared through local memory. */
#include "kernel/attention.h"

#include "kernel/loops.h"

enum { KEY_BLOCK = 32, SPLIT = 4, LARGEST_HEAD = 64 };

static size_t local_bytes(const clf_attention_call *call)
{
    const size_t d = (size_t)call->q->dim[2], dv = (size_t)call->v->dim[2];
    const size_t block = KEY_BLOCK * (d + dv), merge = (size_t)call->tile_queries * (dv + 3);
    return ((block > merge ? block : merge) + 3) * sizeof(float);
}

static int64_t iterations(const clf_attention_call *call)
{
    const int64_t d = call->q->dim[2], dv = call->v->dim[2], uniform = call->empty_rows == CLF_EMPTY_ROWS_UNIFORM ? dv : 0;
    return (call->max_keys + KEY_BLOCK) * (d / 4 + dv / 4 + 4 + uniform) / 2 + 16 * (d + dv);
}

bool clfi_attention_group_supports(const clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const clf_device_caps *caps = &context->device.caps;
    const int64_t d = call->q->dim[2], dv = call->v->dim[2];
    return d % 4 == 0 && dv % 4 == 0 && d <= LARGEST_HEAD && dv <= LARGEST_HEAD &&
           caps->max_work_group_size >= (size_t)call->tile_queries * SPLIT && caps->local_memory_bytes >= local_bytes(call) &&
           clfi_loops_fit(context, iterations(call));
}

clf_status clfi_attention_group_run(clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    clf_kernel_spec spec = clfi_kernel_spec("attention_group.cl", "attention_group");
    clfi_spec_dtype(&spec, "IN", call->q->dtype);
    clfi_spec_dtype(&spec, "OUT", call->out->dtype);
    clfi_spec_int(&spec, "TILE_Q", call->tile_queries);
    clfi_spec_int(&spec, "SPLIT", SPLIT);
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    return clfi_launch_2d(&launch, (size_t)call->tile_count, (size_t)call->q->dim[0], (size_t)call->tile_queries * SPLIT, 1);
}
