/* SPDX-License-Identifier: MIT */
/* Names, loads and finds the served models. */
#include "serve/models.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/utf8.h"
#include "clformer/classify.h"
#include "clformer/tokenizer.h"
#include "model/chat_prompt.h"
#include "model/chat_template.h"
#include "model/model.h"

const char *srv_task_word(unsigned tasks)
{
#define SRV_ROW(id, bit, word) \
    if (tasks & (bit))         \
        return word;
    SRV_TASK_MAP(SRV_ROW)
#undef SRV_ROW
    return "nothing";
}

/* ---- Names ---- */

/* The last part of the path as it was given, without ".gguf". */
static clf_status name_of_path(const char *path, char **out)
{
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    if (end - begin > 5 && strncmp(path + end - 5, ".gguf", 5) == 0)
        end -= 5;
    return clfi_strndup(path + begin, end - begin, out);
}

/* Reads NAME=path. The word is a path as a whole if a '/' stands before the '=', or if a file has that name. */
static clf_status name_model(const char *word, srv_model *out)
{
    const char *equals = strchr(word, '=');
    bool is_path = !equals || equals == word || memchr(word, '/', (size_t)(equals - word)) != NULL;
    if (!is_path && clfi_file_exists(word, &is_path) != CLF_OK)
        is_path = false;
    out->path = is_path ? word : equals + 1;
    CLF_TRY(is_path ? name_of_path(word, &out->id) : clfi_strndup(word, (size_t)(equals - word), &out->id));
    if (!*out->id || !*out->path)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: \"%s\": expected the path of a model, or NAME=path", word);
    if (clfi_utf8_check((const unsigned char *)out->id, strlen(out->id)) != strlen(out->id))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: \"%s\": the name of the model is not UTF-8 (name it: NAME=path)", word);
    return CLF_OK;
}

clf_status srv_models_name(char *const *words, size_t count, srv_models *out)
{
    if (count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: expected a model, found none");
    CLF_TRY(clfi_alloc(count, sizeof *out->items, "models", &out->items));
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_init(&out->items[i].chat_lock, NULL);
        out->count = i + 1;
        CLF_TRY(name_model(words[i], &out->items[i]));
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->items[k].id, out->items[i].id) == 0)
                CLF_FAIL(CLF_INVALID_ARGUMENT, "serve: two models are named \"%s\" (rename one: NAME=%s)", out->items[i].id,
                         out->items[i].path);
    }
    return CLF_OK;
}

void srv_models_free(srv_models *models)
{
    for (size_t i = 0; i < models->count; i++) {
        free(models->items[i].id);
        clfi_chat_prompt_close(models->items[i].chat);
        pthread_mutex_destroy(&models->items[i].chat_lock);
        clf_model_destroy(models->items[i].model);
    }
    free(models->items);
    *models = (srv_models){NULL, 0};
}

/* ---- Loading ---- */

static unsigned tasks_of(const clf_model *model)
{
    const size_t labels = clf_model_label_count(model);
    unsigned tasks = 0;
    if (labels > 0)
        return SRV_TASK_PREDICT | (labels == 1 ? SRV_TASK_RERANK : 0);
    if (model->tasks & CLF_TASK_EMBED)
        tasks |= SRV_TASK_EMBED;
    if (model->tasks & CLF_TASK_GENERATE) {
        char *text = NULL;
        tasks |= SRV_TASK_COMPLETE;
        if (!model->network->config.decoder.has_source && clfi_chat_template_read(model->directory, &text) == CLF_OK)
            tasks |= SRV_TASK_CHAT;
        free(text);
    }
    return tasks;
}

clf_status srv_model_load(srv_model *model, clf_context *context, const clf_model_params *params)
{
    static const char remedy[] = "leave it out, or send the whole prompt to /v1/completions, which reads control tokens";
    CLF_TRY(clf_model_open(context, model->path, params, &model->model));
    const clf_model_info *info = clf_model_get_info(model->model);
    model->tasks = tasks_of(model->model);
    if (model->tasks == 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: expected a model for embedding, reranking, classification or text generation, found a %s model",
                 model->path, info->architecture);
    model->max_tokens = (size_t)(info->max_tokens > 0 ? info->max_tokens : info->max_positions);
    model->vocabulary = (size_t)info->vocabulary;
    model->has_types = model->model->network->config.source.types > 1 && !model->model->sentence.config.lacks_types;
    if (model->tasks & SRV_TASK_EMBED)
        CLF_TRY(clf_model_embedding_width(model->model, NULL, &model->width));
    if (model->tasks & SRV_TASK_CHAT)
        CLF_TRY(clfi_chat_prompt_open(model->path, model->model->tokenizer, remedy, &model->chat));
    model->loaded = (int64_t)time(NULL);
    return CLF_OK;
}

/* ---- Choosing ---- */

const srv_model *srv_models_find(const srv_models *models, const char *id)
{
    static const char tag[] = ":latest";
    size_t length = strlen(id);
    for (size_t i = 0; i < models->count; i++)
        if (strcmp(models->items[i].id, id) == 0)
            return &models->items[i];
    if (length < sizeof tag || strcmp(id + length - (sizeof tag - 1), tag) != 0)
        return NULL;
    length -= sizeof tag - 1;
    for (size_t i = 0; i < models->count; i++)
        if (strlen(models->items[i].id) == length && memcmp(models->items[i].id, id, length) == 0)
            return &models->items[i];
    return NULL;
}

const srv_model *srv_models_first(const srv_models *models, unsigned task)
{
    for (size_t i = 0; i < models->count; i++)
        if (models->items[i].tasks & task)
            return &models->items[i];
    return NULL;
}

static size_t count_able(const srv_models *models, unsigned task)
{
    size_t count = 0;
    for (size_t i = 0; i < models->count; i++)
        count += (models->items[i].tasks & task) != 0;
    return count;
}

bool srv_models_choose(const srv_models *models, const char *id, unsigned task, bool is_exact, const srv_model **out, srv_error *error)
{
    const srv_model *named = id ? srv_models_find(models, id) : NULL;
    const srv_model *first = srv_models_first(models, task);
    if (named && !(named->tasks & task))
        return srv_refuse(error, SRV_FAULT_INVALID, "model", "model: expected a model for %s, found \"%.80s\", which is for %s",
                          srv_task_word(task), named->id, srv_task_word(named->tasks));
    if (id && !named && (is_exact || count_able(models, task) != 1))
        return srv_refuse(error, SRV_FAULT_NO_MODEL, "model", "model: \"%.80s\" not found (GET /v1/models lists the models)", id);
    if (!named && !first)
        return srv_refuse(error, SRV_FAULT_NO_MODEL, "model", "model: this server has no model for %s", srv_task_word(task));
    *out = named ? named : first;
    return true;
}
