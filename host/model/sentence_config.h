/* SPDX-License-Identifier: MIT */
/* Reads what a sentence-transformers directory has beside the network: modules.json, the pooling module, the longest input. */
#ifndef CLFI_MODEL_SENTENCE_CONFIG_H
#define CLFI_MODEL_SENTENCE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/model_directory.h"
#include "clformer/activation.h"
#include "clformer/model.h"

typedef enum clf_module_kind {
    CLF_MODULE_TRANSFORMER,
    CLF_MODULE_POOLING,
    CLF_MODULE_DENSE,
    CLF_MODULE_LAYER_NORM,
    CLF_MODULE_NORMALIZE,
    CLF_MODULE_DROPOUT
} clf_module_kind;

typedef struct clf_sentence_module {
    clf_module_kind kind;              /* dense, layer norm or normalize */
    char path[CLFI_MODULE_PATH_BYTES]; /* directory inside the model's; "" if the module has no files */
} clf_sentence_module;

typedef struct clf_sentence_config {
    bool has_modules;                       /* the directory has a modules.json */
    clf_pooling pooling[CLF_POOLING_COUNT]; /* their vectors are concatenated; without a modules.json only `standard` */
    size_t pooling_count;                   /* 0: modules.json lists no Pooling, so the directory makes no embedding */
    bool excludes_prompt;                   /* the tokens of a prompt are not pooled */
    bool normalize;                         /* a Normalize module is listed */
    clf_sentence_module module[16];         /* after the pooling, in their order */
    size_t module_count;
    bool lacks_types;   /* model_input_names in tokenizer_config.json lack token_type_ids: all tokens are of type 0 */
    int64_t max_tokens; /* sentence_bert_config.json's max_seq_length, else the tokenizer's model_max_length; 0: neither */
} clf_sentence_config;

/* Finds the directory of a model's modules.json. It is the base model's if `directory` holds only an adapter and no modules.json. *out:
 * newly allocated; the caller frees it. Statuses as clfi_adapter_place. */
clf_status clfi_sentence_place(const char *directory, char **out);

/* Reads the configuration. standard: the pooling without a modules.json. UNSUPPORTED: a module or a pooling that is not supported (the
 * message names it and those that are), another order than Transformer, Pooling, others, or an unsupported setting. NOT_FOUND: the
 * Pooling's config.json. FORMAT: a file is broken. */
clf_status clfi_sentence_config_read(const char *directory, clf_pooling standard, clf_sentence_config *out);

/* Reads model_max_length of the directory's tokenizer_config.json: the longest text in tokens. *out 0: there is none, or it is too large to
 * matter. IO, FORMAT. */
clf_status clfi_tokenizer_length_read(const char *directory, int64_t *out);

/* The activation of a Dense module by the last part of activation_function: "torch.nn.modules.activation.Tanh". UNSUPPORTED: another one,
 * named, or one of another package than torch.nn. */
clf_status clfi_sentence_activation(const char *name, const char *where, clf_activation *out);

#endif
