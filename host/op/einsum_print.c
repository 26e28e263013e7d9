/* SPDX-License-Identifier: MIT */
/* Prints an einsum plan. Intermediates are shown by their labels in memory order, without axes of size 1, which plans do not have. */
#include "op/einsum_print.h"

#include <math.h>
#include <stdio.h>

static clf_status append_count(clf_str *out, double value)
{
    return value < 1e15 ? clfi_str_appendf(out, "%.0f", value) : clfi_str_appendf(out, "%.3e", value);
}

static clf_status append_labels(const clf_einsum_form *form, const uint8_t *label, int rank, clf_str *out)
{
    char text[CLFI_EINSUM_LABEL_TEXT];
    for (int i = 0; i < rank; i++)
        CLF_TRY(clfi_str_append_text(out, clfi_einsum_label_text(form, label[i], text)));
    return CLF_OK;
}

static clf_status append_shape(const int64_t *dim, int rank, clf_str *out)
{
    CLF_TRY(clfi_str_append_char(out, '['));
    for (int i = 0; i < rank; i++)
        CLF_TRY(clfi_str_appendf(out, "%s%lld", i ? "," : "", (long long)dim[i]));
    return clfi_str_append_char(out, ']');
}

static clf_status append_header(const clf_einsum_plan *plan, clf_str *out)
{
    const clf_einsum_form *form = &plan->form;
    CLF_TRY(clfi_str_append_text(out, "equation  "));
    for (int k = 0; k < form->operand_count; k++) {
        if (k)
            CLF_TRY(clfi_str_append_char(out, ','));
        CLF_TRY(append_labels(form, form->operand[k].label, form->operand[k].rank, out));
    }
    CLF_TRY(clfi_str_append_text(out, "->"));
    CLF_TRY(append_labels(form, form->output, form->output_rank, out));
    CLF_TRY(clfi_str_append_text(out, "\noperands  "));
    for (int k = 0; k < form->operand_count; k++) {
        if (k)
            CLF_TRY(clfi_str_append_char(out, ' '));
        CLF_TRY(append_shape(form->operand[k].dim, form->operand[k].rank, out));
    }
    CLF_TRY(clfi_str_append_text(out, "\nresult    "));
    CLF_TRY(append_shape(form->output_dim, form->output_rank, out));
    return clfi_str_append_char(out, '\n');
}

/* Prints positions in the list of remaining terms: a step removes its inputs and appends its result. An own sum is a one-element step. */
static clf_status append_path(const clf_einsum_plan *plan, clf_str *out)
{
    int list[CLF_EINSUM_MAX_OPERANDS + CLFI_EINSUM_MAX_STEPS], count = plan->form.operand_count;
    for (int k = 0; k < count; k++)
        list[k] = k;
    CLF_TRY(clfi_str_append_text(out, "path     "));
    for (int s = 0; s < plan->step_count; s++) {
        const clf_einsum_step *step = &plan->step[s];
        int left = 0;
        CLF_TRY(clfi_str_append_text(out, " ("));
        const char *comma = "";
        for (int i = 0; i < count; i++) {
            bool taken = false;
            for (int j = 0; j < step->input_count; j++)
                taken |= step->input[j] == list[i];
            if (taken) {
                CLF_TRY(clfi_str_appendf(out, "%s%d", comma, i));
                comma = ",";
            } else {
                list[left++] = list[i];
            }
        }
        list[left++] = plan->form.operand_count + s;
        count = left;
        CLF_TRY(clfi_str_append_text(out, step->input_count == 1 ? ",)" : ")"));
    }
    return clfi_str_append_char(out, '\n');
}

static clf_status append_term(const clf_einsum_plan *plan, int number, clf_str *out)
{
    const int count = plan->form.operand_count;
    if (number < count) {
        const clf_einsum_operand *operand = &plan->form.operand[number];
        for (int axis = 0; axis < operand->rank; axis++)
            if (operand->dim[axis] != 1)
                CLF_TRY(append_labels(&plan->form, &operand->label[axis], 1, out));
        return CLF_OK;
    }
    return append_labels(&plan->form, plan->step[number - count].order, plan->step[number - count].rank, out);
}

static clf_status append_lowering(const clf_einsum_lowering *lowering, clf_einsum_engine_name engine, void *user, clf_str *out)
{
    static const char *const copies[] = {"first input copied, ", "second input copied, ", "result copied, "};
    if (engine)
        CLF_TRY(engine(user, lowering, out));
    else
        CLF_TRY(clfi_str_append_text(out, clfi_einsum_kind_name(lowering->kind)));
    CLF_TRY(clfi_str_append_text(out, ": "));
    if (lowering->kind != CLFI_EINSUM_GEMM)
        return clfi_str_appendf(out, "%d kept and %d summed loops", lowering->loops.kept_rank, lowering->loops.summed_rank);
    for (int t = 0; t < 3; t++)
        if (lowering->copied[t])
            CLF_TRY(clfi_str_append_text(out, copies[t]));
    const clf_einsum_gemm *gemm = &lowering->gemm;
    CLF_TRY(clfi_str_append_text(out, "batch "));
    CLF_TRY(clfi_str_append_text(out, gemm->batch_rank ? "" : "1"));
    for (int i = 0; i < gemm->batch_rank; i++)
        CLF_TRY(clfi_str_appendf(out, "%s%lld", i ? "x" : "", (long long)gemm->batch[i].size));
    return clfi_str_appendf(out, " m %lld n %lld k %lld", (long long)gemm->m.size, (long long)gemm->n.size, (long long)gemm->k.size);
}

static clf_status append_step(const clf_einsum_plan *plan, const clf_einsum_strides *strides, int s, clf_einsum_engine_name engine,
                              void *user, clf_str *out)
{
    const clf_einsum_step *step = &plan->step[s];
    CLF_TRY(clfi_str_appendf(out, "step %-4d ", s));
    for (int i = 0; i < step->input_count; i++) {
        if (i)
            CLF_TRY(clfi_str_append_char(out, ','));
        CLF_TRY(append_term(plan, step->input[i], out));
    }
    CLF_TRY(clfi_str_append_text(out, "->"));
    CLF_TRY(append_labels(&plan->form, step->order, step->rank, out));
    CLF_TRY(clfi_str_append_text(out, "  terms "));
    for (int i = 0; i < step->input_count; i++)
        CLF_TRY(clfi_str_appendf(out, "%s%d", i ? "," : "", step->input[i]));
    CLF_TRY(clfi_str_appendf(out, "->%d  cost ", plan->form.operand_count + s));
    CLF_TRY(append_count(out, step->cost));
    CLF_TRY(clfi_str_append_text(out, "  elements "));
    CLF_TRY(append_count(out, step->elements));
    CLF_TRY(clfi_str_append_text(out, "  "));

    clf_einsum_lowered room;
    CLF_TRY(append_lowering(clfi_einsum_lower_step(plan, strides, s, &room), engine, user, out));
    return clfi_str_append_char(out, '\n');
}

clf_status clfi_einsum_print(const clf_einsum_plan *plan, const clf_einsum_strides *strides, clf_einsum_engine_name engine, void *user,
                             clf_str *out)
{
    CLF_TRY(append_header(plan, out));
    if (plan->step_count == 0)
        return clfi_str_append_text(out, plan->form.output_elements ? "no step: an empty sum, the result is filled with zeros\n"
                                                                    : "no step: the result is empty\n");
    CLF_TRY(append_path(plan, out));
    CLF_TRY(clfi_str_append_text(out, "cost      "));
    CLF_TRY(append_count(out, plan->cost));
    CLF_TRY(clfi_str_append_text(out, ", naive "));
    CLF_TRY(append_count(out, plan->naive_cost));
    CLF_TRY(clfi_str_append_text(out, ", largest intermediate "));
    CLF_TRY(append_count(out, plan->largest));
    CLF_TRY(clfi_str_append_text(out, " elements\n"));
    for (int s = 0; s < plan->step_count; s++)
        CLF_TRY(append_step(plan, strides, s, engine, user, out));
    return CLF_OK;
}
