/* SPDX-License-Identifier: MIT */
/* Runs einsum plans: each step is lowered for the operands' actual strides and enqueued as a matrix product or as loops. */
#include <string.h>

#include "op/einsum.h"
#include "op/einsum_lower.h"
#include "op/gemm.h"

/* The data that the steps of one run share. */
typedef struct einsum_run {
    clf_context *context;
    const clf_einsum_plan *plan;
    clf_einsum_strides strides;
    clf_einsum_memory term[CLF_EINSUM_MAX_OPERANDS + CLFI_EINSUM_MAX_STEPS];
} einsum_run;

static clf_einsum_memory memory_of(const clf_view *view)
{
    return (clf_einsum_memory){view->buffer, view->dtype, view->offset};
}

/* Dense f32 memory from the arena. */
static clf_status scratch(clf_context *context, int64_t elements, clf_einsum_memory *out)
{
    clf_view view;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 1, &elements, &view));
    *out = memory_of(&view);
    return CLF_OK;
}

/* Copies the elements of `labels` from one layout to another. */
static clf_status copy(const einsum_run *run, clf_label_set labels, const clf_einsum_memory *from, const int64_t *from_stride,
                       const clf_einsum_memory *to, const int64_t *to_stride)
{
    clf_einsum_access access = {.inputs = 1, .labels = labels, .kept = labels};
    clf_einsum_loops loops;
    memcpy(access.stride[0], from_stride, sizeof access.stride[0]);
    memcpy(access.stride[1], to_stride, sizeof access.stride[1]);
    clfi_einsum_loops_make(&access, run->plan->form.size, &loops);
    return clfi_einsum_loops(run->context, &loops, from, to);
}

static clf_status run_gemm(const einsum_run *run, const clf_einsum_access *access, const clf_einsum_lowering *lowering,
                           const clf_einsum_memory *in, const clf_einsum_memory *out)
{
    clf_einsum_memory term[3] = {in[0], in[1], *out};
    for (int t = 0; t < 3; t++)
        if (lowering->copied[t])
            CLF_TRY(scratch(run->context, lowering->copy_elements[t], &term[t]));
    for (int t = 0; t < 2; t++) {
        clf_label_set labels = labels_none(); /* without labels of stride 0, along which elements repeat: one copy is enough */
        for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
            if (labels_has(access->labels, label) && access->stride[t][label])
                labels_add(&labels, label);
        if (lowering->copied[t])
            CLF_TRY(copy(run, labels, &in[t], access->stride[t], &term[t], lowering->copy_stride[t]));
    }
    clf_gemm_args args;
    clfi_einsum_gemm_args(&lowering->gemm, term, &args);
    CLF_TRY(clfi_gemm(run->context, &args));
    return lowering->copied[2] ? copy(run, access->kept, &term[2], lowering->copy_stride[2], out, access->stride[2]) : CLF_OK;
}

static clf_status run_step(einsum_run *run, int index, const clf_einsum_memory *out)
{
    const clf_einsum_plan *plan = run->plan;
    const clf_einsum_step *step = &plan->step[index];
    clf_einsum_memory in[CLF_EINSUM_MAX_OPERANDS];
    clf_einsum_lowered room;
    const clf_einsum_lowering *lowering = clfi_einsum_lower_step(plan, &run->strides, index, &room);
    for (int i = 0; i < step->input_count; i++)
        in[i] = run->term[step->input[i]];
    if (lowering->kind != CLFI_EINSUM_GEMM)
        return clfi_einsum_loops(run->context, &lowering->loops, in, out);
    const clf_arena_mark mark = clfi_arena_top(run->context);
    const clf_status st = run_gemm(run, &room.access, lowering, in, out);
    clfi_arena_release(run->context, mark);
    return st;
}

/* Writes zeros to every element of a view without zero sizes. */
static clf_status write_zeros(clf_context *context, const clf_view *out)
{
    clf_einsum_loops loops;
    const clf_einsum_memory memory = memory_of(out);
    loops.inputs = loops.kept_rank = loops.summed_rank = 0;
    for (int axis = 0; axis < out->rank; axis++)
        if (out->dim[axis] > 1)
            loops.kept[loops.kept_rank++] = (clf_einsum_dim){.size = out->dim[axis], .stride = {out->stride[axis]}};
    return clfi_einsum_loops(context, &loops, NULL, &memory);
}

/* Whether the views' byte ranges, from the first to the last element, overlap. */
static bool may_overlap(const clf_view *a, const clf_view *b)
{
    if (a->buffer != b->buffer)
        return false;
    const clf_view *view[] = {a, b};
    int64_t first[2], end[2];
    for (int v = 0; v < 2; v++) {
        int64_t last = view[v]->offset;
        for (int axis = 0; axis < view[v]->rank; axis++)
            last += (view[v]->dim[axis] - 1) * view[v]->stride[axis];
        first[v] = view[v]->offset * (int64_t)clf_dtype_bytes(view[v]->dtype);
        end[v] = (last + 1) * (int64_t)clf_dtype_bytes(view[v]->dtype);
    }
    return first[0] < end[1] && first[1] < end[0];
}

static clf_status run_steps(einsum_run *run, const clf_view *const *operands, const clf_view *out)
{
    const clf_einsum_form *form = &run->plan->form;
    for (int k = 0; k < form->operand_count; k++) {
        run->term[k] = memory_of(operands[k]);
        clfi_einsum_operand_strides(form, k, operands[k]->stride, run->strides.operand[k]);
    }
    clfi_einsum_output_strides(form, out->stride, run->strides.output);
    for (int s = 0; s < run->plan->step_count; s++) {
        clf_einsum_memory *result = &run->term[form->operand_count + s];
        if (s + 1 < run->plan->step_count)
            CLF_TRY(scratch(run->context, (int64_t)run->plan->step[s].elements, result));
        else
            *result = memory_of(out);
        CLF_TRY(run_step(run, s, result));
    }
    return CLF_OK;
}

/* For an out that shares memory with an operand: computes the result in temporary memory, then copies it to out. */
static clf_status run_aside(einsum_run *run, const clf_view *const *operands, const clf_view *out)
{
    clf_view aside;
    clf_einsum_loops loops;
    CLF_TRY(clfi_view_temporary(run->context, CLF_F32, out->rank, out->dim, &aside));
    CLF_TRY(run_steps(run, operands, &aside));
    const clf_einsum_memory from = memory_of(&aside), to = memory_of(out);
    loops.inputs = 1;
    loops.kept_rank = loops.summed_rank = 0;
    for (int axis = 0; axis < out->rank; axis++)
        if (out->dim[axis] > 1)
            loops.kept[loops.kept_rank++] = (clf_einsum_dim){.size = out->dim[axis], .stride = {aside.stride[axis], out->stride[axis]}};
    return clfi_einsum_loops(run->context, &loops, &from, &to);
}

clf_status clfi_einsum_run(clf_context *context, const clf_einsum_plan *plan, const clf_view *const *operands, const clf_view *out)
{
    if (plan->form.output_elements == 0)
        return CLF_OK;
    if (plan->step_count == 0)
        return write_zeros(context, out);
    einsum_run run = {.context = context, .plan = plan};
    bool shares = false;
    for (int k = 0; k < plan->form.operand_count; k++)
        shares |= may_overlap(operands[k], out);
    const clf_arena_mark mark = clfi_arena_top(context);
    const clf_status st = shares ? run_aside(&run, operands, out) : run_steps(&run, operands, out);
    clfi_arena_release(context, mark);
    return st;
}
