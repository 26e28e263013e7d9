/* SPDX-License-Identifier: MIT */
/* Sentence embeddings: tokenize, sort by length, pack into batches without padding, encode, pool, normalise. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/model.h"
#include "op/pooling.h"
#include "runtime/profile.h"

/* Tokens of one forward pass. CPUs: activations of some thousand tokens leave the caches; GPUs want enough rows to fill them. */
enum { CPU_BATCH_TOKENS = 1024, GPU_BATCH_TOKENS = 16384 };

static const float normalize_eps = 1e-12f; /* torch.nn.functional.normalize */

typedef struct embedding_job {
    clf_model *model;
    clf_pooling pooling;
    bool normalize;
} embedding_job;

static clf_status resolve(clf_model *model, const clf_embed_params *params, embedding_job *job)
{
    *job = (embedding_job){model, model->info.pooling, model->info.normalize};
    if (!params)
        return CLF_OK;
    if (params->pooling != CLF_AS_MODEL) {
        if (params->pooling < 0 || params->pooling >= CLF_POOLING_COUNT)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: pooling %d is not one of the enumerators", params->pooling);
        job->pooling = (clf_pooling)params->pooling;
    }
    if (params->normalize != CLF_AS_MODEL)
        job->normalize = params->normalize != 0;
    return CLF_OK;
}

/* One forward pass and pooling; embeddings [sequences, C] are a temporary of the arena. */
static clf_status embed_batch(const embedding_job *job, const clf_token_batch *batch, clf_view *embeddings)
{
    clf_model *model = job->model;
    clf_context *context = model->context;
    const int64_t width = model->info.width;
    clf_view hidden;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){batch->sequences, width}, embeddings));
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){batch->tokens, width}, &hidden));
    CLF_TRY(model->architecture->encode(context, model->state, batch, &hidden));
    CLF_TRY(clfi_pool(context, job->pooling, &hidden, &batch->offsets, embeddings));
    return job->normalize ? clfi_l2_normalize(context, embeddings, normalize_eps, embeddings) : CLF_OK;
}

static clf_status embed_ids(const embedding_job *job, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets,
                            size_t sequences, float *out)
{
    clf_token_batch batch;
    clf_view embeddings;
    CLF_TRY(clfi_model_set_batch(job->model, ids, type_ids, offsets, sequences, &batch));
    const clf_arena_mark mark = clfi_arena_top(job->model->context);
    clf_status st = embed_batch(job, &batch, &embeddings);
    if (st == CLF_OK)
        st = clfi_buffer_read(embeddings.buffer, (size_t)embeddings.offset * sizeof *out, out,
                              sequences * (size_t)job->model->info.width * sizeof *out);
    clfi_arena_release(job->model->context, mark);
    return st;
}

clf_status clf_model_embed_ids(clf_model *model, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets, size_t sequences,
                               const clf_embed_params *params, float *out)
{
    embedding_job job;
    if (!model || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed ids: model and out must not be NULL");
    CLF_TRY(resolve(model, params, &job));
    return embed_ids(&job, ids, type_ids, offsets, sequences, out);
}

clf_status clf_model_encode_ids(clf_model *model, const int32_t *ids, const int32_t *type_ids, const int32_t *offsets, size_t sequences,
                                clf_tensor **out)
{
    clf_token_batch batch;
    clf_tensor *hidden;
    if (!model || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "encode ids: model and out must not be NULL");
    CLF_TRY(clfi_model_set_batch(model, ids, type_ids, offsets, sequences, &batch));
    CLF_TRY(clf_tensor_create(model->context, CLF_F32, 2, (int64_t[]){batch.tokens, model->info.width}, &hidden));
    const clf_status st = model->architecture->encode(model->context, model->state, &batch, clfi_tensor_view(hidden));
    if (st != CLF_OK) {
        clf_tensor_destroy(hidden);
        return st;
    }
    *out = hidden;
    return CLF_OK;
}

/* The tokens of all texts one after another, and the texts' order by falling length. */
typedef struct tokenized {
    int32_t *ids;
    size_t count, capacity;
    size_t *start; /* [texts + 1] */
    size_t *order;
} tokenized;

static void tokenized_free(tokenized *t)
{
    free(t->ids);
    free(t->start);
    free(t->order);
}

static clf_status tokenize(const clf_model *model, const clf_text *texts, size_t count, size_t max_tokens, clf_embed_stats *stats,
                           tokenized *out)
{
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = max_tokens};
    clf_encoding encoding = CLF_ENCODING_INIT;
    clf_status st;
    CLF_GOTO(clfi_alloc(count + 1, sizeof *out->start, "token offsets", &out->start));
    CLF_GOTO(clfi_alloc(count, sizeof *out->order, "text order", &out->order));
    for (size_t i = 0; i < count; i++) {
        if (!texts[i].data && texts[i].size)
            CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "embed: texts[%zu].data is NULL", i));
        CLF_GOTO(clfi_tokenizer_encode(model->tokenizer, texts[i].data, texts[i].size, NULL, 0, &options, &encoding));
        CLF_GOTO(clfi_grow(&out->ids, &out->capacity, out->count + encoding.length, sizeof *out->ids, "token ids"));
        memcpy(out->ids + out->count, encoding.ids, encoding.length * sizeof *out->ids);
        out->count += encoding.length;
        out->start[i + 1] = out->count;
        stats->truncated += encoding.truncated;
    }
done:
    clfi_encoding_free(&encoding);
    return st;
}

static int by_falling_length(const void *a, const void *b, void *user)
{
    const tokenized *t = user;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const size_t length_x = t->start[x + 1] - t->start[x], length_y = t->start[y + 1] - t->start[y];
    if (length_x != length_y)
        return length_x < length_y ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* Runs order[first ..] up to the token limit; returns how many texts that were. */
static clf_status run_batch(const embedding_job *job, const tokenized *t, size_t first, size_t count, size_t limit, float *out,
                            clf_embed_stats *stats, size_t *taken)
{
    const size_t width = (size_t)job->model->info.width;
    size_t texts = 0, tokens = 0;
    while (first + texts < count) {
        const size_t i = t->order[first + texts], length = t->start[i + 1] - t->start[i];
        if (texts > 0 && tokens + length > limit)
            break;
        tokens += length;
        texts++;
    }
    int32_t *ids = NULL, *offsets = NULL;
    float *rows = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(tokens, sizeof *ids, "batch", &ids));
    CLF_GOTO(clfi_alloc(texts + 1, sizeof *offsets, "batch", &offsets));
    CLF_GOTO(clfi_alloc(texts * width, sizeof *rows, "batch", &rows));
    for (size_t k = 0; k < texts; k++) {
        const size_t i = t->order[first + k], length = t->start[i + 1] - t->start[i];
        memcpy(ids + offsets[k], t->ids + t->start[i], length * sizeof *ids);
        offsets[k + 1] = offsets[k] + (int32_t)length;
    }
    CLF_GOTO(embed_ids(job, ids, NULL, offsets, texts, rows));
    for (size_t k = 0; k < texts; k++)
        memcpy(out + t->order[first + k] * width, rows + k * width, width * sizeof *rows);
    stats->batches++;
    *taken = texts;
done:
    free(ids);
    free(offsets);
    free(rows);
    return st;
}

clf_status clf_model_embed(clf_model *model, const clf_text *texts, size_t count, const clf_embed_params *params, float *out,
                           clf_embed_stats *stats)
{
    static const clf_embed_params defaults = CLF_EMBED_PARAMS_INIT;
    embedding_job job;
    tokenized t = {.ids = NULL};
    clf_embed_stats done_stats = {.texts = count};
    if (!model || (count && (!texts || !out)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: model, texts and out must not be NULL");
    const clf_embed_params *p = params ? params : &defaults;
    CLF_TRY(resolve(model, p, &job));
    if (p->max_tokens > (size_t)model->info.max_positions)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: max_tokens %zu, the model has %lld positions", p->max_tokens,
                 (long long)model->info.max_positions);
    const size_t max_tokens = p->max_tokens ? p->max_tokens : (size_t)model->info.max_tokens;
    const size_t limit = p->batch_tokens                           ? p->batch_tokens
                         : model->context->device.caps.is_cpu ? CPU_BATCH_TOKENS
                                                                   : GPU_BATCH_TOKENS;
    const uint64_t start = clfi_now_ns();
    clf_status st = tokenize(model, texts, count, max_tokens, &done_stats, &t);
    const uint64_t tokenized_at = clfi_now_ns();
    clfi_profile_phase(model->context, "tokenize", start, tokenized_at);
    for (size_t i = 0; st == CLF_OK && i < count; i++)
        t.order[i] = i;
    if (st == CLF_OK)
        qsort_r(t.order, count, sizeof *t.order, by_falling_length, &t);
    for (size_t first = 0, taken = 0; st == CLF_OK && first < count; first += taken) {
        st = run_batch(&job, &t, first, count, limit, out, &done_stats, &taken);
        if (st == CLF_OK && p->progress)
            p->progress(p->progress_user, first + taken, count);
    }
    const uint64_t end = clfi_now_ns();
    clfi_profile_phase(model->context, "embed", tokenized_at, end);
    done_stats.tokens = t.count;
    done_stats.tokenize_ns = tokenized_at - start;
    done_stats.run_ns = end - tokenized_at;
    tokenized_free(&t);
    if (st == CLF_OK && stats)
        *stats = done_stats;
    return st;
}
