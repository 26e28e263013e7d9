/* SPDX-License-Identifier: MIT */
/* Models: a checkpoint directory as downloaded, loaded onto a context; sentence embeddings from it. */
#ifndef CLFORMER_MODEL_H
#define CLFORMER_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/context.h"
#include "clformer/ops.h"
#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clf_model clf_model;

/* What the directory says. Texts are borrowed from the model. */
typedef struct clf_model_info {
    const char *architecture;   /* "bert" */
    int64_t layers;             /* L */
    int64_t width;              /* C: features of a token vector and of an embedding */
    int64_t hidden_width;       /* F */
    int64_t heads;              /* H */
    int64_t vocabulary;         /* V */
    int64_t type_vocabulary;    /* token types */
    int64_t max_positions;      /* longest sequence that the weights allow */
    int64_t max_tokens;         /* longest sequence that the directory asks for (special tokens included) */
    clf_pooling pooling;        /* as the directory says; mean where it says nothing */
    int normalize;              /* nonzero: embeddings are divided by their L2 norm */
    int64_t parameters;         /* number of weights */
    uint64_t file_bytes;        /* of the checkpoint */
    const char *linear_engine;  /* GEMM engine of the projections */
} clf_model_info;

/* Loads a Hugging Face or sentence-transformers directory of the BERT family: config.json, model.safetensors (f32, f16 or bf16; or the
 * shards of model.safetensors.index.json), tokenizer.json or vocab.txt, and where present modules.json, 1_Pooling/config.json,
 * sentence_bert_config.json. On devices that share the host's memory, weights are used where the file is mapped; the directory must
 * not change while the model lives. The model keeps the context alive.
 * NOT_FOUND: a file is missing. FORMAT: a file is broken or a weight has another shape (named). UNSUPPORTED: another architecture, or a
 * module that is not built (named). OUT_OF_MEMORY: the weights do not fit the device (both sizes named). */
CLF_API clf_status clf_model_open(clf_context *context, const char *directory, clf_model **out);
CLF_API void clf_model_destroy(clf_model *model); /* NULL is a no-op */

/* Borrowed; lives as long as the model. */
CLF_API const clf_model_info *clf_model_get_info(const clf_model *model);

/* A text: UTF-8, any bytes allowed (ill-formed parts count as U+FFFD, U+0000 is a character). Borrowed during the call. */
typedef struct clf_text {
    const char *data;
    size_t size;
} clf_text;

typedef struct clf_embed_params {
    int pooling;         /* a clf_pooling, or CLF_AS_MODEL */
    int normalize;       /* 0, 1, or CLF_AS_MODEL */
    size_t max_tokens;   /* truncate to so many tokens, special ones included; 0 = as the model */
    size_t batch_tokens; /* tokens in one forward pass; 0 = suited to the device */
    void (*progress)(void *user, size_t done, size_t total); /* texts; NULL = none */
    void *progress_user;
} clf_embed_params;

enum { CLF_AS_MODEL = -1 };
#define CLF_EMBED_PARAMS_INIT {CLF_AS_MODEL, CLF_AS_MODEL, 0, 0, NULL, NULL}

/* What a call did. */
typedef struct clf_embed_stats {
    size_t texts;
    size_t tokens;    /* after truncation; none is padding */
    size_t truncated; /* texts that lost tokens */
    size_t batches;   /* forward passes */
    uint64_t tokenize_ns;
    uint64_t run_ns; /* from the first forward pass to the last result on the host */
} clf_embed_stats;

/* Embeddings of `count` texts, out[i*C + c], in the order of the texts. Texts are sorted by length and packed without padding into
 * batches of about batch_tokens tokens; a text's result depends on its batch only by rounding (1e-6 for normalised embeddings).
 * A text of no tokens (no special tokens in the tokenizer) gives zeros. params NULL = defaults; stats may be NULL. Synchronous.
 * INVALID_ARGUMENT: a NULL, max_tokens above max_positions or too small for the special tokens. */
CLF_API clf_status clf_model_embed(clf_model *model, const clf_text *texts, size_t count, const clf_embed_params *params, float *out,
                                   clf_embed_stats *stats);

/* The same from token ids that the caller made: sequence i is ids[offsets[i] .. offsets[i+1]), offsets[0] = 0. type_ids NULL = all 0.
 * The whole call is one forward pass. INVALID_ARGUMENT: an id outside the vocabulary, a sequence longer than max_positions (named). */
CLF_API clf_status clf_model_embed_ids(clf_model *model, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets,
                                       size_t sequences, const clf_embed_params *params, float *out);

/* The encoder's output for such sequences, packed: [offsets[sequences], C] on the device. *out: the caller destroys it. */
CLF_API clf_status clf_model_encode_ids(clf_model *model, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets,
                                        size_t sequences, clf_tensor **out);

/* Attention weights of one layer for one sequence of `length` token ids: [H, length, length] float32, query by key; rows sum to 1. type_ids NULL =
 * all 0. *out: the caller destroys it. INVALID_ARGUMENT: layer outside the model; ids and length as above, length at least 1. */
CLF_API clf_status clf_model_attention_ids(clf_model *model, const int32_t *ids, const int32_t *type_ids, size_t length, int64_t layer,
                                           clf_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
