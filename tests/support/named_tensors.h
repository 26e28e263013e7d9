/* SPDX-License-Identifier: MIT */
/* Keeps lists of named tensors, from which tests make networks. */
#ifndef CLF_TEST_NAMED_TENSORS_H
#define CLF_TEST_NAMED_TENSORS_H

#include "clformer/transformer.h"

enum { MOST_NAMED_TENSORS = 256, NAMED_TENSOR_BYTES = 128 };

typedef struct tensor_list {
    clf_named_tensor named[MOST_NAMED_TENSORS];
    clf_tensor *tensor[MOST_NAMED_TENSORS];
    char names[MOST_NAMED_TENSORS][NAMED_TENSOR_BYTES];
    size_t count;
} tensor_list;

void list_add(clf_context *context, tensor_list *list, const char *name, int rank, const int64_t *dim, const float *value);
void list_free(tensor_list *list); /* leaves it empty and usable again */

#endif
