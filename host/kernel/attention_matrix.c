/* SPDX-License-Identifier: MIT */
/* Launches attention_matrix.cl, which computes both products of fused attention on a GPU's matrix unit. Operands are numbers of 16 bits
 * (`matrix`) or sums of two such numbers (`matrix_split`). */
#include <string.h>

#include "kernel/attention.h"
#include "kernel/loops.h"
#include "runtime/matrix_unit.h"
#include "runtime/probe.h"

enum { SIDE = 16, LARGEST_HEAD = 256, SLICE = 32, MOST_WAVES = 8, SCRATCH_BYTES = 1024 /* per emulated wave */, PADDING = 4 };

/* How a work-group divides its queries, keys and columns: macros of attention_matrix.cl. waves_m 0: the device can run none. */
typedef struct matrix_division {
    int waves_m, waves_n, numbers, key_block, part_keys;
} matrix_division;

static int ceil_div(int64_t a, int64_t b)
{
    return (int)((a + b - 1) / b);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int lanes_of(const clf_context *context)
{
    return clfi_matrix_unit_info(context->device.caps.matrix_unit)->lanes;
}

/* Blocks of v's columns per wave. */
static int column_blocks(const clf_attention_call *call, const matrix_division *by)
{
    return ceil_div(call->v->dim[2], SIDE * by->waves_n);
}

static bool is_nvidia(clf_matrix_unit unit)
{
    return unit == CLFI_MATRIX_NVIDIA_F16 || unit == CLFI_MATRIX_NVIDIA_BF16;
}

/* Items of the group that share a row: SHARES of attention_matrix.cl. With NVIDIA's units and narrow ones, an item has two rows. */
static int row_items(const clf_context *context, const matrix_division *by)
{
    const bool has_two = is_nvidia(context->device.caps.matrix_unit) || lanes_of(context) < SIDE;
    return by->waves_n * lanes_of(context) / (has_two ? SIDE / 2 : SIDE);
}

/* The fewest waves along the columns with which a lane's results fit its registers: with these limits no vendor's compiler spills. */
static int choose_waves_n(const clf_context *context, const clf_attention_call *call)
{
    const clf_matrix_unit unit = context->device.caps.matrix_unit;
    const int values = SIDE * SIDE / lanes_of(context), most = unit == CLFI_MATRIX_NVIDIA_BF16 || unit == CLFI_MATRIX_AMD_CDNA ? 64 : 32;
    matrix_division by = {.waves_n = 1};
    while (by.waves_n < MOST_WAVES && column_blocks(call, &by) * values > most)
        by.waves_n *= 2;
    return by.waves_n;
}

static size_t local_bytes(const clf_context *context, const clf_attention_call *call, const matrix_division *by)
{
    const int queries = SIDE * by->waves_m, keys = by->key_block, bytes = 2 * by->numbers;
    const int deep = ceil_div(call->q->dim[2], SLICE) * SLICE, wide = SIDE * by->waves_n * column_blocks(call, by);
    const int operands = queries * deep + larger(keys * SLICE, wide * by->part_keys) + queries * keys;
    const int floats = queries * (keys + PADDING) + queries * (row_items(context, by) + 1);
    const int scratch = context->device.caps.emulates_matrix_unit ? by->waves_m * by->waves_n * SCRATCH_BYTES : 0;
    return (size_t)(operands * bytes + scratch) + (size_t)floats * sizeof(float);
}

/* Chooses the most queries per group that fit, then the most keys per block. With two numbers per operand, which take twice the registers,
 * a block has the fewest keys. */
static matrix_division divide(const clf_context *context, const clf_attention_call *call, int numbers)
{
    enum { MOST_KEYS = 64, MOST_EMULATED = 2, SMALLEST_PART = 16 };
    const clf_device_caps *caps = &context->device.caps;
    matrix_division by = {.waves_n = choose_waves_n(context, call), .numbers = numbers};
    const int share = is_nvidia(caps->matrix_unit) ? 4 : 8; /* an item reads its keys of a block in steps of this many */
    const int least_keys = larger(larger(SLICE, SIDE * by.waves_n), share * row_items(context, &by));
    by.waves_m = call->tile_queries / SIDE;
    if (caps->emulates_matrix_unit && by.waves_m > MOST_EMULATED)
        by.waves_m = MOST_EMULATED;
    for (; by.waves_m > 0; by.waves_m /= 2) {
        if ((size_t)(by.waves_m * by.waves_n * lanes_of(context)) > caps->max_work_group_size)
            continue;
        for (by.key_block = numbers == 2 ? least_keys : larger(MOST_KEYS, least_keys); by.key_block >= least_keys; by.key_block /= 2)
            for (by.part_keys = 2 * SMALLEST_PART; by.part_keys >= SMALLEST_PART; by.part_keys /= 2)
                if (local_bytes(context, call, &by) <= caps->local_memory_bytes)
                    return by;
    }
    return by;
}

/* Rows of a block are found by offsets of 32 bits. */
static bool is_near(const clf_view *rows)
{
    return rows->stride[1] >= 0 && rows->stride[1] <= INT32_MAX / 256;
}

/* Loop iterations of a work-item, at most. */
static int64_t iterations(const clf_context *context, const clf_attention_call *call, const matrix_division *by)
{
    const int64_t items = (int64_t)by->waves_m * by->waves_n * lanes_of(context), wide = SIDE * by->waves_n * column_blocks(call, by);
    const int64_t deep = call->q->dim[2] + SLICE, block = by->key_block * (deep + wide) / items + 4 * deep + wide + by->key_block;
    return (call->max_keys / by->key_block + 1) * block + wide * (1 + call->max_keys);
}

/* No hardware has run these products yet, so the engines run only if they are forced by name. */
static bool supports(const clf_context *context, const clf_attention_call *call, int numbers)
{
    if (context->device.caps.matrix_unit == CLFI_MATRIX_NONE || !strstr(context->engines, "attention=matrix") ||
        call->q->dim[2] > LARGEST_HEAD || call->v->dim[2] > LARGEST_HEAD || call->tile_queries < SIDE || !is_near(call->q) ||
        !is_near(call->k) || !is_near(call->v))
        return false;
    const matrix_division by = divide(context, call, numbers);
    return by.waves_m > 0 && clfi_loops_fit(context, iterations(context, call, &by));
}

bool clfi_attention_matrix_supports(const clf_context *context, const void *call)
{
    return supports(context, call, 1);
}

bool clfi_attention_matrix_split_supports(const clf_context *context, const void *call)
{
    return supports(context, call, 2);
}

static bool are_multiples(const clf_view *rows, int64_t of)
{
    return rows->offset % of == 0 && rows->stride[0] % of == 0 && rows->stride[1] % of == 0;
}

/* How both operands' rows can be read (wide_loads.cl). */
static const char *reads_of(const clf_view *q, const clf_view *k)
{
    if (are_multiples(q, 4) && are_multiples(k, 4))
        return "ALIGNED_VECTORS";
    return q->dtype == CLF_F32 || (are_multiples(q, 2) && are_multiples(k, 2)) ? "VECTORS" : "ELEMENTS";
}

static clf_status run(clf_context *context, const clf_attention_call *call, int numbers)
{
    const matrix_division by = divide(context, call, numbers);
    const int parts = ceil_div(call->tile_queries, SIDE * by.waves_m);
    clf_kernel_spec spec = clfi_kernel_spec("attention_matrix.cl", "attention_matrix");
    clfi_spec_matrix_unit(&spec, context->device.caps.matrix_unit, context->device.caps.emulates_matrix_unit);
    clfi_spec_dtype(&spec, "IN", call->q->dtype);
    clfi_spec_dtype(&spec, "OUT", call->out->dtype);
    clfi_spec_int(&spec, "WAVES_M", by.waves_m);
    clfi_spec_int(&spec, "WAVES_N", by.waves_n);
    clfi_spec_int(&spec, "NUMBERS", by.numbers);
    clfi_spec_int(&spec, "KEY_BLOCK", by.key_block);
    clfi_spec_int(&spec, "PART_KEYS", by.part_keys);
    clfi_spec_int(&spec, "SLICE", SLICE);
    clfi_spec_text(&spec, "READS", reads_of(call->q, call->k));
    clfi_spec_text(&spec, "OFFSET_T", "uint");
    clfi_spec_int(&spec, "TILE_PARTS", parts);
    clfi_spec_int(&spec, "HAS_NATIVE_EXP2", clfi_probe(context, CLFI_PROBE_NATIVE_EXP2));
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    clfi_attention_work(&launch, call);
    return clfi_launch_2d(&launch, (size_t)call->tile_count * (size_t)parts, (size_t)call->q->dim[0],
                          (size_t)(by.waves_m * by.waves_n * lanes_of(context)), 1);
}

clf_status clfi_attention_matrix_run(clf_context *context, const void *call)
{
    return run(context, call, 1);
}

clf_status clfi_attention_matrix_split_run(clf_context *context, const void *call)
{
    return run(context, call, 2);
}
