/* SPDX-License-Identifier: MIT */
/* Launches attention_group.cl for GPUs, which keeps products in registers and shares keys and values through local memory. */
#include "kernel/attention.h"

#include "kernel/loops.h"
#include "runtime/probe.h"

enum { LARGEST_HEAD = 256, FEWEST_QUERIES = 16, MOST_QUERIES = 64 };

/* How a work-group divides its queries, keys and columns among its items: the macros of attention_group.cl. */
typedef struct division {
    int items_q, items_k, row_vectors, key_vectors, column_vectors, key_halves, slice, part_keys, tile_parts;
    bool is_large; /* MANY_REGISTERS */
} division;

static int vectors(int64_t columns, int items)
{
    return (int)((columns + 4 * items - 1) / (4 * items));
}

/* An item holds at most 32 sums of results and 32 scores, which fit the registers of every GPU. On devices with more registers, items of
 * large tiles hold twice as many of each and so read local memory less often. For heads of up to 64 columns these items also divide the
 * keys of the second product. */
static division divide(const clf_context *context, const clf_attention_call *call)
{
    const int64_t dv = call->v->dim[2];
    const int tile = call->tile_queries;
    const bool has_masks = call->window > 0 || call->key_mask || call->keep;
    division by = {.slice = 16};
    by.items_q = tile < 32 || dv > 128 ? 4 : 8;
    by.items_k = dv > 128 ? 32 : tile < 32 || dv > 64 || (dv > 32 && tile == MOST_QUERIES) ? 16 : 8;
    /* Exponentials without a native instruction need additional registers, and so do biases together with masks. */
    const bool has_room = context->device.caps.many_registers && clfi_probe(context, CLFI_PROBE_NATIVE_EXP2);
    const bool is_two = tile == MOST_QUERIES && dv <= (has_room ? 128 : 64) && !(call->bias && has_masks);
    by.is_large = is_two && has_room;
    by.row_vectors = is_two ? 2 : 1;
    by.key_vectors = is_two ? (by.is_large ? 2 : 1) : dv <= 32 && by.items_k == 8 ? 2 : 1;
    by.key_halves = by.is_large && dv <= 64 ? 2 : 1;
    by.column_vectors = vectors(dv, by.items_k / by.key_halves);
    by.part_keys = dv > 128 ? 8 : by.key_halves == 2 ? 32 : 16;
    by.tile_parts = tile / (4 * by.items_q * by.row_vectors);
    return by;
}

static int key_block(const division *by)
{
    return 4 * by->items_k * by->key_vectors;
}

static int group_queries(const division *by)
{
    return 4 * by->items_q * by->row_vectors;
}

static size_t local_bytes(const clf_attention_call *call, const division *by)
{
    enum { PADDING = 4, WORDS = 2, OTHERS = 8 };
    const int queries = group_queries(by), keys = key_block(by), wide = 4 * by->items_k / by->key_halves * by->column_vectors;
    const int slice = by->slice * (queries + keys + 2 * PADDING), weights = by->part_keys * (queries + PADDING + wide);
    const int rows = (by->items_k + 2) * queries, biases = call->bias ? keys + queries : 0;
    const int halves = by->key_halves == 2 ? queries * wide : 0, most = slice > weights ? slice : weights;
    return (size_t)((most > halves ? most : halves) + rows + WORDS * keys + biases + OTHERS) * sizeof(float);
}

/* Loop iterations of a work-item. */
static int64_t iterations(const clf_attention_call *call, const division *by)
{
    const int64_t d = call->q->dim[2], uniform = call->empty_rows == CLF_EMPTY_ROWS_UNIFORM ? 1 : 0;
    const int64_t items = by->items_q * by->items_k, keys = key_block(by), parts = keys / by->part_keys;
    const int64_t wide = 4 * by->items_k / by->key_halves * by->column_vectors, results = 16 * by->row_vectors * by->column_vectors;
    const int64_t slice = by->slice / 4 + (group_queries(by) + keys) * by->slice / 4 / items + 3;
    const int64_t part = by->part_keys + by->part_keys * wide / 4 / items + 2;
    const int64_t block = (d + by->slice - 1) / by->slice * slice + parts * part + 3 * by->items_k;
    return (call->max_keys + keys) / keys * block + results * (1 + uniform * call->max_keys);
}

/* Rows of a block are found by offsets of 32 bits. */
static bool is_near(const clf_view *rows)
{
    return rows->stride[1] >= 0 && rows->stride[1] <= INT32_MAX / 128;
}

bool clfi_attention_group_supports(const clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const clf_device_caps *caps = &context->device.caps;
    const int64_t d = call->q->dim[2], dv = call->v->dim[2];
    if (d % 4 != 0 || dv % 4 != 0 || d > LARGEST_HEAD || dv > LARGEST_HEAD || call->tile_queries < FEWEST_QUERIES || !is_near(call->q) ||
        !is_near(call->k) || !is_near(call->v))
        return false;
    const division by = divide(context, call);
    return caps->max_work_group_size >= (size_t)(by.items_q * by.items_k) && caps->local_memory_bytes >= local_bytes(call, &by) &&
           clfi_loops_fit(context, iterations(call, &by));
}

static bool is_by_four(const clf_view *rows)
{
    return rows->dtype == CLF_F32 && rows->offset % 4 == 0 && rows->stride[0] % 4 == 0 && rows->stride[1] % 4 == 0;
}

clf_status clfi_attention_group_run(clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const division by = divide(context, call);
    clf_kernel_spec spec = clfi_kernel_spec("attention_group.cl", "attention_group");
    clfi_spec_dtype(&spec, "IN", call->q->dtype);
    clfi_spec_dtype(&spec, "OUT", call->out->dtype);
    clfi_spec_int(&spec, "WIDTH", 4);
    clfi_spec_int(&spec, "ITEMS_Q", by.items_q);
    clfi_spec_int(&spec, "ITEMS_K", by.items_k);
    clfi_spec_int(&spec, "ROW_VECTORS", by.row_vectors);
    clfi_spec_int(&spec, "KEY_VECTORS", by.key_vectors);
    clfi_spec_int(&spec, "COLUMN_VECTORS", by.column_vectors);
    clfi_spec_int(&spec, "KEY_HALVES", by.key_halves);
    clfi_spec_int(&spec, "MANY_REGISTERS", by.is_large);
    clfi_spec_int(&spec, "SLICE", by.slice);
    clfi_spec_int(&spec, "PART_KEYS", by.part_keys);
    clfi_spec_int(&spec, "HAS_NATIVE_EXP2", clfi_probe(context, CLFI_PROBE_NATIVE_EXP2));
    clfi_spec_int(&spec, "TILE_PARTS", by.tile_parts);
    clfi_spec_int(&spec, "IS_ALIGNED", is_by_four(call->q) && is_by_four(call->k) && is_by_four(call->v));
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    clfi_attention_work(&launch, call);
    return clfi_launch_2d(&launch, (size_t)call->tile_count * (size_t)by.tile_parts, (size_t)call->q->dim[0],
                          (size_t)(by.items_q * by.items_k), 1);
}
