/* SPDX-License-Identifier: MIT */
/* Decoders: turn tokens back into text. The tokens flow one by one through a chain of stages; each kind is a row of decoder.c. */
#ifndef CLFI_TEXT_DECODER_H
#define CLFI_TEXT_DECODER_H

#include <stdbool.h>

#include "base/str.h"
#include "text/chain.h"
#include "text/text_workspace.h"

extern const clf_part_table clfi_decoders;

/* State of one stage in one text. */
typedef struct clf_decoder_stage {
    clf_str token;   /* parts of a token that is not complete yet */
    clf_str held;    /* input that waits for more: the last token, or the bytes of an unfinished character */
    size_t tokens;   /* complete tokens so far */
    size_t made;     /* Replace: bytes of all replacements */
    size_t leading;  /* Strip: characters removed from the start of the current token */
    size_t trailing; /* Strip: characters at its end that may have to be removed */
    bool is_inside;  /* Strip: the current token has begun to be passed on; BPEDecoder: `held` is a token */
} clf_decoder_stage;

typedef struct clf_decoding {
    const clf_chain *chain; /* NULL: tokens are joined by spaces */
    clf_decoder_stage *stages;
    size_t stage_count;
    size_t tokens; /* given so far */
    size_t given;  /* bytes of them */
    clf_str *out;
    clf_text_workspace work;
} clf_decoding;

/* Starts a text; *decoding is zero or was used before. `out` is borrowed until finish. */
clf_status clfi_decoding_begin(clf_decoding *decoding, const clf_chain *chain, clf_str *out);

/* Takes the next token: appends to `out` the text that later tokens cannot change, always whole characters. */
clf_status clfi_decoding_push(clf_decoding *decoding, const char *token, size_t size);

/* Ends the text: appends the rest. */
clf_status clfi_decoding_finish(clf_decoding *decoding);

void clfi_decoding_free(clf_decoding *decoding);

#endif
