/* SPDX-License-Identifier: MIT */
/* Launches cl/any/einsum.cl: chooses the lanes, cuts long sums into slices, passes sizes and strides.
 * A kernel is built for each structure, which costs a compilation. Small work does not repay that, so its loops are padded with loops of
 * size 1 to a few common ranks, without lanes. */
#include "kernel/einsum.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kernel/loops.h"
#include "kernel/permute.h"

enum {
    CPU_RUN = 512,   /* elements that a work-item of a CPU writes, so that computing its offsets costs little */
    CPU_VECTORS = 4, /* lane vectors of its sums: whole cache lines of every row */
    MAX_LOOPS = 2 * CLFI_EINSUM_MAX_LABELS,
    WALK_HEAD = 5,              /* values of an einsum_walk before its offsets */
    VALUE_BYTES = 592,          /* of an einsum_walk passed by value, of the 1,024 that OpenCL guarantees for all arguments */
    VALUE_INPUTS = 4,           /* with an einsum_walk passed by value: strides of more do not fit a GPU's scalar registers */
    SMALL_WORK = 1 << 16,       /* products that need no kernel of their own */
    MIN_SLICE = 4096,           /* products worth a work-item of their own */
    LONGEST_SLICE = INT_MAX / 2 /* keeps slice counters inside int */
};

typedef enum walk_kind { WALK_MAP, WALK_SUM_KEPT, WALK_SUM_LANES } walk_kind;

/* How one launch walks its loops. */
typedef struct index_walk {
    walk_kind kind;
    int width, vectors;
    int64_t run;    /* elements of the innermost kept loop in a work-item */
    int64_t items;  /* work-items of a slice */
    int64_t summed; /* size of the summed space; 1 without sums */
    int64_t slice, parts;
} index_walk;

static double work_of(const clf_einsum_loops *loops)
{
    double work = loops->inputs ? loops->inputs : 1;
    for (int d = 0; d < loops->kept_rank; d++)
        work *= (double)loops->kept[d].size;
    for (int d = 0; d < loops->summed_rank; d++)
        work *= (double)loops->summed[d].size;
    return work;
}

/* Adds outer loops of size 1 up to the next common rank: 4, 16 or CLFI_EINSUM_MAX_LABELS. */
static void pad_rank(clf_einsum_dim *dim, int *rank)
{
    const int wanted = *rank <= 4 ? 4 : *rank <= 16 ? 16 : CLFI_EINSUM_MAX_LABELS;
    const int added = wanted - *rank;
    memmove(dim + added, dim, (size_t)*rank * sizeof *dim);
    for (int d = 0; d < added; d++)
        dim[d] = (clf_einsum_dim){.size = 1};
    *rank = wanted;
}

/* True when every input has its lanes of this loop adjacent or all alike. */
static bool suits_lanes(const clf_einsum_dim *dim, int inputs, int width)
{
    for (int t = 0; t < inputs; t++)
        if (dim->stride[t] != 0 && dim->stride[t] != 1)
            return false;
    return dim->size >= width;
}

/* Lanes of a device: its vectors on a CPU, 16 bytes on a GPU. */
static int lane_width(const clf_context *context)
{
    return context->device.caps.is_cpu ? context->device.caps.vector_width : 4;
}

static void choose_lanes(const clf_context *context, const clf_einsum_loops *loops, index_walk *w)
{
    const bool is_cpu = context->device.caps.is_cpu;
    const int width = lane_width(context);
    const clf_einsum_dim *kept = &loops->kept[loops->kept_rank - 1];
    if (loops->summed_rank == 0) {
        w->width = kept->size >= width ? width : 1;
        w->run = is_cpu ? CPU_RUN : w->width;
    } else if (suits_lanes(kept, loops->inputs, width)) {
        w->width = width;
        w->vectors = is_cpu && loops->inputs <= 2 && kept->size >= CPU_VECTORS * width ? CPU_VECTORS : 1;
        w->run = w->width * w->vectors;
    } else if (loops->summed[loops->summed_rank - 1].size >= width) {
        w->kind = WALK_SUM_LANES;
        w->width = width;
    } else {
        w->width = kept->size >= width ? width : 1;
        w->run = w->width;
    }
}

static index_walk choose_walk(const clf_context *context, const clf_einsum_loops *loops, bool small)
{
    index_walk w = {
        .kind = loops->summed_rank ? WALK_SUM_KEPT : WALK_MAP, .width = 1, .vectors = 1, .run = 1, .items = 1, .summed = 1, .parts = 1};
    if (!small)
        choose_lanes(context, loops, &w);
    for (int d = 0; d < loops->kept_rank; d++)
        w.items *= d == loops->kept_rank - 1 ? (loops->kept[d].size + w.run - 1) / w.run : loops->kept[d].size;
    for (int d = 0; d < loops->summed_rank; d++)
        w.summed *= loops->summed[d].size;
    const int64_t wanted = (int64_t)context->device.caps.compute_units * (context->device.caps.is_cpu ? CLFI_ITEMS_PER_UNIT : 512);
    if (w.items < wanted && w.summed * w.run >= 2 * MIN_SLICE) {
        w.parts = (wanted + w.items - 1) / w.items;
        if (w.parts > w.summed * w.run / MIN_SLICE)
            w.parts = w.summed * w.run / MIN_SLICE;
        if (w.parts > w.summed)
            w.parts = w.summed;
    }
    w.slice = (w.summed + w.parts - 1) / w.parts;
    if (w.slice > LONGEST_SLICE)
        w.slice = LONGEST_SLICE;
    /* at most vectors + 2 iterations per product: one per vector, one of a run, one between runs */
    if (!clfi_loops_fit(context, (w.vectors + 2) * w.slice))
        w.slice = CLFI_SHORT_LOOPS / (w.vectors + 2);
    w.parts = (w.summed + w.slice - 1) / w.slice;
    return w;
}

/* True when every position and count of the launch fits int. */
static bool fits_int(const clf_einsum_loops *loops, const index_walk *w)
{
    if (w->items > INT_MAX - 4096 || w->summed > INT_MAX)
        return false;
    for (int t = 0; t <= loops->inputs; t++) {
        int64_t reach = 0;
        for (int d = 0; d < loops->kept_rank + loops->summed_rank; d++) {
            const clf_einsum_dim *dim = d < loops->kept_rank ? &loops->kept[d] : &loops->summed[d - loops->kept_rank];
            if (dim->stride[t] > INT_MAX / 2 / dim->size)
                return false;
            reach += dim->stride[t] * dim->size;
            if (reach > INT_MAX / 2)
                return false;
        }
    }
    return true;
}

static void add_operand(clf_kernel_spec *spec, const char *macro, int64_t lane_stride, clf_dtype dtype)
{
    char value[24];
    snprintf(value, sizeof value, "%s_%s", lane_stride == 0 ? "same" : lane_stride == 1 ? "unit" : "step", clfi_dtype_suffix(dtype));
    clfi_spec_text(spec, macro, value);
}

static clf_kernel_spec make_spec(const clf_einsum_loops *loops, const index_walk *w, const clf_einsum_memory *in, clf_dtype out,
                                 bool is_by_value)
{
    const bool kept_lanes = w->kind != WALK_SUM_LANES;
    const clf_einsum_dim *lane = kept_lanes ? &loops->kept[loops->kept_rank - 1] : &loops->summed[loops->summed_rank - 1];
    clf_kernel_spec spec = clfi_kernel_spec("einsum.cl", w->kind == WALK_MAP ? "einsum_map" : "einsum_sum");
    clfi_spec_int(&spec, "OPERANDS", loops->inputs);
    clfi_spec_int(&spec, "KEPT_RANK", loops->kept_rank);
    clfi_spec_int(&spec, "SUMMED_RANK", loops->summed_rank);
    clfi_spec_int(&spec, "WIDTH", w->width);
    clfi_spec_int(&spec, "VECTORS", w->vectors);
    clfi_spec_int(&spec, "IS_SUM_IN_LANES", !kept_lanes);
    clfi_spec_int(&spec, "IS_FULL", kept_lanes && lane->size % (w->width * w->vectors) == 0);
    clfi_spec_text(&spec, "INDEX", fits_int(loops, w) ? "int" : "long");
    clfi_spec_int(&spec, "WALK_BY_VALUE", is_by_value);
    /* a width of 1 has no lanes: one kernel for all strides */
    add_operand(&spec, "OUT", kept_lanes && w->width > 1 && lane->stride[loops->inputs] == 1 ? 1 : 2, out);
    for (int t = 0; t < loops->inputs; t++) {
        char macro[16];
        snprintf(macro, sizeof macro, "IN%d", t);
        add_operand(&spec, macro, w->width > 1 ? lane->stride[t] : 1, in[t].dtype);
    }
    return spec;
}

/* einsum_walk as the kernel reads it; returns the number of values. */
static size_t pack_walk(const clf_einsum_loops *loops, const index_walk *w, const clf_einsum_memory *in, const clf_einsum_memory *out,
                        int64_t part_stride, cl_long *to)
{
    const cl_long head[WALK_HEAD] = {w->items, w->run, w->summed, w->slice, part_stride};
    size_t count = 0;
    for (; count < WALK_HEAD; count++)
        to[count] = head[count];
    for (int t = 0; t < loops->inputs; t++)
        to[count++] = in[t].offset;
    to[count++] = out->offset;
    for (int d = 0; d < loops->kept_rank + loops->summed_rank; d++) {
        const clf_einsum_dim *dim = d < loops->kept_rank ? &loops->kept[d] : &loops->summed[d - loops->kept_rank];
        to[count++] = dim->size;
        for (int t = 0; t <= loops->inputs; t++)
            to[count++] = dim->stride[t];
    }
    return count;
}

/* States the upper bound of the work that clfi_launch_work asks for: every factor is read from memory at each use. */
static void state_work(clf_launch *launch, const clf_einsum_loops *loops)
{
    double steps = 1, results = 1;
    for (int d = 0; d < loops->kept_rank; d++)
        results *= (double)loops->kept[d].size;
    for (int d = 0; d < loops->summed_rank; d++)
        steps *= (double)loops->summed[d].size;
    steps *= results;
    clfi_launch_work(launch, steps * loops->inputs, sizeof(float) * (steps * loops->inputs + results));
}

/* One launch; part_stride: output elements between slices. */
static clf_status launch(clf_context *context, const clf_einsum_loops *loops, const index_walk *w, const clf_einsum_memory *in,
                         const clf_einsum_memory *out, int64_t part_stride)
{
    cl_long values[WALK_HEAD + (MAX_LOOPS + 1) * (CLF_EINSUM_MAX_OPERANDS + 2)];
    const size_t bytes = pack_walk(loops, w, in, out, part_stride, values) * sizeof *values;
    const bool is_by_value = bytes <= VALUE_BYTES && loops->inputs <= VALUE_INPUTS;
    const clf_kernel_spec spec = make_spec(loops, w, in, out->dtype, is_by_value);
    clf_launch l = clfi_launch(context, &spec);
    clf_buffer *buffer = NULL; /* holds the walk; the driver frees it after the launch */
    for (int t = 0; t < loops->inputs; t++)
        clfi_arg_buffer(&l, in[t].buffer);
    clfi_arg_buffer(&l, out->buffer);
    if (is_by_value) {
        clfi_arg_bytes(&l, values, bytes);
    } else {
        CLF_TRY(clfi_buffer_create(context, bytes, &buffer));
        const clf_status st = clfi_buffer_write(buffer, 0, values, bytes);
        if (st != CLF_OK) {
            clfi_buffer_release(buffer);
            return st;
        }
        clfi_arg_buffer(&l, buffer);
    }
    const size_t local = context->device.caps.is_cpu ? 8 : 64;
    state_work(&l, loops);
    const clf_status st = clfi_launch_2d(&l, ((size_t)w->items + local - 1) / local, (size_t)w->parts, local, 1);
    clfi_buffer_release(buffer);
    return st;
}

/* The second launch of a cut sum: the kept loops read from the dense parts, one summed loop over the parts. */
static clf_einsum_loops loops_of_parts(const clf_einsum_loops *loops, int64_t parts, int64_t elements)
{
    clf_einsum_loops sum = {.inputs = 1, .kept_rank = loops->kept_rank, .summed_rank = 1};
    int64_t stride = 1;
    for (int d = loops->kept_rank - 1; d >= 0; d--) {
        sum.kept[d].size = loops->kept[d].size;
        sum.kept[d].stride[0] = stride;
        sum.kept[d].stride[1] = loops->kept[d].stride[loops->inputs];
        stride *= loops->kept[d].size;
    }
    sum.summed[0] = (clf_einsum_dim){.size = parts, .stride = {elements, 0}};
    return sum;
}

/* Runs the loops in slices. Each slice writes its own dense part; a second launch adds the parts. */
static clf_status run_slices(clf_context *context, const clf_einsum_loops *loops, const index_walk *w, const clf_einsum_memory *in,
                             const clf_einsum_memory *out)
{
    int64_t elements = 1;
    for (int d = 0; d < loops->kept_rank; d++)
        elements *= loops->kept[d].size;
    clf_view parts;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){w->parts, elements}, &parts));
    const clf_einsum_memory memory = {parts.buffer, CLF_F32, parts.offset};
    clf_einsum_loops first = *loops;
    for (int d = first.kept_rank - 1; d >= 0; d--)
        first.kept[d].stride[loops->inputs] =
            d == first.kept_rank - 1 ? 1 : first.kept[d + 1].stride[loops->inputs] * first.kept[d + 1].size;
    CLF_TRY(launch(context, &first, w, in, &memory, elements));
    const clf_einsum_loops second = loops_of_parts(loops, w->parts, elements);
    return clfi_einsum_loops(context, &second, &memory, out);
}

/* Runs the end of the innermost kept loop, after the last whole group of vectors, as loops of its own, so that the bulk needs no tests. */
static clf_status run_split(clf_context *context, const clf_einsum_loops *loops, int64_t group, const clf_einsum_memory *in,
                            const clf_einsum_memory *out)
{
    const clf_einsum_dim *inner = &loops->kept[loops->kept_rank - 1];
    const int64_t bulk = inner->size / group * group;
    clf_einsum_memory rest_in[CLF_EINSUM_MAX_OPERANDS], rest_out = *out;
    clf_einsum_loops piece = *loops;
    piece.kept[piece.kept_rank - 1].size = bulk;
    CLF_TRY(clfi_einsum_loops(context, &piece, in, out));
    piece.kept[piece.kept_rank - 1].size = inner->size - bulk;
    for (int t = 0; t < loops->inputs; t++) {
        rest_in[t] = in[t];
        rest_in[t].offset += bulk * inner->stride[t];
    }
    rest_out.offset += bulk * inner->stride[loops->inputs];
    return clfi_einsum_loops(context, &piece, rest_in, &rest_out);
}

clf_status clfi_einsum_loops(clf_context *context, const clf_einsum_loops *loops, const clf_einsum_memory *in, const clf_einsum_memory *out)
{
    for (int t = 0; t <= loops->inputs; t++) {
        const clf_dtype dtype = t < loops->inputs ? in[t].dtype : out->dtype;
        if (!clfi_dtype_is_float(dtype))
            CLF_FAIL(CLF_UNSUPPORTED, "einsum loops: operand is %s, expected float32, float16 or bfloat16", clf_dtype_name(dtype));
    }
    clf_einsum_loops padded;
    const bool small = work_of(loops) <= SMALL_WORK;
    if (small) {
        padded = *loops;
        pad_rank(padded.kept, &padded.kept_rank);
        if (padded.summed_rank > 0)
            pad_rank(padded.summed, &padded.summed_rank);
        loops = &padded;
    } else if (clfi_permute_suits(context, loops)) {
        return clfi_permute(context, loops, in, out);
    } else if (loops->kept_rank == 0) { /* one output element is one loop of size 1 */
        padded = *loops;
        padded.kept_rank = 1;
        padded.kept[0] = (clf_einsum_dim){.size = 1};
        loops = &padded;
    }
    const index_walk w = choose_walk(context, loops, small);
    const int64_t group = w.width * w.vectors;
    if (w.vectors > 1 && loops->kept[loops->kept_rank - 1].size % group != 0)
        return run_split(context, loops, group, in, out);
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = w.parts > 1 ? run_slices(context, loops, &w, in, out) : launch(context, loops, &w, in, out, 0);
    clfi_arena_release(context, mark);
    return st;
}
