/* SPDX-License-Identifier: MIT */
/* Launches embedding lookups. */
#include "kernel/embedding.h"

#include <limits.h>
#include <stdio.h>

#include "kernel/loops.h"

enum { GROUP_WG = 64 /* work-group size without launch graphs */ };

/* The same struct as in cl/shared/embedding_rows.cl. */
typedef struct table_layout {
    cl_long offset, row_stride, rows, first, total, ids_offset, ids_stride;
} table_layout;

/* Term k, or the first again where there is none. */
static const clf_embedding_term *term(const clf_embedding_args *args, int k)
{
    return &args->terms[k < args->count ? k : 0];
}

static clf_kernel_spec spec_of(const clf_embedding_args *args, const char *file, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    char name[16];
    clfi_spec_int(&spec, "TERMS", args->count);
    clfi_spec_int(&spec, "IS_SPLIT", args->is_split);
    for (int k = 0; k < CLFI_EMBEDDING_TERMS; k++) {
        snprintf(name, sizeof name, "TABLE%d", k);
        clfi_spec_dtype(&spec, name, term(args, k)->table->dtype);
        snprintf(name, sizeof name, "HAS_IDS%d", k);
        clfi_spec_int(&spec, name, term(args, k)->ids != NULL);
    }
    clfi_spec_dtype(&spec, "Y", args->y->dtype);
    return spec;
}

static void set_operands(clf_launch *launch, const clf_embedding_args *args)
{
    for (int k = 0; k < CLFI_EMBEDDING_TERMS; k++) {
        const clf_view *table = term(args, k)->table, *ids = term(args, k)->ids;
        const clf_embedding_block *block = &args->block[k < args->count ? k : 0];
        const table_layout layout = {table->offset, table->stride[0],      table->dim[0],           block->first,
                                     block->total,  ids ? ids->offset : 0, ids ? ids->stride[0] : 0};
        clfi_arg_buffer(launch, table->buffer);
        clfi_arg_buffer(launch, ids ? ids->buffer : table->buffer);
        clfi_arg_struct(launch, "table_layout", &layout, sizeof layout);
    }
    clfi_arg_float(launch, args->scale);
    clfi_arg_view(launch, args->y);
    clfi_arg_long(launch, args->y->stride[0]);
}

static void state_work(clf_launch *launch, const clf_embedding_args *args)
{
    clfi_launch_work(launch, 0, sizeof(float) * (args->count + 1) * (double)clfi_view_count(args->y));
}

static int64_t vector_iterations(const clf_context *context, const clf_embedding_args *args)
{
    const int width = context->device.caps.vector_width;
    return args->y->dim[1] / width + width;
}

bool clfi_embedding_vector_supports(const clf_context *context, const void *args)
{
    return clfi_loops_fit(context, vector_iterations(context, args));
}

clf_status clfi_embedding_vector(clf_context *context, const void *arguments)
{
    const clf_embedding_args *args = arguments;
    const int64_t tokens = args->y->dim[0];
    clf_kernel_spec spec = spec_of(args, "embedding_vector.cl", "embedding_vector");
    clfi_spec_int(&spec, "WIDTH", context->device.caps.vector_width);
    const int64_t per_item = clfi_rows_per_item(context, tokens, vector_iterations(context, args));
    clf_launch launch = clfi_launch(context, &spec);
    set_operands(&launch, args);
    clfi_arg_long(&launch, tokens);
    clfi_arg_int(&launch, per_item);
    clfi_arg_int(&launch, args->y->dim[1]);
    state_work(&launch, args);
    return clfi_launch_1d(&launch, (size_t)((tokens + per_item - 1) / per_item), 1);
}

bool clfi_embedding_group_supports(const clf_context *context, const void *args)
{
    (void)context;
    return ((const clf_embedding_args *)args)->y->dim[1] <= INT_MAX;
}

clf_status clfi_embedding_group(clf_context *context, const void *arguments)
{
    const clf_embedding_args *args = arguments;
    const int group = clfi_graph_group_or(&context->device.caps, GROUP_WG);
    clf_kernel_spec spec = spec_of(args, "embedding_group.cl", "embedding_group");
    clfi_spec_int(&spec, "WG", group);
    clf_launch launch = clfi_launch(context, &spec);
    set_operands(&launch, args);
    clfi_arg_int(&launch, args->y->dim[1]);
    state_work(&launch, args);
    return clfi_launch_2d(&launch, (size_t)((args->y->dim[1] + group - 1) / group), (size_t)args->y->dim[0], (size_t)group, 1);
}
