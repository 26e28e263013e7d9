/* SPDX-License-Identifier: MIT */
/* Reads how a model's embeddings are compared. */
#ifndef CLFI_MODEL_SIMILARITY_H
#define CLFI_MODEL_SIMILARITY_H

#include <jansson.h>

#include "base/status.h"

typedef enum clf_similarity {
    CLF_SIMILARITY_COSINE, /* a . b / (|a| |b|) */
    CLF_SIMILARITY_DOT     /* a . b */
} clf_similarity;

/* Read similarity_fn_name of config_sentence_transformers.json: from the file's object, or from a directory. Cosine if the key or the file
 * is missing. FORMAT: the file is broken. UNSUPPORTED: another function (sentence-transformers also has euclidean and manhattan). */
clf_status clfi_similarity_parse(const json_t *json, clf_similarity *out);
clf_status clfi_similarity_read(const char *directory, clf_similarity *out);

#endif
