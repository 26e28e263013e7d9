/* SPDX-License-Identifier: MIT */
/* Working memory of one encoding, kept from call to call. One thread at a time. */
#ifndef CLFI_TEXT_TEXT_WORKSPACE_H
#define CLFI_TEXT_TEXT_WORKSPACE_H

#include "text/aligned_text.h"
#include "text/model_memory.h"
#include "text/piece.h"

/* A character and how it follows from the text before it (clfi_rewrite_put). */
typedef struct clf_changed_code {
    uint32_t code;
    int change;
} clf_changed_code;

/* Growable array of them. */
typedef struct clf_code_list {
    clf_changed_code *codes;
    size_t count, capacity, limit; /* limit: 0, or how many there may be */
} clf_code_list;

clf_status clfi_code_append(clf_code_list *list, uint32_t code, int change);

typedef struct clf_text_workspace {
    clf_str repaired;            /* text with U+FFFD for what is not UTF-8 */
    clf_aligned_text text[2];    /* the text at hand, and the next stage's */
    clf_aligned_text part;       /* of one piece */
    clf_piece_list pieces[2];    /* of text[0], and the next stage's */
    clf_piece_list matches;      /* of a pattern; id 1 where it matches, else 0 */
    clf_code_list codes, marks;  /* of Unicode forms: the text, and combining characters that wait for their order */
    clf_token_list tokens[2];    /* of the two sequences */
    size_t enough;               /* tokens of a sequence: a model may leave the rest of a long word out when there are as many */
    bool is_refused_then;        /* the caller then refuses the text, so that the tokens need not be right */
    struct clf_regex_memory *regex; /* what PCRE2 works with */
    clf_model_memory *model;       /* what the model works with */
} clf_text_workspace;

/* The model's working memory, made at its first use. */
clf_status clfi_text_workspace_model(clf_text_workspace *work, clf_model_memory **out);

void clfi_text_workspace_free(clf_text_workspace *work);

/* Prepares for a text of `size` bytes: empties text[0] and text[1], and limits what may be written to them by clfi_text_limit(size). */
void clfi_text_workspace_begin(clf_text_workspace *work, size_t size, bool is_aligned);

/* text[1] becomes text[0]. */
void clfi_text_workspace_swap(clf_text_workspace *work);

#endif
