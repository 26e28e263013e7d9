/* SPDX-License-Identifier: MIT */
/* Creates linear layers from weights in blocks of rows. */
#include "base/alloc.h"
#include "op/linear.h"

/* Weights and biases cut at the same rows. */
typedef struct cut_parts {
    clf_view *weights, *biases;
    size_t count, weight_capacity, bias_capacity;
} cut_parts;

static clf_status add(cut_parts *cut, const clf_view *weight, const clf_view *bias)
{
    CLF_TRY(clfi_grow(&cut->weights, &cut->weight_capacity, cut->count + 1, sizeof *cut->weights, "linear"));
    CLF_TRY(clfi_grow(&cut->biases, &cut->bias_capacity, cut->count + 1, sizeof *cut->biases, "linear"));
    cut->weights[cut->count] = *weight;
    cut->biases[cut->count++] = bias ? *bias : (clf_view){.buffer = NULL};
    return CLF_OK;
}

/* A bias is a vector, so it is always one block. */
static clf_status add_blocks(cut_parts *cut, const clf_row_blocks *weight, const clf_row_blocks *bias)
{
    int64_t first = 0;
    for (int i = 0; i < weight->count; i++) {
        clf_view part = {.buffer = NULL};
        if (bias->count) {
            part = bias->view[0];
            part.offset += first * part.stride[0];
            part.dim[0] = weight->count > 1 ? weight->view[i].dim[0] : part.dim[0];
        }
        CLF_TRY(add(cut, &weight->view[i], bias->count ? &part : NULL));
        first += weight->view[i].dim[0];
    }
    if (bias->count && weight->count > 1 && bias->view[0].dim[0] != first)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "linear: a bias has %lld elements, its weight %lld rows", (long long)bias->view[0].dim[0],
                 (long long)first);
    return CLF_OK;
}

clf_status clfi_linear_create_blocks(clf_context *context, int parts, const clf_row_blocks *weights, const clf_row_blocks *biases,
                                     clf_linear **out)
{
    cut_parts cut = {.count = 0};
    clf_status st = CLF_OK;
    for (int i = 0; st == CLF_OK && i < parts; i++)
        st = add_blocks(&cut, &weights[i], &biases[i]);
    if (st == CLF_OK)
        st = clfi_linear_create(context, (int)cut.count, cut.weights, cut.biases, out);
    free(cut.weights);
    free(cut.biases);
    return st;
}
