/* SPDX-License-Identifier: MIT */
/* Makes the loops of an einsum step: one per label, sorted by memory order. Two loops become one if, in every operand, the outer stride is
 * the inner stride times the inner size. */
#include <string.h>

#include "op/einsum_lower.h"

void clfi_einsum_dense_strides(const clf_einsum_form *form, clf_einsum_strides *out)
{
    int64_t stride[CLFI_EINSUM_MAX_RANK];
    for (int k = 0; k < form->operand_count; k++) {
        const clf_einsum_operand *operand = &form->operand[k];
        int64_t next = 1;
        for (int axis = operand->rank - 1; axis >= 0; axis--) {
            stride[axis] = next;
            next *= operand->dim[axis];
        }
        clfi_einsum_operand_strides(form, k, stride, out->operand[k]);
    }
    int64_t next = 1;
    for (int axis = form->output_rank - 1; axis >= 0; axis--) {
        stride[axis] = next;
        next *= form->output_dim[axis];
    }
    clfi_einsum_output_strides(form, stride, out->output);
}

void clfi_einsum_step_access(const clf_einsum_plan *plan, const clf_einsum_strides *strides, int index, clf_einsum_access *out)
{
    const clf_einsum_step *step = &plan->step[index];
    const int count = plan->form.operand_count;
    out->inputs = step->input_count;
    out->labels = step->labels;
    out->kept = step->kept;
    for (int i = 0; i < step->input_count; i++) {
        if (step->input[i] < count)
            memcpy(out->stride[i], strides->operand[step->input[i]], sizeof out->stride[i]);
        else
            clfi_einsum_step_strides(plan, step->input[i] - count, out->stride[i]);
    }
    if (index == plan->step_count - 1)
        memcpy(out->stride[step->input_count], strides->output, sizeof strides->output);
    else
        clfi_einsum_step_strides(plan, index, out->stride[step->input_count]);
}

/* Key by which loops are sorted, outermost first: the stride in the result (kept loops), or the sum of the inputs' strides (summed). */
static int64_t reach(const clf_einsum_dim *dim, int first, int last)
{
    int64_t total = 0;
    for (int t = first; t <= last; t++)
        total += dim->stride[t];
    return total;
}

static void sort_dims(clf_einsum_dim *dim, int rank, int first, int last)
{
    for (int i = 1; i < rank; i++)
        for (int j = i; j > 0 && reach(&dim[j - 1], first, last) < reach(&dim[j], first, last); j--) {
            const clf_einsum_dim swap = dim[j];
            dim[j] = dim[j - 1];
            dim[j - 1] = swap;
        }
}

static bool continues(const clf_einsum_dim *outer, const clf_einsum_dim *inner, int terms)
{
    for (int t = 0; t < terms; t++)
        if (outer->stride[t] != inner->stride[t] * inner->size)
            return false;
    return true;
}

static int fuse_dims(clf_einsum_dim *dim, int rank, int terms)
{
    for (int outer = 0; outer < rank; outer++)
        for (int inner = 0; inner < rank; inner++) {
            if (inner == outer || !continues(&dim[outer], &dim[inner], terms))
                continue;
            dim[inner].size *= dim[outer].size;
            memmove(&dim[outer], &dim[outer + 1], (size_t)(rank - outer - 1) * sizeof *dim);
            return fuse_dims(dim, rank - 1, terms);
        }
    return rank;
}

void clfi_einsum_loops_make(const clf_einsum_access *access, const int64_t *size, clf_einsum_loops *out)
{
    const int terms = access->inputs + 1;
    out->inputs = access->inputs;
    out->kept_rank = out->summed_rank = 0;
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++) {
        if (!labels_has(access->labels, label) || size[label] == 1)
            continue;
        clf_einsum_dim *dim =
            labels_has(access->kept, label) ? &out->kept[out->kept_rank++] : &out->summed[out->summed_rank++];
        dim->size = size[label];
        for (int t = 0; t < terms; t++)
            dim->stride[t] = access->stride[t][label];
    }
    sort_dims(out->kept, out->kept_rank, access->inputs, access->inputs);
    sort_dims(out->summed, out->summed_rank, 0, access->inputs - 1);
    out->kept_rank = fuse_dims(out->kept, out->kept_rank, terms);
    out->summed_rank = fuse_dims(out->summed, out->summed_rank, terms);
}
