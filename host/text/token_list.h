/* SPDX-License-Identifier: MIT */
/* Tokens of one sequence, in order. */
#ifndef CLFI_TEXT_TOKEN_LIST_H
#define CLFI_TEXT_TOKEN_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

/* A token of the model: an id and the bytes of its word that it stands for. */
typedef struct clf_token {
    int32_t id;
    uint32_t start, end;
} clf_token;

typedef struct clf_token_list {
    clf_token *tokens;
    size_t count, capacity;
} clf_token_list;

static inline clf_status clfi_token_append(clf_token_list *list, int32_t id, size_t start, size_t end)
{
    if (list->count == list->capacity)
        CLF_TRY(clfi_grow(&list->tokens, &list->capacity, list->count + 1, sizeof *list->tokens, "tokens"));
    list->tokens[list->count++] = (clf_token){id, (uint32_t)start, (uint32_t)end};
    return CLF_OK;
}

#endif
