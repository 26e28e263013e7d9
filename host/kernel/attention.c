/* SPDX-License-Identifier: MIT */
/* Macros, arguments and work estimates that all attention launchers share. */
#include "kernel/attention.h"

#include "kernel/attention_keep.h"

enum { SCORE_MULTIPLY_ADDS = 16 /* cost of a score's exponential, mask and sum */ };

void clfi_attention_spec(clf_kernel_spec *spec, const clf_attention_call *call)
{
    static const char *const policies[] = {
        [CLF_EMPTY_ROWS_ZERO] = "EMPTY_ROWS_ZERO",
        [CLF_EMPTY_ROWS_NAN] = "EMPTY_ROWS_NAN",
        [CLF_EMPTY_ROWS_UNIFORM] = "EMPTY_ROWS_UNIFORM",
    };
    clfi_spec_int(spec, "HEAD", call->q->dim[2]);
    clfi_spec_int(spec, "HEAD_V", call->v->dim[2]);
    clfi_spec_int(spec, "IS_CAUSAL", call->is_causal);
    clfi_spec_int(spec, "HAS_KEY_MASK", call->key_mask != NULL);
    clfi_spec_int(spec, "HAS_LENGTHS", call->lengths != NULL);
    clfi_spec_int(spec, "HAS_BIAS", call->bias != NULL);
    clfi_spec_int(spec, "HAS_WINDOW", call->window > 0);
    clfi_spec_int(spec, "HAS_KEEP", call->keep != NULL);
    clfi_spec_text(spec, "EMPTY_ROWS", policies[call->empty_rows]);
}

/* Same structs as in cl/shared/attention_arguments.cl. */
typedef struct attention_rows {
    cl_long offset;
    cl_int head_stride, stride;
} attention_rows;

typedef struct attention_layout {
    attention_rows q, k, v, out, key_mask, lengths, bias;
    cl_int bias_reach, window, heads_per_key_head;
    cl_float scale;
} attention_layout;

/* An axis of -1 has a stride of 0. */
static attention_rows rows_of(clf_launch *launch, const clf_view *view, int head_axis, int row_axis)
{
    const int64_t head = head_axis < 0 ? 0 : view->stride[head_axis], row = row_axis < 0 ? 0 : view->stride[row_axis];
    if (launch->status == CLF_OK && (head != (cl_int)head || row != (cl_int)row))
        launch->status =
            clfi_fail(CLF_UNSUPPORTED, "attention: strides of %lld and %lld elements, more than 32 bits", (long long)head, (long long)row);
    return (attention_rows){view->offset, (cl_int)head, (cl_int)row};
}

void clfi_attention_arguments(clf_launch *launch, const clf_attention_call *call)
{
    attention_layout layout = {
        .q = rows_of(launch, call->q, 0, 1),
        .k = rows_of(launch, call->k, 0, 1),
        .v = rows_of(launch, call->v, 0, 1),
        .out = rows_of(launch, call->out, 1, 0),
        .window = call->window,
        .heads_per_key_head = (cl_int)(call->q->dim[0] / call->k->dim[0]),
        .scale = call->scale,
    };
    if (call->key_mask)
        layout.key_mask = rows_of(launch, call->key_mask, -1, 0);
    if (call->lengths)
        layout.lengths = rows_of(launch, call->lengths, -1, 0);
    if (call->bias) {
        layout.bias = rows_of(launch, call->bias, 0, -1);
        layout.bias_reach = (cl_int)(call->bias->dim[1] / 2);
    }
    clfi_arg_buffer(launch, call->tiles);
    clfi_arg_buffer(launch, call->q->buffer);
    clfi_arg_buffer(launch, call->k->buffer);
    clfi_arg_buffer(launch, call->v->buffer);
    clfi_arg_buffer(launch, call->out->buffer);
    /* An absent mask still needs a buffer: some drivers refuse null pointers. Its macro keeps the kernel from reading it. */
    clfi_arg_buffer(launch, (call->key_mask ? call->key_mask : call->q)->buffer);
    clfi_arg_buffer(launch, (call->lengths ? call->lengths : call->q)->buffer);
    clfi_arg_buffer(launch, (call->bias ? call->bias : call->q)->buffer);
    clfi_arg_struct(launch, "attention_layout", &layout, sizeof layout);
    clfi_arg_keep(launch, call->keep, call->q);
}

void clfi_attention_work(clf_launch *launch, const clf_attention_call *call)
{
    const double queries = (double)call->tile_count * call->tile_queries * (double)call->q->dim[0], keys = (double)call->max_keys;
    const double columns = (double)(call->q->dim[2] + call->v->dim[2]);
    clfi_launch_work(launch, queries * keys * (columns + SCORE_MULTIPLY_ADDS),
                     (double)sizeof(float) * (queries / call->tile_queries * keys * columns + queries * columns));
}
