/* SPDX-License-Identifier: MIT */
/* Table of tokenizer models. */
#include "text/token_model.h"

#include <string.h>

#include "base/alloc.h"

static const clf_token_model_kind *const kinds[] = {&clfi_wordpiece_kind};

const clf_token_model_kind *clfi_token_model_find(const char *name)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

const char *clfi_token_model_names(void)
{
    return "WordPiece";
}

clf_status clfi_id_list_append(clf_id_list *list, int32_t id)
{
    if (list->count == list->capacity)
        CLF_TRY(clfi_grow(&list->id, &list->capacity, list->count + 1, sizeof *list->id, "token ids"));
    list->id[list->count++] = id;
    return CLF_OK;
}
