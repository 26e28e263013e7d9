/* SPDX-License-Identifier: MIT */
/* Any bytes as an einsum equation for any shapes: [one byte per axis: its size, 255 ends an operand] 254 [equation]. Refused with a code,
 * or planned: steps use every operand and result once, keep none but their inputs' labels, and the plan prints. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clformer/einsum.h"
#include "op/einsum_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { END_OPERAND = 255, END_SHAPES = 254 };

static void check_plan(const clf_einsum_plan *plan)
{
    const int operands = plan->form.operand_count;
    bool is_used[CLF_EINSUM_MAX_OPERANDS + CLFI_EINSUM_MAX_STEPS] = {false};
    for (int i = 0; i < plan->step_count; i++) {
        const clf_einsum_step *step = &plan->step[i];
        clf_label_set labels = labels_none();
        for (int k = 0; k < step->input_count; k++) {
            if (step->input[k] >= operands + i || is_used[step->input[k]])
                abort();
            is_used[step->input[k]] = true;
            labels = labels_or(labels, clfi_einsum_term_labels(plan, step->input[k]));
        }
        if (step->input_count < 1 || !labels_equal(labels, step->labels) || !labels_empty(labels_minus(step->kept, step->labels)) ||
            !(step->cost >= 0) || !(step->elements >= 0))
            abort();
    }
    for (int k = 0; plan->step_count && k < operands + plan->step_count - 1; k++)
        if (!is_used[k])
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t dims[64];
    const int64_t *dim[CLF_EINSUM_MAX_OPERANDS + 2];
    int rank[CLF_EINSUM_MAX_OPERANDS + 2] = {0}, count = 0, output_rank = 0;
    int64_t output[CLF_MAX_RANK];
    size_t used = 0, at = 0;
    for (dim[0] = dims; at < size && data[at] != END_SHAPES && used < COUNT(dims) && count < CLF_EINSUM_MAX_OPERANDS + 1; at++) {
        if (data[at] == END_OPERAND) {
            dim[++count] = dims + used;
        } else {
            dims[used++] = data[at] < 16 ? data[at] : data[at] < 200 ? data[at] * 1000 : (int64_t)1 << (data[at] - 200);
            rank[count]++;
        }
    }
    at += at < size;
    char *equation = malloc(size - at + 1);
    memcpy(equation, data + at, size - at);
    equation[size - at] = '\0';

    clf_einsum_plan *plan;
    const int64_t limit = size % 3 == 0 ? CLF_EINSUM_NO_LIMIT : size % 3 == 1 ? CLF_EINSUM_MAX_INPUT : (int64_t)size;
    const clf_status st = clf_einsum_plan_create(equation, count, rank, dim, limit, &plan);
    if (st != CLF_OK) {
        if (strncmp(clf_last_error(), "E_", 2) != 0)
            abort();
        free(equation);
        return 0;
    }
    check_plan(plan);
    if (clf_einsum_output_shape(equation, count, rank, dim, &output_rank, output) != CLF_OK || output_rank != clf_einsum_plan_rank(plan) ||
        memcmp(output, clf_einsum_plan_dim(plan), (size_t)output_rank * sizeof *output) != 0)
        abort();
    size_t length = 0, again = 0;
    if (clf_einsum_plan_print(NULL, plan, NULL, 0, &length) != CLF_OK || length == 0)
        abort();
    char *text = malloc(length + 1);
    if (clf_einsum_plan_print(NULL, plan, text, length + 1, &again) != CLF_OK || again != length || strlen(text) != length)
        abort();
    free(text);
    clf_einsum_plan_destroy(plan);
    free(equation);
    return 0;
}
