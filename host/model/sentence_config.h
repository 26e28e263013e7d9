/* SPDX-License-Identifier: MIT */
/* What a sentence-transformers directory says beside the network: modules.json, the pooling module, the longest input. */
#ifndef CLFI_MODEL_SENTENCE_CONFIG_H
#define CLFI_MODEL_SENTENCE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "clformer/model.h"

typedef struct clf_sentence_config {
    clf_pooling pooling; /* mean where the directory has no modules.json */
    bool normalize;      /* a Normalize module is listed */
    int64_t max_tokens;  /* sentence_bert_config.json's max_seq_length, else the tokenizer's model_max_length; 0 = neither */
} clf_sentence_config;

/* UNSUPPORTED: a module other than Transformer, Pooling and Normalize, or a pooling that is not built, or several at once.
 * FORMAT: a file is broken. */
clf_status clfi_sentence_config_read(const char *directory, clf_sentence_config *out);

#endif
