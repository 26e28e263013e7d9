/* SPDX-License-Identifier: MIT */
/* Shared by the launchers of attention. */
#include "kernel/attention.h"

#include "kernel/attention_keep.h"

enum { SCORE_MULTIPLY_ADDS = 16 /* of its exponential and the rest */ };

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

static void arg_rows(clf_launch *launch, const clf_view *view, int head_axis, int row_axis)
{
    clfi_arg_view(launch, view);
    clfi_arg_int(launch, view->stride[head_axis]);
    clfi_arg_int(launch, view->stride[row_axis]);
}

void clfi_attention_arguments(clf_launch *launch, const clf_attention_call *call)
{
    clfi_arg_buffer(launch, call->tiles);
    clfi_arg_int(launch, call->q->dim[0] / call->k->dim[0]);
    clfi_arg_float(launch, call->scale);
    arg_rows(launch, call->q, 0, 1);
    arg_rows(launch, call->k, 0, 1);
    arg_rows(launch, call->v, 0, 1);
    arg_rows(launch, call->out, 1, 0);
    /* An absent mask still needs a buffer: some drivers refuse null pointers. Its macro keeps the kernel from reading it. */
    const clf_view *key_mask = call->key_mask ? call->key_mask : call->q;
    const clf_view *lengths = call->lengths ? call->lengths : call->q;
    clfi_arg_buffer(launch, key_mask->buffer);
    clfi_arg_long(launch, call->key_mask ? key_mask->offset : 0);
    clfi_arg_int(launch, call->key_mask ? key_mask->stride[0] : 0);
    clfi_arg_buffer(launch, lengths->buffer);
    clfi_arg_long(launch, call->lengths ? lengths->offset : 0);
    clfi_arg_int(launch, call->lengths ? lengths->stride[0] : 0);
    clfi_arg_keep(launch, call->keep, call->q);
    clfi_arg_int(launch, call->window);
    clfi_arg_view(launch, call->bias ? call->bias : call->q);
    clfi_arg_int(launch, call->bias ? call->bias->stride[0] : 0);
    clfi_arg_int(launch, call->bias ? call->bias->dim[1] / 2 : 0);
}

void clfi_attention_work(clf_launch *launch, const clf_attention_call *call)
{
    const double queries = (double)call->tile_count * call->tile_queries * (double)call->q->dim[0], keys = (double)call->max_keys;
    const double columns = (double)(call->q->dim[2] + call->v->dim[2]);
    clfi_launch_work(launch, queries * keys * (columns + SCORE_MULTIPLY_ADDS),
                     (double)sizeof(float) * (queries / call->tile_queries * keys * columns + queries * columns));
}
