/* SPDX-License-Identifier: MIT */
/* The loaded model inside the library. */
#ifndef CLFI_MODEL_MODEL_H
#define CLFI_MODEL_MODEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "clformer/model.h"
#include "model/family.h"
#include "model/generation_config.h"
#include "model/labels.h"
#include "model/memory_plan.h"
#include "model/sentence_head.h"
#include "model/sentence_settings.h"
#include "text/tokenizer.h"

/* Everything is constant once the model is open, except the counts, and the weights while they are loaded again. So sessions in several
 * threads can read it at the same time. */
struct clf_model {
    atomic_size_t references; /* the caller's one and one per session */
    pthread_mutex_t lock;     /* of the count of sessions elsewhere, and of the weights while they are exchanged */
    size_t elsewhere;         /* sessions with another context, and so perhaps in another thread */
    clf_context *context;     /* that the weights were loaded with; retained */
    char *directory;          /* that it was opened from */
    clf_model_params params;  /* that it was opened with */
    bool has_weights;         /* false: clfi_model_describe */
    uint32_t opening;         /* context->openings when its weights were loaded */
    uint64_t left_out;        /* engines that were left out when its weights were packed (context->unbuilt) */
    const clf_family *family;
    unsigned tasks; /* bits of clf_task: the family's, or EMBED for a decoder that makes embeddings */
    clf_network *network;
    clf_memory_plan plan; /* of the device that it was opened on */
    clf_model_info info;
    clf_labels labels;
    clf_sentence_head sentence;
    clf_sentence_settings settings;
    clf_tokenizer *tokenizer;
    clf_tokenizer *target; /* of an encoder-decoder's texts; NULL: any other model */
    clf_generation_config generation;
};

/* The type of keys and values in the caches of its sessions. */
static inline clf_dtype clfi_model_cache(const clf_model *model)
{
    return clfi_cache_storage(model->params.cache)->dtype;
}

/* Tasks of a model of the family at `path`. Decoders with sentence-transformers' list of modules make embeddings. FORMAT: modules.json is
 * not JSON, or too large. */
clf_status clfi_model_tasks(const clf_family *family, const char *path, unsigned *out);

/* Opens a model as clf_model_open does, but without its weights: they are neither read nor put on the device. For callers that need only
 * what the configuration says (widths, prompts, labels), while another process computes. In its info linear_engine is NULL, and parameters
 * and file_bytes are 0. It cannot have sessions. *out: the caller destroys it. */
clf_status clfi_model_describe(clf_context *context, const char *directory, const clf_model_params *params, clf_model **out);

/* Loads the weights again, for the engines that remain (op/left_out.h) and for the device as it is open now (clfi_context_recover). The
 * model and its network stay where they are. IO: the files hold another model now. UNSUPPORTED: the weights are not lost, and sessions with
 * other contexts may be reading them. */
clf_status clfi_model_load_again(clf_model *model);

/* clf_memory_plan_read of an open checkpoint, which stays the caller's; *out_family: the model's. */
clf_status clfi_model_plan(clf_context *context, clf_checkpoint *checkpoint, const char *directory, const clf_model_params *params,
                           const clf_family **out_family, clf_memory_plan *out);

#endif
