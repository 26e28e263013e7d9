/* SPDX-License-Identifier: MIT */
/* Launches top-k selection: rounds of blocks until one block is left. */
#include "kernel/top_k.h"

#include "kernel/loops.h"

enum {
    REDUCTION = 4,              /* a block is at least this many times k, so a round leaves about a fourth of the candidates */
    MIN_BLOCK = 4096,
    MAX_BLOCK = 1 << 20,
    VECTOR_BLOCKS = 64,         /* blocks of a row wanted on a CPU */
    GROUP_BLOCKS_PER_UNIT = 4,  /* work-groups wanted per compute unit of a GPU */
    GROUP_WG = 256,
    GROUP_MIN_WG = 64,
    KEY_BYTES = 8,
    CANDIDATE_BYTES = 1 << 26   /* rows are taken in batches whose keys of one round fit here */
};

/* The differences between the kernel families. */
typedef struct family {
    const char *file, *kernel;
    int width, wg, half; /* half 0: CPU family */
    int64_t blocks;      /* wanted per launch */
} family;

/* Elements of a block of a row with `count` candidates. */
static int64_t block_size(const clf_context *context, const family *f, int64_t count, int64_t rows, int k)
{
    const int64_t least = REDUCTION * k > MIN_BLOCK ? REDUCTION * k : MIN_BLOCK;
    const int64_t most = context->device.caps.short_loops ? least : MAX_BLOCK;
    const int64_t even = count / (f->blocks / rows + 1) + 1;
    return even < least ? least : even > most ? most : even;
}

static clf_kernel_spec spec_of(const family *f, const clf_view *scores, bool is_first, bool is_last)
{
    clf_kernel_spec spec = clfi_kernel_spec(f->file, f->kernel);
    clfi_spec_dtype(&spec, "X", scores->dtype);
    clfi_spec_int(&spec, "WIDTH", is_first && scores->stride[1] == 1 ? f->width : 1);
    clfi_spec_int(&spec, "IS_FIRST", is_first);
    clfi_spec_int(&spec, "IS_LAST", is_last);
    if (f->half) {
        clfi_spec_int(&spec, "WG", f->wg);
        clfi_spec_int(&spec, "HALF", f->half);
    }
    return spec;
}

/* Selects in `rows` rows from `first` on. */
static clf_status run_rows(clf_context *context, const family *f, const clf_top_k_args *args, int64_t first, int64_t rows)
{
    const clf_view *scores = args->scores;
    clf_region from = {0};
    int64_t count = scores->dim[1];
    for (bool is_first = true, is_last = false; !is_last; is_first = false) {
        const int64_t size = block_size(context, f, count, rows, args->k), blocks = (count + size - 1) / size;
        const int64_t left = blocks * args->k;
        clf_region to;
        is_last = blocks == 1;
        CLF_TRY(clfi_arena_alloc(context, (size_t)(rows * left) * KEY_BYTES, &to)); /* the CPU family sorts in it, in the last round too */
        const clf_kernel_spec spec = spec_of(f, scores, is_first, is_last);
        clf_launch launch = clfi_launch(context, &spec);
        clfi_arg_buffer(&launch, is_first ? scores->buffer : from.buffer);
        clfi_arg_long(&launch, is_first ? scores->offset + first * scores->stride[0] : (int64_t)(from.offset_bytes / KEY_BYTES));
        clfi_arg_long(&launch, is_first ? scores->stride[0] : count);
        clfi_arg_long(&launch, is_first ? scores->stride[1] : 1);
        clfi_arg_long(&launch, count);
        clfi_arg_long(&launch, size);
        clfi_arg_int(&launch, args->k);
        clfi_arg_buffer(&launch, to.buffer);
        clfi_arg_long(&launch, (int64_t)(to.offset_bytes / KEY_BYTES));
        clfi_arg_buffer(&launch, args->values->buffer);
        clfi_arg_long(&launch, args->values->offset + first * args->k);
        clfi_arg_buffer(&launch, args->indices->buffer);
        clfi_arg_long(&launch, args->indices->offset + first * args->k);
        clfi_launch_work(&launch, 8.0 * (double)(rows * count), 8.0 * (double)(rows * count));
        CLF_TRY(clfi_launch_2d(&launch, (size_t)blocks, (size_t)rows, (size_t)f->wg, 1));
        from = to;
        count = left;
    }
    return CLF_OK;
}

static clf_status run(clf_context *context, const family *f, const clf_top_k_args *args)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    const int64_t rows = args->scores->dim[0], count = args->scores->dim[1];
    const int64_t blocks = (count + MIN_BLOCK - 1) / MIN_BLOCK;
    int64_t batch = CANDIDATE_BYTES / KEY_BYTES / (blocks * args->k);
    batch = batch < 1 ? 1 : batch;
    clf_status st = CLF_OK;
    for (int64_t first = 0; st == CLF_OK && first < rows; first += batch) {
        st = run_rows(context, f, args, first, rows - first < batch ? rows - first : batch);
        clfi_arena_release(context, mark);
    }
    return st;
}

bool clfi_top_k_vector_supports(const clf_context *context, const void *args)
{
    (void)context;
    (void)args;
    return true;
}

clf_status clfi_top_k_vector(clf_context *context, const void *args)
{
    const family f = {"top_k_vector.cl", "top_k_vector", context->device.caps.vector_width, 1, 0, VECTOR_BLOCKS};
    return run(context, &f, args);
}

static int group_size(const clf_context *context)
{
    return context->device.caps.max_work_group_size < GROUP_WG ? GROUP_MIN_WG : GROUP_WG;
}

/* Room for the best candidates: a power of two of at least k and twice the work-group, so that not every step sorts. */
static int group_half(const clf_context *context, int k)
{
    int half = 2 * group_size(context);
    while (half < k)
        half *= 2;
    return half;
}

bool clfi_top_k_group_supports(const clf_context *context, const void *arguments)
{
    const clf_top_k_args *args = arguments;
    return (uint64_t)group_half(context, args->k) * 2 * KEY_BYTES + 64 <= context->device.caps.local_memory_bytes;
}

clf_status clfi_top_k_group(clf_context *context, const void *arguments)
{
    const clf_top_k_args *args = arguments;
    const family f = {"top_k_group.cl", "top_k_group", 1, group_size(context), group_half(context, args->k),
                      (int64_t)context->device.caps.compute_units * GROUP_BLOCKS_PER_UNIT};
    return run(context, &f, args);
}
