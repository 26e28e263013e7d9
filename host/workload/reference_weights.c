/* SPDX-License-Identifier: MIT */
/* Weights of the reference Transformer: a list by name. */
#include "workload/reference_transformer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

clf_status clfi_ref_weights_add(clfi_ref_weights *weights, const char *name, int rank, const int64_t *dim, clfi_ref_weight **out)
{
    size_t count = 1;
    clfi_ref_weight weight = {.rank = rank};
    if (rank < 0 || rank > (int)COUNT(weight.dim) || strlen(name) >= sizeof weight.name)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: weight %s of rank %d", name, rank);
    memcpy(weight.name, name, strlen(name) + 1);
    for (int i = 0; i < rank; i++) {
        weight.dim[i] = dim[i];
        if (dim[i] < 0 || !clfi_mul_size(count, (size_t)dim[i], &count))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "reference: weight %s of %lld elements", name, (long long)dim[i]);
    }
    CLF_TRY(clfi_grow(&weights->items, &weights->capacity, weights->count + 1, sizeof *weights->items, "reference weights"));
    CLF_TRY(clfi_alloc(count, sizeof *weight.value, "reference weight", &weight.value));
    weights->items[weights->count] = weight;
    *out = &weights->items[weights->count++];
    return CLF_OK;
}

clf_status clfi_ref_weights_load(clfi_ref_weights *weights, const clf_safetensors *file, const char *file_name, const char *name)
{
    const clf_file_tensor *tensor = clfi_safetensors_find(file, file_name);
    clfi_ref_weight *weight;
    if (!tensor)
        CLF_FAIL(CLF_NOT_FOUND, "reference: the checkpoint has no %s", file_name);
    CLF_TRY(clfi_ref_weights_add(weights, name, tensor->rank, tensor->dim, &weight));
    const size_t step = clfi_file_dtype_bytes(tensor->dtype);
    return clfi_file_to_f32(tensor->dtype, false, tensor->data, (ptrdiff_t)step, tensor->bytes / step, weight->value);
}

const clfi_ref_weight *clfi_ref_weights_find(const clfi_ref_weights *weights, const char *name)
{
    for (size_t i = 0; i < weights->count; i++)
        if (strcmp(weights->items[i].name, name) == 0)
            return &weights->items[i];
    return NULL;
}

void clfi_ref_weights_free(clfi_ref_weights *weights)
{
    for (size_t i = 0; i < weights->count; i++)
        free(weights->items[i].value);
    free(weights->items);
    *weights = (clfi_ref_weights){0};
}
