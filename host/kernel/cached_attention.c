/* SPDX-License-Identifier: MIT */
/* Launches the attention of decoding: each query uses its own rows of a cache of keys and values. */
#include "kernel/cached_attention.h"

#include "kernel/loops.h"
#include "runtime/probe.h"

enum {
    FEW_QUERIES = 8,
    GROUP_WG = 64,         /* work-group size without launch graphs */
    GROUP_PART_KEYS = 128, /* fewest keys of a part in the group kernel */
    VECTOR_PART_KEYS = 64, /* fewest keys of a part in the vector kernel */
    ITEMS_PER_UNIT = 4,
    MOST_VECTOR_HEAD = 256,
    SCORE_MULTIPLY_ADDS = 16, /* multiply-adds that a score's exponential and sum cost */
    MOST_SHARED = 8,          /* heads that a work-item computes together, with the same reads of keys */
    LEAST_LANES = 64,     /* queries from which on they are put in lanes: fewer may be steps of as many sequences, which share nothing */
    ITEM_HEADS = 3,       /* of a tile of queries at least: with fewer, comparing tables of rows takes time */
    MOST_TILE_FLOATS = 64 /* elements of a head up to which a tile of two vectors of queries stays in the first-level cache */
};

/* Same struct as in cl/shared/cached_attention.cl. */
typedef struct cached_layout {
    cl_long q_offset, q_head_stride, q_stride;
    cl_long k_offset, k_head_stride, k_stride;
    cl_long v_offset, v_head_stride, v_stride;
    cl_long out_offset, out_stride, out_head_stride;
    cl_long rows_offset, rows_stride, count_offset;
    cl_long bias_offset, bias_stride, bias_reach;
} cached_layout;

static clf_kernel_spec spec_of(const char *file, const char *kernel, const clf_cached_attention_args *args)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    clfi_spec_int(&spec, "HEAD", args->q->dim[2]);
    clfi_spec_dtype(&spec, "KV", args->k->dtype);
    clfi_spec_int(&spec, "IS_Q8", args->k->dtype == CLF_U8);
    clfi_spec_int(&spec, "HAS_WINDOW", args->window > 0);
    clfi_spec_int(&spec, "HAS_SOFT_CAP", args->soft_cap > 0);
    clfi_spec_int(&spec, "HAS_BIAS", args->bias != NULL);
    return spec;
}

static void set_arguments(clf_launch *launch, const clf_cached_attention_args *args)
{
    const clf_view *q = args->q, *k = args->k, *v = args->v, *out = args->out;
    const cached_layout at = {
        .q_offset = q->offset,
        .q_head_stride = q->stride[0],
        .q_stride = q->stride[1],
        .k_offset = k->offset,
        .k_head_stride = k->stride[0],
        .k_stride = k->stride[1],
        .v_offset = v->offset,
        .v_head_stride = v->stride[0],
        .v_stride = v->stride[1],
        .out_offset = out->offset,
        .out_stride = out->stride[0],
        .out_head_stride = out->stride[1],
        .rows_offset = args->rows->offset,
        .rows_stride = args->rows->stride[0],
        .count_offset = args->counts->offset,
        .bias_offset = args->bias ? args->bias->offset : 0,
        .bias_stride = args->bias ? args->bias->stride[0] : 0,
        .bias_reach = args->bias ? args->bias->dim[1] / 2 : 0,
    };
    clfi_arg_buffer(launch, q->buffer);
    clfi_arg_buffer(launch, k->buffer);
    clfi_arg_buffer(launch, v->buffer);
    clfi_arg_buffer(launch, out->buffer);
    clfi_arg_buffer(launch, args->rows->buffer);
    clfi_arg_buffer(launch, args->counts->buffer);
    clfi_arg_struct(launch, "cached_layout", &at, sizeof at);
    clfi_arg_int(launch, q->dim[0]);
    clfi_arg_int(launch, q->dim[0] / k->dim[0]);
    clfi_arg_float(launch, args->scale);
    clfi_arg_int(launch, args->window);
    clfi_arg_float(launch, args->soft_cap);
    clfi_arg_buffer(launch, args->bias ? args->bias->buffer : q->buffer);
}

/* Most keys that a query uses. */
static int64_t seen_keys(const clf_cached_attention_args *args)
{
    return args->window > 0 && args->window < args->keys ? args->window : args->keys;
}

/* States the upper bound of the work that clfi_launch_work asks for: every query uses seen_keys keys. */
static void state_work(clf_launch *launch, const clf_cached_attention_args *args)
{
    const double scores = (double)(args->q->dim[0] * args->q->dim[1]) * (double)seen_keys(args), head = (double)args->q->dim[2];
    clfi_launch_work(launch, scores * (2 * head + SCORE_MULTIPLY_ADDS),
                     2 * scores * (double)args->k->dim[2] * (double)clf_dtype_bytes(args->k->dtype));
}

static int vector_width(const clf_context *context, int64_t head)
{
    int width = context->device.caps.vector_width;
    while (width > 4 && head % width != 0)
        width /= 2;
    return width;
}

static int64_t blocks_of(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static int64_t wanted_items(const clf_context *context)
{
    return (int64_t)context->device.caps.compute_units * ITEMS_PER_UNIT;
}

/* Returns the number of parts into which the keys are divided. Without parts there are `items` work-items; enough parts make them
 * wanted_items. A part has at least `least` keys. */
static int64_t parts_of(const clf_context *context, const clf_cached_attention_args *args, int64_t items, int64_t least)
{
    const int64_t wanted = wanted_items(context);
    const int64_t most = (seen_keys(args) + least - 1) / least, parts = items > 0 ? (wanted + items - 1) / items : 1;
    return parts < 1 || most < 1 ? 1 : parts < most ? parts : most;
}

/* Returns the keys per part, a multiple of `block`. */
static int64_t part_keys(int64_t keys, int64_t parts, int64_t block)
{
    return ((keys + parts - 1) / parts + block - 1) / block * block;
}

static clf_status create_parts(clf_context *context, const clf_cached_attention_args *args, int64_t count, clf_view *out)
{
    return clfi_view_temporary(context, CLF_F32, 4, (int64_t[]){count, args->q->dim[1], args->q->dim[0], args->q->dim[2] + 2}, out);
}

/* The work of merging parts. */
static void state_merging(clf_launch *launch, const clf_view *parts)
{
    const double floats = (double)clfi_view_count(parts);
    clfi_launch_work(launch, floats, floats * sizeof(float));
}

/* Returns the number of query heads with the same key head that a work-item computes together. */
static int64_t shared_heads(const clf_context *context, const clf_cached_attention_args *args)
{
    /* Loops over heads are unrolled, which takes slow compilers minutes. */
    const int64_t group = args->q->dim[0] / args->k->dim[0], most = context->device.caps.slow_compiler ? 1 : MOST_SHARED;
    int64_t count = group < most ? group : most;
    while (group % count != 0)
        count--;
    return count;
}

/* Returns the number of parts of the keys. A compute unit runs its few work-items one after another, so parts are added until every unit
 * has the same number of them. */
static int64_t vector_parts(const clf_context *context, const clf_cached_attention_args *args)
{
    const int64_t items = args->q->dim[0] / shared_heads(context, args) * args->q->dim[1];
    const int64_t most = seen_keys(args) / VECTOR_PART_KEYS, units = (int64_t)context->device.caps.compute_units;
    int64_t parts = parts_of(context, args, items, VECTOR_PART_KEYS);
    while (parts < most && items * parts % units != 0)
        parts++;
    return parts;
}

static bool has_few_queries(const clf_cached_attention_args *args)
{
    return args->q->dim[1] <= FEW_QUERIES;
}

bool clfi_cached_attention_vector_supports(const clf_context *context, const void *arguments)
{
    const clf_cached_attention_args *args = arguments;
    const int64_t head = args->q->dim[2];
    const int width = vector_width(context, head);
    return head % width == 0 && head <= MOST_VECTOR_HEAD &&
           clfi_loops_fit(context, args->q->dim[0] * ((args->keys + width) * (2 * head / width + 3) + 2 * head / width));
}

/* Whether keys are divided into parts: shared heads leave too few work-items. The number of keys is ignored, so that every step of a
 * sequence runs the same kernels. */
static bool is_vector_split(const clf_context *context, const clf_cached_attention_args *args)
{
    const int64_t shared = shared_heads(context, args);
    return has_few_queries(args) && shared > 1 && args->q->dim[0] / shared < wanted_items(context);
}

static clf_kernel_spec vector_spec(const clf_context *context, const clf_cached_attention_args *args)
{
    clf_kernel_spec spec = spec_of("cached_attention_vector.cl", "cached_attention_vector", args);
    clfi_spec_int(&spec, "WIDTH", vector_width(context, args->q->dim[2]));
    clfi_spec_int(&spec, "SHARED_HEADS", shared_heads(context, args));
    clfi_spec_int(&spec, "HAS_ONE_STEP", has_few_queries(args));
    clfi_spec_int(&spec, "IS_SPLIT", is_vector_split(context, args));
    return spec;
}

/* parts: results of the parts, f32 [count, queries, heads, head size + 2]. With count 1 keys are not divided, and any view will do. */
static clf_status run_vector(clf_context *context, const clf_cached_attention_args *args, const clf_view *parts, int64_t count)
{
    const clf_kernel_spec spec = vector_spec(context, args);
    const int64_t queries = args->q->dim[1];
    const size_t groups[3] = {(size_t)queries, has_few_queries(args) ? (size_t)(args->q->dim[0] / shared_heads(context, args)) : 1,
                              (size_t)count};
    clf_launch launch = clfi_launch(context, &spec);
    set_arguments(&launch, args);
    clfi_arg_int(&launch, queries);
    clfi_arg_buffer(&launch, parts->buffer);
    clfi_arg_long(&launch, parts->offset);
    clfi_arg_int(&launch, count);
    state_work(&launch, args);
    return clfi_launch_3d(&launch, groups, (const size_t[3]){1, 1, 1});
}

/* How many queries are computed in lanes: work-items of `vectors` vectors of queries and `heads` heads. */
typedef struct lanes_shape {
    int64_t width, vectors, tiles, heads;
} lanes_shape;

/* False: queries are computed one by one. They are few, or too few for all compute units. */
static bool takes_lanes(const clf_context *context, const clf_cached_attention_args *args, lanes_shape *out)
{
    const int64_t heads = args->q->dim[0], queries = args->q->dim[1], head = args->q->dim[2], group = heads / args->k->dim[0];
    out->width = vector_width(context, head);
    out->vectors = head <= MOST_TILE_FLOATS ? 2 : 1;
    out->tiles = blocks_of(queries, out->width * out->vectors);
    out->heads = group;
    while ((out->heads < ITEM_HEADS && out->heads < heads) || heads % out->heads != 0)
        out->heads += group;
    return !context->device.caps.slow_compiler && queries >= LEAST_LANES &&
           out->tiles * (heads / out->heads) >= (int64_t)context->device.caps.compute_units;
}

static clf_status run_lanes(clf_context *context, const clf_cached_attention_args *args, const lanes_shape *shape)
{
    clf_kernel_spec spec = spec_of("cached_attention_lanes.cl", "cached_attention_lanes", args);
    clfi_spec_int(&spec, "WIDTH", shape->width);
    clfi_spec_int(&spec, "TILE_V", shape->vectors);
    clfi_spec_int(&spec, "SHARED_HEADS", shared_heads(context, args));
    clf_launch launch = clfi_launch(context, &spec);
    set_arguments(&launch, args);
    clfi_arg_int(&launch, args->q->dim[1]);
    clfi_arg_int(&launch, shape->heads);
    state_work(&launch, args);
    return clfi_launch_2d(&launch, (size_t)shape->tiles, (size_t)(args->q->dim[0] / shape->heads), 1, 1);
}

clf_status clfi_cached_attention_vector(clf_context *context, const void *arguments)
{
    const clf_cached_attention_args *args = arguments;
    const clf_view *out = args->out;
    lanes_shape shape;
    if (takes_lanes(context, args, &shape))
        return run_lanes(context, args, &shape);
    if (!is_vector_split(context, args))
        return run_vector(context, args, out, 1);
    const int64_t heads = args->q->dim[0], queries = args->q->dim[1];
    const int64_t count = vector_parts(context, args);
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view parts;
    CLF_TRY(create_parts(context, args, count, &parts));
    clf_status st = run_vector(context, args, &parts, count);
    if (st == CLF_OK) {
        clf_kernel_spec spec = clfi_kernel_spec("cached_attention_vector_merge.cl", "cached_attention_vector_merge");
        clfi_spec_int(&spec, "HEAD", args->q->dim[2]);
        clfi_spec_int(&spec, "WIDTH", vector_width(context, args->q->dim[2]));
        clf_launch launch = clfi_launch(context, &spec);
        clfi_arg_buffer(&launch, parts.buffer);
        clfi_arg_long(&launch, parts.offset);
        clfi_arg_int(&launch, count);
        clfi_arg_int(&launch, queries);
        clfi_arg_int(&launch, heads);
        clfi_arg_buffer(&launch, out->buffer);
        clfi_arg_long(&launch, out->offset);
        clfi_arg_long(&launch, out->stride[0]);
        clfi_arg_long(&launch, out->stride[1]);
        state_merging(&launch, &parts);
        st = clfi_launch_2d(&launch, (size_t)queries, (size_t)heads, 1, 1);
    }
    clfi_arena_release(context, mark);
    return st;
}

/* Returns the work-group size; each work-item takes one key of a block. */
static int group_of(const clf_context *context)
{
    return clfi_graph_group_or(&context->device.caps, GROUP_WG);
}

bool clfi_cached_attention_group_supports(const clf_context *context, const void *arguments)
{
    const clf_cached_attention_args *args = arguments;
    const int64_t head = args->q->dim[2], group = group_of(context);
    const uint64_t local = (2 * (uint64_t)head + 5 * (uint64_t)group) * sizeof(float);
    return context->device.caps.max_work_group_size >= (size_t)group && local <= context->device.caps.local_memory_bytes &&
           clfi_loops_fit(context, (args->keys / group + 1) * (head + 20) + (head / group + 1) * args->keys);
}

/* Whether every row of the view [heads, rows, HEAD] starts at a multiple of four elements; a buffer's start is aligned by OpenCL. */
static bool is_by_four(const clf_view *view)
{
    return view->dim[2] % 4 == 0 && view->offset % 4 == 0 && view->stride[0] % 4 == 0 && view->stride[1] % 4 == 0;
}

/* Whether the offsets of all rows of a head fit 32 bits. */
static bool is_near(const clf_view *view)
{
    int64_t end;
    return view->stride[1] >= 0 && !__builtin_mul_overflow(view->dim[1], view->stride[1], &end) && end <= UINT32_MAX;
}

static clf_kernel_spec group_spec(const clf_context *context, const clf_cached_attention_args *args, int64_t parts)
{
    clf_kernel_spec spec = spec_of("cached_attention_group.cl", "cached_attention_group", args);
    clfi_spec_int(&spec, "WG", group_of(context));
    clfi_spec_int(&spec, "LANES", group_of(context));
    clfi_spec_int(&spec, "IS_SPLIT", parts > 1);
    clfi_spec_int(&spec, "IS_ALIGNED", is_by_four(args->k));
    clfi_spec_int(&spec, "SUBGROUPS", clfi_probe_subgroups(context, CLFI_PROBE_ROW_SUMS, group_of(context)));
    clfi_spec_text(&spec, "OFFSET_T", is_near(args->v) ? "uint" : "ulong");
    return spec;
}

/* parts: results of the parts, f32 [count, queries, heads, head size + 2]. With count 1 keys are not divided, and any view will do. */
static clf_status run_group(clf_context *context, const clf_cached_attention_args *args, const clf_view *parts, int64_t count)
{
    const clf_kernel_spec spec = group_spec(context, args, count);
    const int group = group_of(context);
    clf_launch launch = clfi_launch(context, &spec);
    set_arguments(&launch, args);
    clfi_arg_buffer(&launch, parts->buffer);
    clfi_arg_long(&launch, parts->offset);
    clfi_arg_int(&launch, part_keys(seen_keys(args), count, group));
    clfi_arg_int(&launch, args->q->dim[1]);
    state_work(&launch, args);
    const size_t groups[3] = {(size_t)args->q->dim[1], (size_t)args->q->dim[0], (size_t)count};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)group, 1, 1});
}

static clf_status run_parts(clf_context *context, const clf_cached_attention_args *args, int64_t count)
{
    const clf_view *out = args->out;
    clf_view parts;
    CLF_TRY(create_parts(context, args, count, &parts));
    CLF_TRY(run_group(context, args, &parts, count));
    clf_kernel_spec spec = clfi_kernel_spec("cached_attention_merge.cl", "cached_attention_merge");
    clfi_spec_int(&spec, "HEAD", args->q->dim[2]);
    clfi_spec_int(&spec, "WG", group_of(context));
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, parts.buffer);
    clfi_arg_long(&launch, parts.offset);
    clfi_arg_int(&launch, count);
    clfi_arg_buffer(&launch, out->buffer);
    clfi_arg_long(&launch, out->offset);
    clfi_arg_long(&launch, out->stride[0]);
    clfi_arg_long(&launch, out->stride[1]);
    clfi_arg_int(&launch, args->q->dim[1]);
    clfi_arg_int(&launch, args->q->dim[0]);
    state_merging(&launch, &parts);
    return clfi_launch_2d(&launch, (size_t)args->q->dim[1], (size_t)args->q->dim[0], (size_t)group_of(context), 1);
}

clf_status clfi_cached_attention_group(clf_context *context, const void *arguments)
{
    const clf_cached_attention_args *args = arguments;
    const int64_t group = group_of(context), least = group > GROUP_PART_KEYS ? group : GROUP_PART_KEYS;
    const int64_t parts = parts_of(context, args, args->q->dim[0] * args->q->dim[1], least);
    if (parts == 1)
        return run_group(context, args, args->out, 1);
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status status = run_parts(context, args, parts);
    clfi_arena_release(context, mark);
    return status;
}
