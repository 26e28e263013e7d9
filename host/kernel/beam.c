/* SPDX-License-Identifier: MIT */
/* Launching the steps of a beam search. */
#include "kernel/beam.h"

/* Work-items of a group: enough to share the launch's cost, few enough to spread small batches. */
static size_t group_of(const clf_context *context)
{
    return context->device.caps.is_cpu ? 16 : 64;
}

clf_status clfi_beam_select(clf_context *context, const clf_beam_shape *shape, int32_t step, const clf_view *values,
                            const clf_view *indices, const clf_beam_state *state, const clf_beam_record *record)
{
    const clf_kernel_spec spec = clfi_kernel_spec("beam.cl", "beam_select");
    const size_t group = group_of(context);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, shape->active);
    clfi_arg_int(&launch, shape->width);
    clfi_arg_int(&launch, shape->classes);
    clfi_arg_int(&launch, shape->end_token);
    clfi_arg_int(&launch, step);
    clfi_arg_int(&launch, shape->batch_words);
    clfi_arg_view(&launch, values);
    clfi_arg_view(&launch, indices);
    clfi_arg_buffer(&launch, state->words);
    clfi_arg_buffer(&launch, state->tokens);
    clfi_arg_buffer(&launch, state->scores);
    clfi_arg_buffer(&launch, record->parents);
    clfi_arg_buffer(&launch, record->history_token);
    clfi_arg_buffer(&launch, record->history_parent);
    clfi_arg_buffer(&launch, record->finished_score);
    clfi_arg_buffer(&launch, record->finished_at);
    clfi_arg_buffer(&launch, record->finished_count);
    clfi_arg_buffer(&launch, record->done);
    return clfi_launch_1d(&launch, ((size_t)shape->active + group - 1) / group, group);
}

clf_status clfi_beam_advance(clf_context *context, const clf_beam_shape *shape, int32_t parent_width, int32_t keys, int32_t first_row,
                             const clf_buffer *keep, const clf_beam_state *from, const clf_beam_record *record, const clf_beam_state *to)
{
    const clf_kernel_spec spec = clfi_kernel_spec("beam.cl", "beam_advance");
    const size_t group = group_of(context), count = (size_t)shape->active * (size_t)shape->width;
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_int(&launch, shape->active);
    clfi_arg_int(&launch, shape->width);
    clfi_arg_int(&launch, parent_width);
    clfi_arg_int(&launch, keys);
    clfi_arg_int(&launch, shape->row_stride);
    clfi_arg_int(&launch, first_row);
    clfi_arg_int(&launch, keep != NULL);
    clfi_arg_buffer(&launch, keep ? keep : from->words); /* not read without a list */
    clfi_arg_buffer(&launch, from->words);
    clfi_arg_buffer(&launch, from->tokens);
    clfi_arg_buffer(&launch, from->scores);
    clfi_arg_buffer(&launch, record->parents);
    clfi_arg_buffer(&launch, from->rows);
    clfi_arg_buffer(&launch, to->words);
    clfi_arg_buffer(&launch, to->tokens);
    clfi_arg_buffer(&launch, to->scores);
    clfi_arg_buffer(&launch, to->rows);
    clfi_arg_buffer(&launch, record->source_first);
    clfi_arg_buffer(&launch, record->source_count);
    clfi_arg_buffer(&launch, to->first);
    clfi_arg_buffer(&launch, to->count);
    return clfi_launch_1d(&launch, (count + group - 1) / group, group);
}
