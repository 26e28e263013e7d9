/* SPDX-License-Identifier: MIT */
/* GEMM engine `gemv` for few rows of A: each element of B is read once for a block of up to 16 rows. */
#include "kernel/gemm_common.h"
#include "kernel/loops.h"

#include "runtime/probe.h"

enum { ROWS, GROUP, COLUMNS }; /* indices in clf_tile: most rows of a block, work-items of a group, columns of a group that sums along k */
enum { GROUP_WG = 64, GROUPS_PER_UNIT = 2 };
enum { MOST_SUMS = 8, PITCH = 8, SHARE = 8 }; /* MOST_SUMS: per item; the others as in group_sums.cl */

static const clf_tile_parameter parameters[] = {
    [ROWS] = {"rows", {1, 2, 4, 8, 16}},
    [GROUP] = {"group", {16, 32, 64, 128, 256}},
    [COLUMNS] = {"columns", {1, 2, 4}},
};

/* The group's partial sums lie in local memory. */
static bool group_fits(const clf_context *context, const clf_tile *tile, int group)
{
    const int columns = tile->value[COLUMNS] ? tile->value[COLUMNS] : 1;
    const uint64_t sums = (uint64_t)tile->value[ROWS] * (uint64_t)columns, each = (uint64_t)group + PITCH + SHARE;
    return (size_t)group <= context->device.caps.max_work_group_size &&
           sums * each * sizeof(float) <= context->device.caps.local_memory_bytes;
}

/* COLUMNS depends on the product and stays 0. Groups have the launch graph's size if local memory holds their sums. */
static clf_tile standard(const clf_context *context, const clf_tile *tile)
{
    clf_tile all = *tile;
    if (!all.value[ROWS])
        all.value[ROWS] = 16;
    if (!all.value[GROUP]) {
        const int group = clfi_graph_group_or(&context->device.caps, GROUP_WG);
        all.value[GROUP] = group_fits(context, &all, group) ? group : GROUP_WG;
    }
    return all;
}

static bool fits(const clf_context *context, const clf_tile *tile)
{
    const clf_tile all = standard(context, tile);
    return group_fits(context, &all, all.value[GROUP]);
}

const clf_tiling clfi_gemm_gemv_tiling = {parameters, COUNT(parameters), fits, standard};

/* Rows of a block: all of them, or equal blocks of at most `most`. */
static int64_t rows_of(int64_t m, int most)
{
    const int64_t count = (m + most - 1) / most;
    return (m + count - 1) / count;
}

bool clfi_gemm_gemv_supports(const clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    return clfi_loops_fit(context, args->k);
}

/* How B is read; *out_a: how A is read. */
static const char *reads_of(const clf_gemm_args *args, const clf_gemm_operand *b, const char **out_a)
{
    const int64_t wide = (int64_t)(4 * sizeof(float) / clf_dtype_bytes(b->dtype));
    const char *reads = clfi_gemm_reads(args, b, b->row_stride, b->column_stride, wide);
    *out_a = args->a.dtype == CLF_F32 ? clfi_gemm_reads(args, &args->a, args->a.column_stride, args->a.row_stride, 4) : "ELEMENTS";
    return *out_a[0] == 'E' ? *out_a : reads;
}

/* Columns of a group: at most MOST_SUMS sums per item, and fewer if the device would get too few groups. */
static int columns_of(const clf_context *context, const clf_gemm_args *args, int64_t rows)
{
    const int64_t blocks = (args->m + rows - 1) / rows * clfi_gemm_batch_count(args);
    const int64_t wanted = (int64_t)GROUPS_PER_UNIT * context->device.caps.compute_units;
    int columns = 4;
    while (columns > 1 && (columns * rows > MOST_SUMS || blocks * (args->n / columns) < wanted))
        columns /= 2;
    return columns;
}

clf_status clfi_gemm_gemv_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    const clf_tile tile = standard(context, &args->tile);
    const int64_t rows = rows_of(args->m, tile.value[ROWS]);
    const int group = tile.value[GROUP];
    const clf_gemm_operand b = clfi_gemm_b_operand(args);
    const bool is_dot = b.row_stride < b.column_stride;
    const int columns = !is_dot ? 1 : tile.value[COLUMNS] ? tile.value[COLUMNS] : columns_of(context, args, rows);
    const char *a_reads, *b_reads = reads_of(args, &b, &a_reads);
    clf_kernel_spec spec = clfi_kernel_spec("gemm_gemv.cl", is_dot ? "gemm_gemv_dot" : "gemm_gemv_columns");
    clfi_gemm_spec_result(&spec, args, 1);
    clfi_spec_dtype(&spec, "A", args->a.dtype);
    clfi_spec_dtype(&spec, "B", b.dtype);
    clfi_spec_int(&spec, "ROWS", rows);
    clfi_spec_int(&spec, "COLUMNS", columns);
    clfi_spec_int(&spec, "SUMS", rows * columns);
    clfi_spec_int(&spec, "WG", group);
    clfi_spec_int(&spec, "SUBGROUPS", is_dot ? clfi_probe_subgroups(context, CLFI_PROBE_GROUP_SUMS, group) : 0);
    clfi_spec_text(&spec, "A_READS", is_dot ? a_reads : "ELEMENTS");
    clfi_spec_text(&spec, "B_READS", is_dot ? b_reads : "ELEMENTS");
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, args->m);
    clfi_arg_int(&launch, args->n);
    clfi_arg_int(&launch, args->k);
    clfi_gemm_arg_operand(&launch, args, &args->a);
    clfi_gemm_arg_operand(&launch, args, &b);
    clfi_gemm_arg_result(&launch, args);
    clfi_gemm_work(&launch, args);
    const int64_t width = is_dot ? columns : group; /* columns of a group */
    const size_t groups[3] = {(size_t)((args->n + width - 1) / width), (size_t)((args->m + rows - 1) / rows),
                              (size_t)clfi_gemm_batch_count(args)};
    return clfi_launch_3d(&launch, groups, (const size_t[3]){(size_t)group, 1, 1});
}
