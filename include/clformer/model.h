/* SPDX-License-Identifier: MIT */
/* Models: a file or directory as downloaded, loaded onto a context; sessions, which work on them; embeddings of texts. */
#ifndef CLFORMER_MODEL_H
#define CLFORMER_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/context.h"
#include "clformer/ops.h"
#include "clformer/tensor.h"
#include "clformer/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clf_model clf_model;

/* Storage type of numbers on the device. Arithmetic is f32 with each of them. */
typedef enum clf_storage {
    CLF_STORAGE_DEFAULT, /* weights as the checkpoint has them, keys and values as f32 */
    CLF_STORAGE_F16,
    CLF_STORAGE_Q8_0 /* of caches alone: blocks of 32 signed bytes with a scale of f16 */
} clf_storage;

/* The model's own settings. Texts are borrowed from the model. */
typedef struct clf_model_info {
    const char *architecture;  /* "bert" */
    int64_t layers;            /* L */
    int64_t width;             /* C: features of a token vector; an embedding has embedding_width */
    int64_t hidden_width;      /* F */
    int64_t heads;             /* H */
    int64_t vocabulary;        /* V */
    int64_t type_vocabulary;   /* token types */
    int64_t max_positions;     /* longest sequence that the weights allow */
    int64_t max_tokens;        /* longest sequence that the directory asks for (special tokens included) */
    clf_pooling pooling;       /* as the directory says; mean where it says nothing */
    int normalize;             /* nonzero: embeddings are divided by their L2 norm */
    int64_t parameters;        /* number of weights */
    uint64_t file_bytes;       /* of the checkpoint */
    const char *linear_engine; /* GEMM engine of the projections */
    int64_t embedding_width;   /* E: features of an embedding: C, unless several poolings, dense layers or truncate_dim change it */
    int64_t poolings;          /* number of concatenated poolings; `pooling` is the first; 0: modules.json has no Pooling module */
    int64_t layers_after;      /* dense layers and layer norms after the pooling */
    clf_storage weights;       /* clf_model_params.weights of clf_model_open */
} clf_model_info;

typedef struct clf_model_params {
    size_t size;         /* sizeof(clf_model_params) */
    clf_storage weights; /* F16: matrices of linear layers and token embedding tables are rounded to f16, to nearest even, if they are
                            stored as f32 or bf16, or as blocks that no engine of the device takes. Norms, biases, positions and the
                            modules after the pooling stay as they are */
    clf_storage cache;   /* of decoders. F16: cached keys and values are rounded to f16; beyond 65504 they are infinite, which ends in
                            FORMAT, logits that are not finite. Q8_0: each number of a block errs by at most m (1 + 2^-9) / 254 + 2^-24, m
                            being the block's largest magnitude. A block beyond 127 x 65504 becomes NaN, which ends likewise.
                            UNSUPPORTED: the size of a head is not a multiple of 32 */
    size_t sequences;    /* of language models: texts that are to run together, for which a pass needs room; 0 = 16 */
} clf_model_params;

#define CLF_MODEL_PARAMS_INIT            \
    {                                    \
        .size = sizeof(clf_model_params) \
    }
CLF_API CLF_NODISCARD clf_status clf_model_params_default(clf_model_params *out, size_t size); /* clformer.h: options */

/* Loads the model at `path`: a GGUF file of a language model, or a Hugging Face or sentence-transformers directory. By config.json's
 * model_type that is BERT, DistilBERT, RoBERTa, XLM-RoBERTa, CamemBERT, MPNet, Nomic BERT or ModernBERT, or a language model or an
 * encoder-decoder (generate.h). Of a directory it reads config.json, model.safetensors (f32, f16 or bf16; or the shards of
 * model.safetensors.index.json), and what clf_tokenizer_open reads. Where they are present it reads modules.json (Transformer, Pooling,
 * Dense, LayerNorm, Normalize) with the folders that it names, sentence_bert_config.json and config_sentence_transformers.json. A LoRA
 * adapter (adapter_config.json, adapter_model.safetensors) is merged into the weights as peft's merge_and_unload does. If a directory has
 * only an adapter, base_model_name_or_path names the directory of its model, which has the other files. On devices that share the host's
 * memory, weights are used where the file is mapped; the directory must not change while the model lives. params NULL: the defaults. The
 * model keeps the context alive. *out: the caller destroys it; sessions keep it until they are destroyed too. NOT_FOUND: a file is missing.
 * FORMAT: a file is broken or a weight has another shape (named). UNSUPPORTED: another architecture, a module that is not supported, an
 * adapter of another kind or with a tensor that the model has no place for (named). OUT_OF_MEMORY: the weights do not fit the device (both
 * sizes named). INVALID_ARGUMENT: a NULL but params, a storage that is not one of the enumerators. UNSUPPORTED also for a weight that f16
 * has no finite number for (tensor and weight named). */
CLF_API CLF_NODISCARD clf_status clf_model_open(clf_context *context, const char *path, const clf_model_params *params, clf_model **out);
CLF_API void clf_model_destroy(clf_model *model); /* NULL is a no-op */

/* Borrowed; lives as long as the model. */
CLF_API const clf_model_info *clf_model_get_info(const clf_model *model);

/* Device memory that a model takes, in bytes: weights as they lie on the device, activations and caches. Memory that the driver takes
 * for itself is not known. */
typedef struct clf_memory_plan {
    uint64_t stored_bytes;     /* the checkpoint's tensors */
    uint64_t weight_bytes;     /* as they lie on the device */
    uint64_t copied_bytes;     /* at most, beside weight_bytes: columns of float32 matrices for CLBlast, which are made while half of the
                                  device's memory stays free; 0 on devices that share the host's memory */
    uint64_t half_bytes;       /* weight_bytes if matrices were rounded to f16 (CLF_STORAGE_F16) */
    uint64_t small_bytes;      /* weight_bytes if the checkpoint were converted to q4_0 */
    uint64_t encoder_bytes;    /* activations of an encoder's largest batch; 0: no encoder */
    uint64_t pass_bytes;       /* activations of a decoder's pass over a piece of a prompt */
    uint64_t sequence_bytes;   /* of a decoder: logits of one text in a pass */
    uint64_t sequences;        /* texts that run together */
    uint64_t scratch_bytes;    /* encoder_bytes, or pass_bytes with the logits of `sequences` texts, whichever is more */
    uint64_t cache_bytes;      /* keys and values of one token, of a source too */
    uint64_t half_cache_bytes; /* the same if they were f16 */
    uint64_t device_bytes;     /* the device's memory; 0: the driver does not say */
    int64_t layers;            /* of the decoder */
    int64_t positions;         /* of a decoder without sources; 0: there is none, and the next three members say nothing */
    uint64_t room;             /* tokens of all texts together whose keys and values fit beside weights and scratch */
    uint64_t half_room;        /* the same if keys and values were f16 */
    int64_t context;           /* of a single text: room, at most `positions` */
} clf_memory_plan;

/* The plan of the model at `path` on the context's device, from its configuration and the sizes of its tensors. No weight is read. It may
 * be a model that does not fit (clf_model_open then says OUT_OF_MEMORY). params NULL = defaults. Other statuses as
 * clf_model_open. */
CLF_API CLF_NODISCARD clf_status clf_memory_plan_read(clf_context *context, const char *path, const clf_model_params *params,
                                                      clf_memory_plan *out);

/* The plan that the model was opened with; borrowed; NULL for NULL. Calls that run another number of texts together count their own. */
CLF_API const clf_memory_plan *clf_model_get_memory_plan(const clf_model *model);

/* Prompts of config_sentence_transformers.json: their number, the name of prompt `index` (NULL if it is out of range), and the text of a
 * named prompt (NULL: unknown name). Embeddings, or a cross-encoder's queries, use the default prompt unless another is asked for (NULL:
 * none). Borrowed from the model; 0 and NULL for a NULL model. */
CLF_API size_t clf_model_prompt_count(const clf_model *model);
CLF_API const char *clf_model_prompt_name(const clf_model *model, size_t index);
CLF_API const char *clf_model_prompt(const clf_model *model, const char *name);
CLF_API const char *clf_model_default_prompt_name(const clf_model *model);

/* ---- Sessions ---- */

/* One thread's work on a model: a queue, temporary memory and batches that are used again. A model never changes once it is open, so that
 * any number of sessions use its weights and its tokenizer at the same time, each on a context of its own. */
typedef struct clf_session clf_session;

/* context: the model's, or one that shares its cl_context (clf_context_create_shared); NULL: the model's. The session keeps both alive, so
 * that either may be destroyed first; the last session's thread then also uses the model's context. *out: the caller destroys it.
 * INVALID_ARGUMENT: a NULL but context, a context that shares nothing with the model's.
 *
 * Where the driver's compiler fails at a kernel, which a machine's first pass finds, the session loads the weights again for other engines.
 * It does not while sessions with other contexts share them: its call ends with UNSUPPORTED then, and so does every one until the model is
 * opened again.
 *
 *     clf_session_create(model, NULL, &session);          // in the first thread
 *     clf_context_create_shared(context, &second);        // in a second thread
 *     clf_session_create(model, second, &other); */
CLF_API CLF_NODISCARD clf_status clf_session_create(clf_model *model, clf_context *context, clf_session **out);
CLF_API void clf_session_destroy(clf_session *session); /* NULL is a no-op */

/* Borrowed; lives as long as the session. */
CLF_API clf_context *clf_session_context(const clf_session *session);

/* ---- Embeddings ---- */

typedef struct clf_embed_params {
    size_t size;           /* sizeof(clf_embed_params) */
    int pooling;           /* a clf_pooling, or CLF_AS_MODEL */
    int normalize;         /* 0, 1, or CLF_AS_MODEL */
    size_t max_tokens;     /* longer texts are truncated to so many tokens, special ones included; 0 = as the model */
    size_t batch_tokens;   /* tokens in one forward pass; 0 = suited to the device */
    clf_progress progress; /* texts; NULL = none */
    void *progress_user;
    size_t dimensions;        /* keep so many features, then normalise where the model does or `normalize` is 1; 0 = as the model */
    const char *prompt_name;  /* a prompt of config_sentence_transformers.json; NULL = its default_prompt_name, where it has one */
    const char *prompt;       /* goes before every text; NULL = by prompt_name, "" = none */
    size_t *failed_text;      /* receives the index of a text whose embedding is corrupt or that the tokenizer refuses (the message then
                                leaves the index out); else the number of texts; NULL = not wanted */
    const clf_tokens *tokens; /* [count]: token ids in place of the texts, which are not read then, and no prompt goes before them; NULL =
                                 texts */
} clf_embed_params;

enum { CLF_AS_MODEL = -1 };
#define CLF_EMBED_PARAMS_INIT                                                                \
    {                                                                                        \
        .size = sizeof(clf_embed_params), .pooling = CLF_AS_MODEL, .normalize = CLF_AS_MODEL \
    }
CLF_API CLF_NODISCARD clf_status clf_embed_params_default(clf_embed_params *out, size_t size); /* clformer.h: options */

/* Features of an embedding that these params ask for: dimensions, else the model's embedding_width, or that of another pooling.
 * INVALID_ARGUMENT: a NULL but params; params as clf_session_embed. UNSUPPORTED as clf_session_embed. */
CLF_API CLF_NODISCARD clf_status clf_model_embedding_width(const clf_model *model, const clf_embed_params *params, size_t *out);

/* Counters of one call. */
typedef struct clf_embed_stats {
    size_t texts;
    size_t tokens;    /* after truncation; none is padding */
    size_t truncated; /* texts that lost tokens */
    size_t batches;   /* forward passes */
    uint64_t tokenize_ns;
    uint64_t run_ns; /* from the first forward pass to the last result on the host */
} clf_embed_stats;

/* Embeddings of `count` texts, out[i*C + c], in the order of the texts; the caller provides count * C floats, C by
 * clf_model_embedding_width with the same params. Texts are sorted by length and packed without padding into batches of about batch_tokens
 * tokens; a text's result depends on its batch only by rounding (1e-6 for normalised embeddings). A text of no tokens (no special tokens in
 * the tokenizer) gives zeros. params NULL = defaults; stats may be NULL. Synchronous. The model's modules run in their order (pooling,
 * dense layers, layer norms, normalize). Features that config_sentence_transformers.json's truncate_dim cuts off are cut as
 * sentence-transformers does: the others are normalised again only where `normalize` is 1. INVALID_ARGUMENT: a NULL, max_tokens above
 * max_positions or too small for the special tokens, more dimensions than there are. INVALID_ARGUMENT also: a prompt_name that the model
 * does not have (those that it has are named), or one beside prompt, or a prompt beside tokens. INVALID_ARGUMENT also: tokens outside the
 * vocabulary or its types, or more than max_tokens (else max_positions) of one text. CANCELLED: by progress. UNSUPPORTED: a model without
 * encoder, or modules.json has no Pooling and params ask for none. INTERNAL: an embedding is not finite, or all zero, also when its batch
 * is computed again on the portable engines (which the context's log reports); the text is named. No such vector is ever given. */
CLF_API CLF_NODISCARD clf_status clf_session_embed(clf_session *session, const clf_text *texts, size_t count,
                                                   const clf_embed_params *params, float *out, clf_embed_stats *stats);

/* The encoder's output for token ids, one forward pass over all sequences: [tokens of all, C] on the session's device, sequence after
 * sequence. Enqueued. *out: the caller destroys it. INVALID_ARGUMENT: a NULL, no sequences, an id outside the vocabulary or its types, a
 * sequence longer than max_positions (named). UNSUPPORTED: a model without encoder. */
CLF_API CLF_NODISCARD clf_status clf_session_encode(clf_session *session, const clf_tokens *sequences, size_t count, clf_tensor **out);

/* Attention weights of one layer for a sequence of L token ids: [H, L, L] float32 on the session's device, query by key; rows sum to 1.
 * Enqueued. *out: the caller destroys it. INVALID_ARGUMENT: a NULL, a layer outside the model, an empty sequence, ids and length as above.
 * UNSUPPORTED: a model without encoder. */
CLF_API CLF_NODISCARD clf_status clf_session_attention(clf_session *session, const clf_tokens *sequence, int64_t layer, clf_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
