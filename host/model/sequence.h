/* SPDX-License-Identifier: MIT */
/* A caller's sequence inside the library: its number in the session's decoding batch, and the tokens that it has there. */
#ifndef CLFI_MODEL_SEQUENCE_H
#define CLFI_MODEL_SEQUENCE_H

#include "clformer/generate.h"

struct clf_sequence {
    clf_session *session; /* borrowed */
    int32_t number;       /* of the decoding batch */
    int32_t *tokens;
    size_t count, capacity;
};

/* Makes room for `count` tokens; those that the sequence has stay. */
clf_status clfi_sequence_reserve(clf_sequence *sequence, size_t count);

/* How many tokens the sequence and `tokens` have in common at the beginning. */
size_t clfi_sequence_shared(const clf_sequence *sequence, const int32_t *tokens, size_t count);

#endif
