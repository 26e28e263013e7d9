/* SPDX-License-Identifier: MIT */
/* How a model's embeddings are compared. */
#ifndef CLFI_MODEL_SIMILARITY_H
#define CLFI_MODEL_SIMILARITY_H

#include <jansson.h>

#include "base/status.h"

typedef enum clf_similarity {
    CLF_SIMILARITY_COSINE, /* a . b / (|a| |b|) */
    CLF_SIMILARITY_DOT     /* a . b */
} clf_similarity;

/* config_sentence_transformers.json's similarity_fn_name; cosine where the key is not there, and for a directory where it or the file is
 * not. FORMAT: the file is broken. UNSUPPORTED: another function (sentence-transformers also has euclidean and manhattan). */
clf_status clfi_similarity_parse(const json_t *json, clf_similarity *out);
clf_status clfi_similarity_read(const char *directory, clf_similarity *out);

#endif
