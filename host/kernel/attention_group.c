/* SPDX-License-Identifier: MIT */
/* Launches attention_group.cl: GPUs, keys and values shared through local memory. */
#include "kernel/attention.h"

#include "kernel/loops.h"

enum { ITEMS = 4, WIDEST_PART = 32, LARGEST_HEAD = WIDEST_PART * ITEMS }; /* ITEMS: work-items of a query */

/* How the items of a query share its columns and keys. */
typedef struct division {
    int column_parts, split, key_block;
} division;

/* No item holds more than WIDEST_PART columns of q and of v: 64 registers, and as many again are left on every GPU. */
static division divide(const clf_attention_call *call)
{
    const int64_t d = call->q->dim[2], dv = call->v->dim[2], widest = d > dv ? d : dv;
    const int parts = widest <= WIDEST_PART ? 1 : widest <= 2 * WIDEST_PART ? 2 : ITEMS;
    return (division){parts, ITEMS / parts, parts > 1 ? 16 : 32};
}

static size_t local_bytes(const clf_attention_call *call, const division *by)
{
    const size_t d = (size_t)call->q->dim[2], dv = (size_t)call->v->dim[2], tile = (size_t)call->tile_queries;
    const size_t block = (size_t)by->key_block * (d + dv), merge = tile * (dv + 3);
    const size_t shares = by->column_parts > 1 ? (size_t)(by->column_parts * by->key_block) * tile : 0;
    const size_t biases = call->bias ? (size_t)by->key_block + tile : 0;
    return ((block > merge ? block : merge) + shares + biases + 3) * sizeof(float);
}

static int64_t iterations(const clf_attention_call *call)
{
    enum { KEY_BLOCK = 32 };
    const int64_t d = call->q->dim[2], dv = call->v->dim[2], uniform = call->empty_rows == CLF_EMPTY_ROWS_UNIFORM ? dv : 0;
    return (call->max_keys + KEY_BLOCK) * (d / 4 + dv / 4 + 4 + uniform) / 2 + 16 * (d + dv);
}

bool clfi_attention_group_supports(const clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const clf_device_caps *caps = &context->device.caps;
    const division by = divide(call);
    const int64_t d = call->q->dim[2], dv = call->v->dim[2], unit = 4 * by.column_parts;
    return d % unit == 0 && dv % unit == 0 && d <= LARGEST_HEAD && dv <= LARGEST_HEAD &&
           caps->max_work_group_size >= (size_t)call->tile_queries * ITEMS && caps->local_memory_bytes >= local_bytes(call, &by) &&
           clfi_loops_fit(context, iterations(call));
}

clf_status clfi_attention_group_run(clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const division by = divide(call);
    clf_kernel_spec spec = clfi_kernel_spec("attention_group.cl", "attention_group");
    clfi_spec_dtype(&spec, "IN", call->q->dtype);
    clfi_spec_dtype(&spec, "OUT", call->out->dtype);
    clfi_spec_int(&spec, "TILE_Q", call->tile_queries);
    clfi_spec_int(&spec, "SPLIT", by.split);
    clfi_spec_int(&spec, "COLUMN_PARTS", by.column_parts);
    clfi_spec_int(&spec, "KEY_BLOCK", by.key_block);
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    return clfi_launch_2d(&launch, (size_t)call->tile_count, (size_t)call->q->dim[0], (size_t)call->tile_queries * ITEMS, 1);
}
