/* SPDX-License-Identifier: MIT */
/* Text as the functions take it. */
#ifndef CLFORMER_TEXT_H
#define CLFORMER_TEXT_H

#include <stddef.h>

/* A text: UTF-8, any bytes allowed (ill-formed parts count as U+FFFD, U+0000 is a character). Borrowed during the call. */
typedef struct clf_text {
    const char *data;
    size_t size;
} clf_text;

#endif
