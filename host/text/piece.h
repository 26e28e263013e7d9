/* SPDX-License-Identifier: MIT */
/* Pieces of a text: what pre-tokenizers split it into, with the added tokens that were found in it. */
#ifndef CLFI_TEXT_PIECE_H
#define CLFI_TEXT_PIECE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct clf_piece {
    size_t start, end; /* bytes */
    int32_t id;        /* of an added token; -1: text for the model */
} clf_piece;

typedef struct clf_piece_list {
    clf_piece *pieces;
    size_t count, capacity;
} clf_piece_list;

static inline clf_status clfi_piece_append(clf_piece_list *list, size_t start, size_t end, int32_t id)
{
    if (list->count == list->capacity)
        CLF_TRY(clfi_grow(&list->pieces, &list->capacity, list->count + 1, sizeof *list->pieces, "pieces of a text"));
    list->pieces[list->count++] = (clf_piece){start, end, id};
    return CLF_OK;
}

#endif
