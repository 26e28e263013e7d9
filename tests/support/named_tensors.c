/* SPDX-License-Identifier: MIT */
/* Implements lists of named tensors. */
#include "support/named_tensors.h"

#include <stdio.h>

#include "support/check.h"

void list_add(clf_context *context, tensor_list *list, const char *name, int rank, const int64_t *dim, const float *value)
{
    assert_true(list->count < MOST_NAMED_TENSORS);
    const size_t i = list->count++;
    snprintf(list->names[i], sizeof list->names[i], "%s", name);
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, rank, dim, value, &list->tensor[i]));
    list->named[i] = (clf_named_tensor){list->names[i], list->tensor[i]};
}

void list_free(tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        clf_tensor_destroy(list->tensor[i]);
    list->count = 0;
}
