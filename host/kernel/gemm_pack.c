/* SPDX-License-Identifier: MIT */
/* Packs operands of one product into the arena, and weights into buffers that the caller allocated. */
#include <string.h>

#include "base/alloc.h"
#include "kernel/bf16_blocks.h"
#include "kernel/gemm_common.h"
#include "kernel/gemm_panel.h"

enum {
    LONG_K = 256, /* k of one work-item of gemm_pack_turned.cl and gemm_pack_lines.cl */
    SHORT_K = 16  /* the same for gemm_pack_lines.cl if batches share pages of memory */
};

/* Kernels read the bias of whole panels, and the last panel may begin at the last column. */
int64_t clfi_gemm_padded_bias(int64_t count)
{
    return count + CLFI_WIDEST_PANEL - 1;
}

/* Elements that one work-item moves, and items of a group. CPUs have few work-items, which move many elements. */
typedef struct pack_grid {
    int rows, k;
    size_t local;
} pack_grid;

static pack_grid grid_of(const clf_context *context)
{
    return context->device.caps.is_cpu ? (pack_grid){16, 64, 1} : (pack_grid){1, 1, 64};
}

/* One matrix with k as its second index (a weight as it lies, A, or B transposed) and the batches in which it is read. */
typedef struct pack_source {
    const clf_buffer *buffer;
    clf_dtype dtype;
    int64_t rows, k;
    int64_t offset, row_stride, k_stride;
    int batch_rank;
    int64_t batch[CLFI_GEMM_MAX_BATCH], batch_stride[CLFI_GEMM_MAX_BATCH];
} pack_source;

/* Sets the work-group size in the spec. Weights are packed without a rehearsal, so the compiling process would not know it otherwise. */
static void know_local(clf_kernel_spec *spec, size_t items)
{
    spec->local[0] = items;
    spec->local[1] = spec->local[2] = 1;
}

static clf_launch pack_launch(clf_context *context, const char *file, const char *kernel, const pack_source *from, clf_dtype to,
                              const pack_grid *grid)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    clfi_spec_dtype(&spec, "FROM", from->dtype);
    clfi_spec_dtype(&spec, "TO", to);
    clfi_spec_int(&spec, "BLOCK_ROWS", grid->rows);
    clfi_spec_int(&spec, "BLOCK_K", grid->k);
    clfi_spec_int(&spec, "IS_K_INNER", from->k_stride <= from->row_stride);
    know_local(&spec, grid->local);
    return clfi_launch(context, &spec);
}

static clf_gemm_args batch_of(const pack_source *from)
{
    return (clf_gemm_args){.batch_rank = from->batch_rank, .batch = {from->batch[0], from->batch[1], from->batch[2], from->batch[3]}};
}

static void arg_source(clf_launch *launch, const pack_source *from)
{
    const clf_gemm_args batch = batch_of(from);
    clfi_arg_int(launch, from->rows);
    clfi_arg_int(launch, from->k);
    clfi_arg_buffer(launch, from->buffer);
    clfi_arg_long(launch, from->offset);
    clfi_arg_long(launch, from->row_stride);
    clfi_arg_long(launch, from->k_stride);
    clfi_gemm_arg_batch_size(launch, &batch);
    clfi_gemm_arg_batch_stride(launch, &batch, from->batch_stride);
}

static size_t blocks(int64_t size, int64_t block)
{
    return (size_t)((size + block - 1) / block);
}

static size_t batches(const pack_source *from)
{
    size_t count = 1;
    for (int i = 0; i < from->batch_rank; i++)
        count *= (size_t)from->batch[i];
    return count;
}

static clf_status pack_rows(clf_context *context, const pack_source *from, const clf_buffer *to, clf_dtype dtype, int64_t to_offset)
{
    const pack_grid grid = grid_of(context);
    clf_launch launch = pack_launch(context, "gemm_pack_rows.cl", "gemm_pack_rows", from, dtype, &grid);
    arg_source(&launch, from);
    clfi_arg_buffer(&launch, to);
    clfi_arg_long(&launch, to_offset);
    clfi_arg_long(&launch, from->rows * from->k);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)(from->rows * from->k) * (double)batches(from));
    const size_t groups[3] = {blocks(from->k, grid.k * (int64_t)grid.local), blocks(from->rows, grid.rows), batches(from)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){grid.local, 1, 1});
}

/* Whether batches are nearer to each other in memory than elements along k. They then share pages, even cache lines. */
static bool are_batches_inner(const pack_source *from)
{
    for (int i = 0; i < from->batch_rank; i++)
        if (from->batch_stride[i] < from->k_stride)
            return true;
    return false;
}

/* Packs panels on CPU devices. Sources that are contiguous in k are transposed in registers; those contiguous in columns are moved as they
 * are. */
static clf_status pack_panels_vector(clf_context *context, const pack_source *from, const clf_buffer *to, clf_dtype dtype,
                                     int64_t to_offset, int64_t panel, int64_t first, int64_t padded)
{
    const int width = context->device.caps.vector_width;
    const bool is_turned = from->k_stride == 1;
    const int64_t block_k = is_turned || !are_batches_inner(from) ? LONG_K : SHORT_K;
    clf_kernel_spec spec =
        is_turned ? clfi_kernel_spec("gemm_pack_turned.cl", "gemm_pack_turned") : clfi_kernel_spec("gemm_pack_lines.cl", "gemm_pack_lines");
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_dtype(&spec, "FROM", from->dtype);
    clfi_spec_dtype(&spec, "TO", dtype);
    clfi_spec_int(&spec, "BLOCK_K", block_k);
    clf_launch launch = clfi_launch(context, &spec);
    const clf_gemm_args batch = batch_of(from);
    clfi_arg_int(&launch, from->rows);
    clfi_arg_int(&launch, from->k);
    clfi_arg_buffer(&launch, from->buffer);
    clfi_arg_long(&launch, from->offset);
    clfi_arg_long(&launch, is_turned ? from->row_stride : from->k_stride);
    clfi_gemm_arg_batch_size(&launch, &batch);
    clfi_gemm_arg_batch_stride(&launch, &batch, from->batch_stride);
    clfi_arg_buffer(&launch, to);
    clfi_arg_long(&launch, to_offset);
    clfi_arg_long(&launch, padded * from->k);
    clfi_arg_int(&launch, panel);
    clfi_arg_int(&launch, first);
    const int64_t end = (first + from->rows + panel - 1) / panel * panel;
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)(from->rows * from->k) * (double)batches(from));
    const size_t turned[3] = {(size_t)((end - first) / width), blocks(from->k, block_k), batches(from)};
    const size_t lines[3] = {batches(from), (size_t)(end / panel - first / panel), blocks(from->k, block_k)};
    return clfi_launch_3d(&launch, is_turned ? turned : lines, (const size_t[3]){1, 1, 1});
}

/* Packs columns first .. first + rows of panels that hold `padded` columns in all. The rest of the last panel becomes 0; a later part
 * overwrites it. */
static clf_status pack_panels(clf_context *context, const pack_source *from, const clf_buffer *to, clf_dtype dtype, int64_t to_offset,
                              int64_t panel, int64_t first, int64_t padded)
{
    const clf_device_caps *caps = &context->device.caps;
    const pack_grid grid = grid_of(context);
    if (caps->is_cpu && !caps->slow_compiler && (from->k_stride == 1 || from->row_stride == 1) && first % caps->vector_width == 0)
        return pack_panels_vector(context, from, to, dtype, to_offset, panel, first, padded);
    clf_launch launch = pack_launch(context, "gemm_pack_panels.cl", "gemm_pack_panels", from, dtype, &grid);
    arg_source(&launch, from);
    clfi_arg_buffer(&launch, to);
    clfi_arg_long(&launch, to_offset);
    clfi_arg_long(&launch, padded * from->k);
    clfi_arg_int(&launch, panel);
    clfi_arg_int(&launch, first);
    clfi_arg_int(&launch, padded);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)(from->rows * from->k) * (double)batches(from));
    const int64_t panels = (first + from->rows + panel - 1) / panel - first / panel;
    const size_t groups[3] = {blocks(from->k, grid.k * (int64_t)grid.local), (size_t)panels, batches(from)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){grid.local, 1, 1});
}

/* Puts the batch dimensions along which `operand` changes into `from`. `packed` is dense in them, with `step` elements per matrix, and has
 * stride 0 in the others. */
static void distinct_batches(const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t step, pack_source *from,
                             clf_gemm_operand *packed)
{
    from->batch_rank = 0;
    memset(packed->batch_stride, 0, sizeof packed->batch_stride);
    for (int i = args->batch_rank - 1; i >= 0; i--) {
        if (operand->batch_stride[i] == 0 || args->batch[i] == 1)
            continue;
        packed->batch_stride[i] = step;
        step *= args->batch[i];
    }
    for (int i = 0; i < args->batch_rank; i++) {
        if (packed->batch_stride[i] == 0)
            continue;
        from->batch[from->batch_rank] = args->batch[i];
        from->batch_stride[from->batch_rank++] = operand->batch_stride[i];
    }
}

/* Allocates the f32 elements of all distinct batches. OUT_OF_MEMORY also if their size overflows. */
static clf_status arena_words(clf_context *context, const pack_source *from, int64_t matrix, clf_region *out_region, clf_gemm_operand *out)
{
    size_t bytes = sizeof(float);
    if (!clfi_mul_size(bytes, (size_t)matrix, &bytes) || !clfi_mul_size(bytes, batches(from), &bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "gemm: packed operand of %zu matrices of %lld elements: not enough memory", batches(from),
                 (long long)matrix);
    CLF_TRY(clfi_arena_alloc(context, bytes, out_region));
    out->buffer = out_region->buffer;
    out->dtype = CLF_F32;
    out->offset = (int64_t)(out_region->offset_bytes / sizeof(float));
    return CLF_OK;
}

static clf_status arena_floats(clf_context *context, const pack_source *from, int64_t matrix, clf_gemm_operand *out)
{
    clf_region region;
    return arena_words(context, from, matrix, &region, out);
}

clf_status clfi_gemm_pack_dense(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t rows,
                                int64_t columns, clf_gemm_operand *out)
{
    pack_source from = {.buffer = operand->buffer,
                        .dtype = operand->dtype,
                        .rows = rows,
                        .k = columns,
                        .offset = operand->offset,
                        .row_stride = operand->row_stride,
                        .k_stride = operand->column_stride};
    clf_gemm_operand packed = {.row_stride = columns, .column_stride = 1};
    distinct_batches(args, operand, rows * columns, &from, &packed);
    CLF_TRY(arena_floats(context, &from, rows * columns, &packed));
    CLF_TRY(pack_rows(context, &from, packed.buffer, CLF_F32, packed.offset));
    *out = packed;
    return CLF_OK;
}

clf_status clfi_gemm_pack_b(clf_context *context, const clf_gemm_args *args, int64_t panel, clf_gemm_operand *out)
{
    const clf_gemm_operand *b = &args->b;
    const int64_t padded = (args->n + panel - 1) / panel * panel;
    pack_source from = {.buffer = b->buffer,
                        .dtype = b->dtype,
                        .rows = args->n,
                        .k = args->k,
                        .offset = b->offset,
                        .row_stride = b->column_stride,
                        .k_stride = b->row_stride};
    clf_gemm_operand packed = {0};
    distinct_batches(args, b, padded * args->k, &from, &packed);
    CLF_TRY(arena_floats(context, &from, padded * args->k, &packed));
    CLF_TRY(pack_panels(context, &from, packed.buffer, CLF_F32, packed.offset, panel, 0, padded));
    *out = packed;
    return CLF_OK;
}

/* Packs lines first .. first + rows of a matrix of `lines` lines. */
static clf_status pack_bf16(clf_context *context, const pack_source *from, bool is_b, int parts, const clf_buffer *to, int64_t to_offset,
                            int64_t lines, int64_t first)
{
    clf_kernel_spec spec = clfi_kernel_spec("gemm_pack_bf16.cl", "gemm_pack_bf16");
    clfi_spec_int(&spec, "WIDTH", 16);
    clfi_spec_dtype(&spec, "FROM", from->dtype);
    clfi_spec_int(&spec, "IS_B", is_b);
    clfi_spec_int(&spec, "IS_K_DENSE", from->k_stride == 1);
    clfi_spec_int(&spec, "PARTS", parts);
    clf_launch launch = clfi_launch(context, &spec);
    arg_source(&launch, from);
    clfi_arg_buffer(&launch, to);
    clfi_arg_long(&launch, to_offset);
    clfi_arg_int(&launch, lines);
    clfi_arg_int(&launch, first);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)(from->rows * from->k) * (double)batches(from));
    const int64_t line_blocks = (first + from->rows + CLFI_BF16_LINES - 1) / CLFI_BF16_LINES - first / CLFI_BF16_LINES;
    const size_t groups[3] = {(size_t)line_blocks, blocks(from->k, CLFI_BF16_LINES), batches(from)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){1, 1, 1});
}

clf_status clfi_gemm_pack_bf16(clf_context *context, const clf_gemm_args *args, bool is_b, int parts, clf_region *out_region,
                               clf_gemm_operand *out)
{
    const clf_gemm_operand *operand = is_b ? &args->b : &args->a;
    pack_source from = {.buffer = operand->buffer,
                        .dtype = operand->dtype,
                        .rows = is_b ? args->n : args->m,
                        .k = args->k,
                        .offset = operand->offset,
                        .row_stride = is_b ? operand->column_stride : operand->row_stride,
                        .k_stride = is_b ? operand->row_stride : operand->column_stride};
    clf_gemm_operand packed = {0};
    int64_t words;
    if (!clfi_bf16_words(from.rows, from.k, parts, &words))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "gemm: packed operand of %lld x %lld: not enough memory", (long long)from.rows, (long long)from.k);
    distinct_batches(args, operand, words, &from, &packed);
    CLF_TRY(arena_words(context, &from, words, out_region, &packed));
    CLF_TRY(pack_bf16(context, &from, is_b, parts, packed.buffer, packed.offset, from.rows, 0));
    *out = packed;
    return CLF_OK;
}

clf_status clfi_gemm_pack_bias(clf_context *context, const clf_gemm_operand *from, int64_t count, int64_t padded, clf_buffer *to,
                               int64_t to_offset)
{
    clf_kernel_spec spec = clfi_kernel_spec("gemm_pack_bias.cl", "gemm_pack_bias");
    clfi_spec_dtype(&spec, "FROM", from->buffer ? from->dtype : CLF_F32);
    know_local(&spec, 64);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, from->buffer ? count : 0);
    clfi_arg_int(&launch, padded);
    clfi_arg_buffer(&launch, from->buffer);
    clfi_arg_long(&launch, from->offset);
    clfi_arg_long(&launch, from->column_stride);
    clfi_arg_buffer(&launch, to);
    clfi_arg_long(&launch, to_offset);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)padded);
    return clfi_launch_1d(&launch, blocks(padded, 64), 64);
}

clf_status clfi_gemm_pack_biases(clf_context *context, int parts, const clf_view *weights, const clf_view *biases, clf_gemm_weight *weight)
{
    bool has_bias = false;
    for (int i = 0; biases && i < parts; i++)
        has_bias |= biases[i].buffer != NULL;
    if (!has_bias)
        return CLF_OK;
    CLF_TRY(clfi_buffer_create(context, (size_t)clfi_gemm_padded_bias(weight->n) * sizeof(float), &weight->bias));
    int64_t first = 0;
    for (int i = 0; i < parts; i++) {
        const clf_view *bias = &biases[i];
        const int64_t count = weights[i].dim[0];
        const int64_t padded = i + 1 < parts ? count : clfi_gemm_padded_bias(weight->n) - first;
        const clf_gemm_operand from = {
            .buffer = bias->buffer, .dtype = bias->dtype, .offset = bias->offset, .column_stride = bias->buffer ? bias->stride[0] : 0};
        CLF_TRY(clfi_gemm_pack_bias(context, &from, count, padded, weight->bias, first));
        first += count;
    }
    return CLF_OK;
}

static pack_source weight_source(const clf_view *weight)
{
    return (pack_source){.buffer = weight->buffer,
                         .dtype = weight->dtype,
                         .rows = weight->dim[0],
                         .k = weight->dim[1],
                         .offset = weight->offset,
                         .row_stride = weight->stride[0],
                         .k_stride = weight->stride[1]};
}

clf_status clfi_gemm_pack_weight_rows(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight)
{
    const pack_source source = weight_source(from);
    return pack_rows(context, &source, weight->buffer, weight->dtype, first * weight->k);
}

clf_status clfi_gemm_pack_weight_panels(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight)
{
    const pack_source source = weight_source(from);
    const int64_t padded = (weight->n + weight->panel - 1) / weight->panel * weight->panel;
    return pack_panels(context, &source, weight->buffer, weight->dtype, 0, weight->panel, first, padded);
}

clf_status clfi_gemm_pack_weight_bf16(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight)
{
    const pack_source source = weight_source(from);
    return pack_bf16(context, &source, true, clfi_gemm_weight_parts(weight), weight->buffer, 0, weight->n, first);
}

clf_status clfi_gemm_pack_weight_columns(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight)
{
    if (first != 0 || from->dim[0] != weight->n)
        CLF_FAIL(CLF_INTERNAL, "linear: form columns packs only whole weights");
    const pack_source source = {.buffer = from->buffer,
                                .dtype = from->dtype,
                                .rows = weight->k,
                                .k = weight->n,
                                .offset = from->offset,
                                .row_stride = from->stride[1],
                                .k_stride = from->stride[0]};
    return pack_rows(context, &source, weight->buffer, CLF_F32, 0);
}
