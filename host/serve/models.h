/* SPDX-License-Identifier: MIT */
/* The models that are served: their names, what each can do, and which one a request means. */
#ifndef CLFI_SERVE_MODELS_H
#define CLFI_SERVE_MODELS_H

#include <pthread.h>
#include <stdint.h>

#include "clformer/model.h"
#include "serve/error.h"

/* Tasks of a model; X(id, bit, word). */
#define SRV_TASK_MAP(X)             \
    X(EMBED, 1, "embedding")        \
    X(RERANK, 2, "reranking")       \
    X(PREDICT, 4, "classification") \
    X(COMPLETE, 8, "completion")    \
    X(CHAT, 16, "chat")

typedef enum srv_task {
#define SRV_ENUM_ROW(id, bit, word) SRV_TASK_##id = bit,
    SRV_TASK_MAP(SRV_ENUM_ROW)
#undef SRV_ENUM_ROW
} srv_task;

typedef struct srv_model {
    char *id;                     /* in requests and answers */
    const char *path;             /* borrowed from the command line; never sent to clients */
    unsigned tasks;               /* of srv_task; 0 until it is loaded */
    clf_model *model;             /* on the device that loaded it first; NULL until then */
    size_t max_tokens;            /* of one text, special ones included */
    size_t vocabulary;            /* ids below it are tokens */
    size_t width;                 /* of its embeddings; 0: it makes none */
    size_t room;                  /* of a language model: tokens of a prompt and its text that memory allows; 0: no such limit */
    double planned_bytes;         /* weights, passes, and keys and values on one device */
    bool has_types;               /* token types reach the network */
    int64_t loaded;               /* seconds since 1970 */
    struct clf_chat_prompt *chat; /* NULL: the model cannot chat; guarded by chat_lock */
    pthread_mutex_t chat_lock;
} srv_model;

typedef struct srv_models {
    srv_model *items; /* [count], in the order of the command line */
    size_t count;
} srv_models;

/* Lists the models that words of the command line name, MODEL or NAME=path; loads none. *out starts as zeros; the caller frees it, also
 * after a failure. INVALID_ARGUMENT: no word, an empty name or path, a name that is not UTF-8, two models of one name. OUT_OF_MEMORY. */
clf_status srv_models_name(char *const *words, size_t count, srv_models *out);
void srv_models_free(srv_models *models); /* destroys the loaded models, too */

/* Opens a model on the context and finds out what it can do. Statuses as clf_model_open; UNSUPPORTED: nothing that is served. */
clf_status srv_model_load(srv_model *model, clf_context *context, const clf_model_params *params);

/* The model with this name; NULL: none. If no model has the whole name, ":latest" at its end is ignored. */
const srv_model *srv_models_find(const srv_models *models, const char *id);

/* The first that can do the task, NULL: none. */
const srv_model *srv_models_first(const srv_models *models, unsigned task);

/* The model for a task. id NULL: the first model that can do it. A known name must belong to a model that can. An unknown name means the
 * only model that can; it is refused if there are several, or if is_exact. Faults: INVALID, NO_MODEL. */
bool srv_models_choose(const srv_models *models, const char *id, unsigned task, bool is_exact, const srv_model **out, srv_error *error);

/* "embedding" for the lowest task of the bits. */
const char *srv_task_word(unsigned tasks);

#endif
