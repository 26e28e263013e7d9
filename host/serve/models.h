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
    const char *path;             /* borrowed from the command line; never told to clients */
    unsigned tasks;               /* of srv_task; 0 until it is loaded */
    clf_model *model;             /* on the first device; NULL until it is loaded */
    size_t index;                 /* in the list */
    size_t max_tokens;            /* of one text, special ones included */
    size_t vocabulary;            /* ids below it are tokens */
    size_t width;                 /* of its embeddings; 0: it makes none */
    size_t room;                  /* tokens of a text with its prompt that a language model has memory for; 0: no limit of its own */
    double planned_bytes;         /* weights, passes, and keys and values on one device */
    bool has_types;               /* token types reach the network */
    int64_t loaded;               /* seconds since 1970 */
    struct clf_chat_prompt *chat; /* of one that chats; used with chat_lock held */
    pthread_mutex_t chat_lock;
} srv_model;

typedef struct srv_models {
    srv_model *items; /* [count], in the order of the command line */
    size_t count;
} srv_models;

/* Words of the command line, MODEL or NAME=path. INVALID_ARGUMENT: none, an empty name, two of one name. Start from zeros. */
clf_status srv_models_name(char *const *words, size_t count, srv_models *out);
void srv_models_free(srv_models *models); /* and the loaded models */

/* Opens a model on the context and finds out what it can do. Statuses as clf_model_open; UNSUPPORTED: nothing that is served. */
clf_status srv_model_load(srv_model *model, clf_context *context, const clf_model_params *params);

/* By the name of a request; NULL: unknown. ":latest" at its end does not count. */
const srv_model *srv_models_find(const srv_models *models, const char *id);

/* The first that can do the task, NULL: none. */
const srv_model *srv_models_first(const srv_models *models, unsigned task);

/* The model for a task. id NULL: the first that can. An unknown name means the only model that can; where there are several it is refused,
 * as it is with is_exact. A known model that cannot is refused. */
bool srv_models_choose(const srv_models *models, const char *id, unsigned task, bool is_exact, const srv_model **out, srv_error *error);

/* "embedding" for the lowest task of the bits. */
const char *srv_task_word(unsigned tasks);

#endif
