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
    clf_str storage; /* what the items point into */
} clfi_texts;

/* The built-in texts: text i is 1 to 12 of the sentences in a row. */
clf_status clfi_texts_make(size_t count, clfi_texts *out);

/* Words from the list, one after another, again from its begin where it ends. */
clf_status clfi_texts_words(size_t count, clfi_texts *out);

/* The lines of a file, without their ends. IO, NOT_FOUND; FORMAT: larger than 1 GiB. */
clf_status clfi_texts_read(const char *path, clfi_texts *out);

void clfi_texts_free(clfi_texts *texts); /* zeros are accepted; free it also where one of the above fails */

#endif
