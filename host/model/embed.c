/* SPDX-License-Identifier: MIT */
/* Computes embeddings of texts: encodes, pools, runs the modules after the pooling. Encodes token ids, too. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/str.h"
#include "model/text_rows.h"

CLFI_OPTIONS(clf_embed_params, CLF_EMBED_PARAMS_INIT)

static clf_status choose_width(const clf_model *model, const clf_embed_params *params, clf_sentence_choice *choice)
{
    const clf_sentence_head *head = &model->sentence;
    if (!(model->tasks & CLF_TASK_EMBED))
        CLF_FAIL(CLF_UNSUPPORTED, "embed: model_type \"%s\" generates text and has no encoder: expected an embedding model",
                 model->info.architecture);
    choice->skipped = 0;
    choice->pooling_count = head->config.pooling_count;
    for (size_t i = 0; i < choice->pooling_count; i++)
        choice->pooling[i] = head->config.pooling[i];
    if (params->pooling != CLF_AS_MODEL) {
        if (params->pooling < 0 || params->pooling >= CLF_POOLING_COUNT)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: pooling %d is not one of the enumerators", params->pooling);
        choice->pooling[0] = (clf_pooling)params->pooling;
        choice->pooling_count = 1;
    }
    if (choice->pooling_count == 0)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "embed: modules.json lists a Transformer without a Pooling: expected a Pooling there, or a choice of pooling (--pooling)");
    CLF_TRY(clfi_sentence_head_width(head, choice->pooling_count, &choice->width));
    if (params->dimensions > (size_t)choice->width)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: dimensions %zu, the model's embeddings have %lld", params->dimensions,
                 (long long)choice->width);
    const bool is_cut = params->dimensions && params->dimensions < (size_t)choice->width;
    const int64_t kept = params->dimensions ? (int64_t)params->dimensions : model->settings.truncate_dim;
    choice->keeps_normalize = params->normalize != 0;
    choice->normalize = params->normalize == CLF_AS_MODEL ? is_cut && head->config.normalize : params->normalize != 0;
    if (kept && kept < choice->width)
        choice->width = kept;
    return CLF_OK;
}

static clf_status fail_prompt(const clf_prompts *prompts, const char *name)
{
    clf_str names = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < prompts->count; i++)
        st = clfi_str_appendf(&names, "%s%s", i ? ", " : "", prompts->name[i]);
    if (st == CLF_OK)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "embed: the model has no prompt \"%s\"; it has %s", name,
                       prompts->count ? clfi_str_text(&names) : "none");
    clfi_str_free(&names);
    return st;
}

static clf_status choose_prompt(const clf_model *model, const clf_embed_params *params, const char **out)
{
    const clf_prompts *prompts = &model->settings.prompts;
    const char *name = params->prompt_name ? params->prompt_name : model->settings.is_cross_encoder ? NULL : prompts->standard;
    if (params->prompt && params->prompt_name)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: expected a prompt or prompt_name, found both (\"%s\")", params->prompt_name);
    *out = params->prompt ? params->prompt : name ? clfi_prompts_find(prompts, name) : "";
    if (!*out)
        return fail_prompt(prompts, name);
    return CLF_OK;
}

/* Counts a prompt's tokens as sentence-transformers does: with the special tokens before it, without the one after it. */
static clf_status count_prompt(const clf_model *model, const char *prompt, size_t max_tokens, int32_t *out)
{
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = max_tokens ? max_tokens : (size_t)model->info.max_tokens};
    clf_encoding encoding = CLF_ENCODING_INIT;
    const clf_status st = clfi_tokenizer_encode(model->tokenizer, prompt, strlen(prompt), NULL, 0, &options, &encoding);
    if (st == CLF_OK && encoding.length) {
        const size_t last = encoding.length - 1;
        *out = (int32_t)(last + !clf_tokenizer_is_special(model->tokenizer, encoding.ids[last]));
    }
    clfi_encoding_free(&encoding);
    return st;
}

/* A clf_row_pass: one forward pass and the modules after it. */
static clf_status embed_batch(clf_session *session, const void *user, const clf_token_batch *batch, const clf_view *embeddings)
{
    const clf_sentence_choice *choice = user;
    clf_view hidden;
    CLF_TRY(clfi_view_temporary(session->context, CLF_F32, 2, (int64_t[]){batch->tokens, session->model->info.width}, &hidden));
    CLF_TRY(clfi_session_encode(session, batch, &hidden));
    return clfi_sentence_head_forward(session->context, &session->model->sentence, choice, &hidden, &batch->offsets, embeddings);
}

clf_status clf_model_embedding_width(const clf_model *model, const clf_embed_params *params, size_t *out)
{
    clf_embed_params own;
    clf_sentence_choice choice;
    if (!model || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embedding width: model and out must not be NULL");
    CLF_TRY(clf_embed_params_read(params, &own));
    CLF_TRY(choose_width(model, &own, &choice));
    *out = (size_t)choice.width;
    return CLF_OK;
}

/* Sequences one after another. */
typedef struct flat_tokens {
    int32_t *ids;     /* [2][tokens]: ids, then types */
    int32_t *offsets; /* [count + 1] */
} flat_tokens;

static clf_status count_tokens(const clf_tokens *sequences, size_t count, size_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (sequences[i].count && !sequences[i].ids)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "encode: sequence %zu: token ids are NULL", i);
        if (sequences[i].count > INT32_MAX - *out)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "encode: sequence %zu: more than 2^31-1 tokens with those before it", i);
        *out += sequences[i].count;
    }
    return CLF_OK;
}

static clf_status flatten(const clf_tokens *sequences, size_t count, flat_tokens *flat)
{
    size_t tokens;
    CLF_TRY(count_tokens(sequences, count, &tokens));
    CLF_TRY(clfi_alloc(2 * tokens, sizeof *flat->ids, "token ids", &flat->ids));
    CLF_TRY(clfi_alloc(count + 1, sizeof *flat->offsets, "token ids", &flat->offsets));
    for (size_t i = 0, at = 0; i < count; i++) {
        const clf_tokens *s = &sequences[i];
        if (s->count)
            memcpy(flat->ids + at, s->ids, s->count * sizeof *s->ids);
        if (s->count && s->type_ids)
            memcpy(flat->ids + tokens + at, s->type_ids, s->count * sizeof *s->ids);
        flat->offsets[i + 1] = (int32_t)(at += s->count);
    }
    return CLF_OK;
}

clf_status clf_session_encode(clf_session *session, const clf_tokens *sequences, size_t count, clf_tensor **out)
{
    flat_tokens flat = {.ids = NULL};
    clf_tensor *hidden = NULL;
    clf_token_batch batch;
    clf_status st;
    if (!session || !sequences || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "encode: session, sequences and out must not be NULL");
    CLF_GOTO(flatten(sequences, count, &flat));
    CLF_GOTO(clfi_session_pack(session, &(clf_sequences){flat.ids, flat.ids + flat.offsets[count], flat.offsets, count}, &batch));
    CLF_GOTO(clf_tensor_create(session->context, CLF_F32, 2, (int64_t[]){batch.tokens, session->model->info.width}, &hidden));
    CLF_GOTO(clfi_session_encode(session, &batch, clfi_tensor_view(hidden)));
    *out = hidden;
    hidden = NULL;
done:
    clf_tensor_destroy(hidden);
    free(flat.ids);
    free(flat.offsets);
    return st;
}

static clf_status settle_prompt(const clf_model *model, const clf_embed_params *params, const char **out, int32_t *out_skipped)
{
    if (params->tokens) {
        if ((params->prompt && *params->prompt) || params->prompt_name)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: a prompt and tokens exclude each other");
        *out = NULL;
        return CLF_OK;
    }
    CLF_TRY(choose_prompt(model, params, out));
    if (**out && model->sentence.config.excludes_prompt)
        return count_prompt(model, *out, params->max_tokens, out_skipped);
    return CLF_OK;
}

/* How a call embeds: the parameters and the model's settings together. */
typedef struct embedding {
    clf_row_pass pass;
    clf_sentence_choice choice;
    const char *prompt; /* borrowed; NULL: none */
} embedding;

/* *out must stay where it is: its pass points into it. */
static clf_status settle(const clf_model *model, const clf_embed_params *params, embedding *out)
{
    *out = (embedding){.pass = {.what = "embed", .run = embed_batch, .user = &out->choice}};
    CLF_TRY(choose_width(model, params, &out->choice));
    CLF_TRY(settle_prompt(model, params, &out->prompt, &out->choice.skipped));
    out->pass.width = (size_t)out->choice.width;
    return CLF_OK;
}

clf_status clf_session_embed(clf_session *session, const clf_text *texts, size_t count, const clf_embed_params *params, float *out,
                             clf_embed_stats *stats)
{
    clf_embed_params own;
    embedding how;
    CLF_TRY(clf_embed_params_read(params, &own));
    if (!session || (count && (!(texts || own.tokens) || !out)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: session, texts and out must not be NULL");
    CLF_TRY(settle(session->model, &own, &how));
    const clf_row_texts given = {.texts = texts,
                                 .tokens = own.tokens,
                                 .count = count,
                                 .parts = 1,
                                 .prompt = how.prompt,
                                 .max_tokens = own.max_tokens,
                                 .batch_tokens = own.batch_tokens,
                                 .progress = own.progress,
                                 .progress_user = own.progress_user,
                                 .failed = own.failed_text};
    return clfi_rows_of_texts(session, &how.pass, &given, out, stats);
}

clf_status clfi_embed_packer(clf_session *session, const clf_embed_params *params, const clf_row_packer_params *feed, clf_row_packer **out)
{
    clf_embed_params own;
    embedding *how;
    CLF_TRY(clf_embed_params_read(params, &own));
    own.tokens = NULL;
    CLF_TRY(clfi_alloc(1, sizeof *how, "packer", &how));
    const clf_status st = settle(session->model, &own, how);
    if (st != CLF_OK) {
        free(how);
        return st;
    }
    clf_row_packer_params all = *feed;
    all.pass = &how->pass;
    all.prompt = how->prompt;
    all.max_tokens = own.max_tokens;
    all.batch_tokens = own.batch_tokens;
    all.owned = how;
    return clfi_row_packer_create(session, &all, out);
}
