/* SPDX-License-Identifier: MIT */
/* Launches the lookup of rows of quantised blocks as floats. */
#include "kernel/weight_rows.h"

enum { ITEM_COLUMNS = 32, GROUP = 16 };

void clfi_spec_blocks(clf_kernel_spec *spec, clf_weight_type type)
{
    clfi_spec_int(spec, "BLOCKS", clfi_weight_type_info(type)->gguf);
}

clf_status clfi_weight_rows_run(clf_context *context, const clf_embedding_args *args)
{
    const clf_view *table = args->terms[0].table, *ids = args->terms[0].ids, *y = args->y;
    const size_t local = context->device.caps.is_cpu ? 1 : GROUP;
    clf_kernel_spec spec = clfi_kernel_spec("weight_rows.cl", "weight_rows");
    clfi_spec_blocks(&spec, table->blocks);
    clfi_spec_int(&spec, "HAS_IDS", ids != NULL);
    clfi_spec_int(&spec, "IS_SPLIT", args->is_split);
    clfi_spec_int(&spec, "ITEM_COLUMNS", ITEM_COLUMNS);
    clfi_spec_dtype(&spec, "Y", y->dtype);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, table->buffer);
    clfi_arg_long(&launch, table->offset);
    clfi_arg_long(&launch, table->stride[0]);
    clfi_arg_long(&launch, table->dim[0]);
    clfi_arg_long(&launch, args->block[0].first);
    clfi_arg_long(&launch, args->block[0].total);
    clfi_arg_buffer(&launch, ids ? ids->buffer : table->buffer);
    clfi_arg_long(&launch, ids ? ids->offset : 0);
    clfi_arg_long(&launch, ids ? ids->stride[0] : 0);
    clfi_arg_float(&launch, args->scale);
    clfi_arg_view(&launch, y);
    clfi_arg_long(&launch, y->stride[0]);
    clfi_arg_int(&launch, y->dim[1]);
    const size_t items = (size_t)((y->dim[1] + ITEM_COLUMNS - 1) / ITEM_COLUMNS);
    clfi_launch_work(&launch, 2.0 * (double)clfi_view_count(y), 2.0 * sizeof(float) * (double)clfi_view_count(y));
    return clfi_launch_2d(&launch, (items + local - 1) / local, (size_t)y->dim[0], local, 1);
}
