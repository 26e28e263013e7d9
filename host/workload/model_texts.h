/* SPDX-License-Identifier: MIT */
/* Texts and words that model workloads read: built in, or from a file. */
#ifndef CLFI_WORKLOAD_MODEL_TEXTS_H
#define CLFI_WORKLOAD_MODEL_TEXTS_H

#include <stddef.h>

#include "base/str.h"
#include "clformer/model.h"

typedef struct clfi_texts {
    clf_text *items;
    size_t count, capacity;
    clf_str storage; /* text that the items point into, unless it is static */
} clfi_texts;

/* Makes `count` texts: text i is 1 to 12 of the built-in sentences in a row. OUT_OF_MEMORY. */
clf_status clfi_texts_make(size_t count, clfi_texts *out);

/* Makes `count` words: the built-in list, repeated as often as needed. OUT_OF_MEMORY. */
clf_status clfi_texts_words(size_t count, clfi_texts *out);

/* Reads the lines of a file, without their line ends. Forwards clfi_text_read: NOT_FOUND, IO; FORMAT: larger than 1 GiB, or another
 * encoding than UTF-8. */
clf_status clfi_texts_read(const char *path, clfi_texts *out);

void clfi_texts_free(clfi_texts *texts); /* zeros are accepted; call it also after a failure of the functions above */

#endif
