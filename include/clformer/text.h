/* SPDX-License-Identifier: MIT */
/* How the library's functions take texts, or token ids in their place. */
#ifndef CLFORMER_TEXT_H
#define CLFORMER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A text: UTF-8, any bytes allowed (ill-formed parts count as U+FFFD, U+0000 is a character). Borrowed during the call. */
typedef struct clf_text {
    const char *data;
    size_t size;
} clf_text;

/* Token ids of one text, special ones included as the caller wants them. Borrowed during the call. */
typedef struct clf_tokens {
    const int32_t *ids;      /* [count] */
    const int32_t *type_ids; /* [count]; NULL = all 0 */
    size_t count;
} clf_tokens;

#endif
