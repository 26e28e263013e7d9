/* SPDX-License-Identifier: MIT */
/* Makes einsum plans: canonical terms, own sums, contraction order, and layouts of intermediates that suit the step that reads them. */
#include "op/einsum_plan.h"

#include <math.h>
#include <string.h>

#include "op/einsum_path.h"

/* Canonical labels of operand k: those of its axes, size-1 axes dropped. */
static clf_label_set operand_labels(const clf_einsum_form *form, int k)
{
    clf_label_set set = labels_none();
    const clf_einsum_operand *operand = &form->operand[k];
    for (int axis = 0; axis < operand->rank; axis++)
        if (operand->dim[axis] != 1)
            labels_add(&set, operand->label[axis]);
    return set;
}

void clfi_einsum_operand_strides(const clf_einsum_form *form, int k, const int64_t *axis_stride, int64_t by_label[CLFI_EINSUM_MAX_LABELS])
{
    const clf_einsum_operand *operand = &form->operand[k];
    memset(by_label, 0, CLFI_EINSUM_MAX_LABELS * sizeof *by_label);
    for (int axis = 0; axis < operand->rank; axis++)
        if (operand->dim[axis] != 1)
            by_label[operand->label[axis]] += axis_stride[axis];
}

void clfi_einsum_output_strides(const clf_einsum_form *form, const int64_t *axis_stride, int64_t by_label[CLFI_EINSUM_MAX_LABELS])
{
    memset(by_label, 0, CLFI_EINSUM_MAX_LABELS * sizeof *by_label);
    for (int axis = 0; axis < form->output_rank; axis++)
        if (form->output_dim[axis] != 1)
            by_label[form->output[axis]] = axis_stride[axis];
}

void clfi_einsum_step_strides(const clf_einsum_plan *plan, int step, int64_t by_label[CLFI_EINSUM_MAX_LABELS])
{
    const clf_einsum_step *s = &plan->step[step];
    int64_t stride = 1;
    memset(by_label, 0, CLFI_EINSUM_MAX_LABELS * sizeof *by_label);
    for (int axis = s->rank - 1; axis >= 0; axis--) {
        by_label[s->order[axis]] = stride;
        stride *= plan->form.size[s->order[axis]];
    }
}

clf_label_set clfi_einsum_term_labels(const clf_einsum_plan *plan, int number)
{
    const int k = plan->form.operand_count;
    return number < k ? operand_labels(&plan->form, number) : plan->step[number - k].kept;
}

static clf_label_set output_labels(const clf_einsum_form *form)
{
    clf_label_set set = labels_none();
    for (int axis = 0; axis < form->output_rank; axis++)
        if (form->output_dim[axis] != 1)
            labels_add(&set, form->output[axis]);
    return set;
}

static clf_status resolve_limit(clf_einsum_plan *plan, int64_t memory_limit)
{
    const clf_einsum_form *form = &plan->form;
    plan->limit = INFINITY;
    if (memory_limit == CLF_EINSUM_NO_LIMIT)
        return CLF_OK;
    if (memory_limit == 0 || memory_limit < CLF_EINSUM_MAX_INPUT) {
        CLF_FAIL(CLF_UNSUPPORTED, "E_LIMIT: memory limit %lld, expected a positive number of elements", (long long)memory_limit);
    }
    plan->limited = 1;
    plan->limit = (double)memory_limit;
    if (memory_limit == CLF_EINSUM_MAX_INPUT) {
        plan->limit = (double)form->output_elements;
        for (int k = 0; k < form->operand_count; k++) {
            double elements = 1;
            for (int axis = 0; axis < form->operand[k].rank; axis++)
                elements *= (double)form->operand[k].dim[axis];
            plan->limit = fmax(plan->limit, elements);
        }
    }
    return CLF_OK;
}

static clf_einsum_step *add_step(clf_einsum_plan *plan, const uint8_t *input, int input_count, clf_label_set labels, clf_label_set kept)
{
    clf_einsum_step *step = &plan->step[plan->step_count++];
    memcpy(step->input, input, (size_t)input_count);
    step->input_count = input_count;
    step->labels = labels;
    step->kept = kept;
    step->cost = clfi_einsum_step_cost(labels, kept, input_count, plan->form.size);
    step->elements = labels_size(kept, plan->form.size);
    plan->cost += step->cost;
    return step;
}

/* Adds steps that sum the labels that only one term has. term_number[k]: the operand, or the step that summed it. */
static void add_own_sums(clf_einsum_plan *plan, clf_label_set output, clf_label_set *term, uint8_t *term_number)
{
    const int count = plan->form.operand_count;
    for (int k = 0; k < count; k++) {
        clf_label_set needed = output;
        for (int other = 0; other < count; other++)
            if (other != k)
                needed = labels_or(needed, term[other]);
        const clf_label_set kept = labels_and(term[k], needed);
        term_number[k] = (uint8_t)k;
        if (labels_equal(kept, term[k]) || (count > 1 && labels_size(kept, plan->form.size) > plan->limit))
            continue;
        add_step(plan, &(uint8_t){(uint8_t)k}, 1, term[k], kept);
        term_number[k] = (uint8_t)(count + plan->step_count - 1);
        term[k] = kept;
    }
}

/* Appends the labels of `from` (an order of axes) that are in `wanted` and not yet placed. */
static void place(clf_einsum_step *step, clf_label_set *placed, clf_label_set wanted, const uint8_t *from, int count)
{
    for (int i = 0; i < count; i++)
        if (labels_has(wanted, from[i]) && !labels_has(*placed, from[i])) {
            labels_add(placed, from[i]);
            step->order[step->rank++] = from[i];
        }
}

/* Axis order of a term; operands are taken to be row-major. Returns the rank. */
static int known_order(const clf_einsum_plan *plan, int number, uint8_t *out)
{
    const int count = plan->form.operand_count;
    if (number >= count) {
        memcpy(out, plan->step[number - count].order, (size_t)plan->step[number - count].rank);
        return plan->step[number - count].rank;
    }
    memcpy(out, plan->form.operand[number].label, (size_t)plan->form.operand[number].rank);
    return plan->form.operand[number].rank;
}

/* Chooses the layout of input `which` of step `reader`, an intermediate. It is [batch][free][summed] on the left of a product and
 * [batch][summed][free] on its right, where batch are the kept labels that both factors share. Each group has the order in which the
 * result, or the other factor, has it, so that the group is one stride on both sides. */
static void order_input(clf_einsum_plan *plan, const clf_einsum_step *reader, int which)
{
    clf_einsum_step *step = &plan->step[reader->input[which] - plan->form.operand_count];
    clf_label_set others = labels_none(), placed = labels_none();
    uint8_t other_order[CLFI_EINSUM_MAX_LABELS], ids[CLFI_EINSUM_MAX_LABELS];
    int other_rank = 0;
    for (int i = 0; i < reader->input_count; i++)
        if (i != which) {
            others = labels_or(others, clfi_einsum_term_labels(plan, reader->input[i]));
            if (reader->input_count == 2)
                other_rank = known_order(plan, reader->input[i], other_order);
        }
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        ids[label] = (uint8_t)label;
    const clf_label_set batch = labels_and(labels_and(step->kept, others), reader->kept);
    const clf_label_set free_labels = labels_and(labels_minus(step->kept, others), reader->kept);
    step->rank = 0;
    place(step, &placed, batch, reader->order, reader->rank);
    if (which == 0)
        place(step, &placed, free_labels, reader->order, reader->rank);
    place(step, &placed, labels_minus(step->kept, reader->kept), other_order, other_rank);
    place(step, &placed, labels_minus(step->kept, reader->kept), ids, CLFI_EINSUM_MAX_LABELS);
    place(step, &placed, step->kept, reader->order, reader->rank);
}

static void choose_orders(clf_einsum_plan *plan)
{
    const int count = plan->form.operand_count;
    clf_einsum_step *last = &plan->step[plan->step_count - 1];
    clf_label_set placed = labels_none();
    last->rank = 0;
    place(last, &placed, last->kept, plan->form.output, plan->form.output_rank);
    for (int s = plan->step_count - 1; s >= 0; s--)
        for (int i = 0; i < plan->step[s].input_count; i++)
            if (plan->step[s].input[i] >= count)
                order_input(plan, &plan->step[s], i);
}

clf_status clfi_einsum_plan_make(const clf_einsum_form *form, int64_t memory_limit, clf_einsum_plan *out)
{
    memset(out, 0, sizeof *out);
    out->form = *form;
    CLF_TRY(resolve_limit(out, memory_limit));
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        if (labels_has(form->used, label) && form->size[label] == 0)
            return CLF_OK; /* nothing, or zeros: no step */
    const int count = form->operand_count;
    const clf_label_set output = output_labels(form);
    clf_label_set term[CLF_EINSUM_MAX_OPERANDS], all = labels_none();
    uint8_t number[CLF_EINSUM_MAX_OPERANDS];
    for (int k = 0; k < count; k++) {
        term[k] = operand_labels(form, k);
        all = labels_or(all, term[k]);
    }
    out->naive_cost = clfi_einsum_step_cost(all, output, count, form->size);
    add_own_sums(out, output, term, number);
    if (count == 1 && out->step_count == 0)
        add_step(out, number, 1, term[0], term[0]);

    clf_einsum_path path;
    CLF_TRY(clfi_einsum_path_find(term, count, output, form->size, out->limit, &path));
    const int first = out->step_count;
    for (int m = 0; m < path.count; m++) {
        const clf_einsum_merge *merge = &path.merge[m];
        uint8_t input[CLF_EINSUM_MAX_OPERANDS];
        clf_label_set labels = labels_none(), needed = output;
        for (int i = 0; i < merge->count; i++) {
            input[i] = merge->input[i] < count ? number[merge->input[i]] : (uint8_t)(count + first + merge->input[i] - count);
            labels = labels_or(labels, clfi_einsum_term_labels(out, input[i]));
        }
        /* what later steps still need: operands and results that no step has read yet */
        bool read[2 * CLF_EINSUM_MAX_OPERANDS] = {false};
        for (int earlier = 0; earlier <= m; earlier++)
            for (int i = 0; i < path.merge[earlier].count; i++)
                read[path.merge[earlier].input[i]] = true;
        for (int id = 0; id < count + m; id++)
            if (!read[id])
                needed = labels_or(needed, clfi_einsum_term_labels(out, id < count ? number[id] : first + id));
        add_step(out, input, merge->count, labels, labels_and(labels, needed));
    }
    for (int s = 0; s + 1 < out->step_count; s++)
        out->largest = fmax(out->largest, out->step[s].elements);
    choose_orders(out);
    return CLF_OK;
}
