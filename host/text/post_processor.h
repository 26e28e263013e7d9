/* SPDX-License-Identifier: MIT */
/* Templates that put special tokens around one sequence or a pair, and truncation to the room that is left. */
#ifndef CLFI_TEXT_POST_PROCESSOR_H
#define CLFI_TEXT_POST_PROCESSOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "text/chain.h"

typedef enum clf_piece_kind {
    CLF_PIECE_FIRST,  /* the tokens of the first sequence */
    CLF_PIECE_SECOND, /* the tokens of the second one */
    CLF_PIECE_TOKEN,  /* one special token */
} clf_piece_kind;

typedef struct clf_template_piece {
    clf_piece_kind kind;
    int32_t id; /* of a special token */
    int32_t type_id;
} clf_template_piece;

typedef struct clf_template_processing {
    clf_template_piece *pieces;
    size_t count, capacity;
    size_t added; /* special tokens in it */
} clf_template_processing;

typedef struct clf_post_processor {
    clf_template_processing single, pair;
    bool trims;            /* offsets leave out the spaces at a token's ends */
    bool add_prefix_space; /* trimming keeps a single space at the start, which the pre-tokenizer added */
} clf_post_processor;

void clfi_post_processor_free(clf_post_processor *processor);

/* Puts one token before each sequence and one after it; -1: none. The processor is empty before. OUT_OF_MEMORY. */
clf_status clfi_post_processor_around(int32_t before, int32_t behind, clf_post_processor *processor);

/* Reads the "post_processor" of a tokenizer.json: TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which only trims
 * offsets), a Sequence of them, or NULL for none. `where` comes first in messages. UNSUPPORTED: another type, a template in which a
 * sequence is missing or repeated, two parts that add tokens. FORMAT: broken settings. The processor is empty before; the caller frees it,
 * also after a failure. */
clf_status clfi_post_processor_read(const json_t *json, const char *where, clf_post_processor *processor);

/* BERT's templates: cls A sep, and cls A sep B sep with type 1 from B on. */
clf_status clfi_post_processor_bert(int32_t cls, int32_t sep, clf_post_processor *processor);

/* Shortens a pair of n1 and n2 tokens to `room` together, always taking from the longer one (strategy "longest_first"). */
void clfi_truncate_pair(size_t room, size_t *n1, size_t *n2);

#endif
