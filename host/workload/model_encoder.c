/* SPDX-License-Identifier: MIT */
/* Workloads "encoder": sentence embeddings by a model directory, from token ids in batches of equal length, and from texts of mixed length.
 *
 * A run goes from the ids or texts to the embeddings on the host. For ids, operations are 2 per weight of the projections and token, and
 * 4 C per pair of query and key, in every layer. For texts none are counted, because the tokenizer decides how many tokens there are. A
 * fixed random choice of the sequences is verified against a float64 pass (reference_encoder.h). The others are compared with the
 * device's own embedding of each sequence alone. A check covers the largest error of an element, and the norms of all rows if the model
 * normalises. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "model/model.h"
#include "runtime/usage.h"
#include "workload/embedding_check.h"
#include "workload/model_texts.h"
#include "workload/model_workloads.h"
#include "workload/reference_encoder.h"
#include "workload/timing.h"
#include "workload/verdict.h"

enum { CHOICE_SEED = 8, TEXTS = 48, QUICK_TEXTS = 16, MOST_CHECKED = 2 };

typedef struct encoder_case {
    size_t batch, tokens;         /* tokens 0: texts */
    const char *directory, *file; /* file NULL: the built-in texts */
} encoder_case;

typedef struct encoder_state {
    const encoder_case *one;
    clf_context *context;
    clf_model *model;
    clf_session *session;
    int32_t *ids, *offsets;
    clf_tokens *sequences; /* the ids as sequences */
    clfi_texts texts;
    clf_embed_stats stats; /* of the latest run on texts */
    size_t weights_bytes;
    float *rows;
} encoder_state;

static void release(void *state)
{
    encoder_state *s = state;
    if (!s)
        return;
    clf_session_destroy(s->session);
    clf_model_destroy(s->model);
    free(s->ids);
    free(s->offsets);
    free(s->sequences);
    clfi_texts_free(&s->texts);
    free(s->rows);
    free(s);
}

/* Embeds texts without a prompt, because the reference adds none. */
static clf_status embed_texts(const encoder_state *s, const clf_text *texts, size_t count, float *out, clf_embed_stats *stats)
{
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.prompt = "";
    return clf_session_embed(s->session, texts, count, &params, out, stats);
}

/* Embeds all sequences in one pass. */
static clf_status embed_ids(const encoder_state *s, const clf_tokens *sequences, size_t count, float *out)
{
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.tokens = sequences;
    params.batch_tokens = count * s->one->tokens;
    return clf_session_embed(s->session, NULL, count, &params, out, NULL);
}

static clf_status run_once(void *state)
{
    encoder_state *s = state;
    return s->texts.count ? embed_texts(s, s->texts.items, s->one->batch, s->rows, &s->stats)
                          : embed_ids(s, s->sequences, s->one->batch, s->rows);
}

static clf_status setup(encoder_state *s)
{
    const size_t batch = s->one->batch, tokens = s->one->tokens;
    const uint64_t before = clfi_usage_bytes(s->context);
    CLF_TRY(clf_model_open(s->context, s->one->directory, NULL, &s->model));
    CLF_TRY(clf_session_create(s->model, NULL, &s->session));
    s->weights_bytes = clfi_model_weights_bytes(clf_model_get_info(s->model)->file_bytes, clfi_usage_bytes(s->context) - before);
    const clf_model_info *info = clf_model_get_info(s->model);
    CLF_TRY(clfi_alloc(batch * (size_t)info->embedding_width, sizeof *s->rows, "embeddings", &s->rows));
    if (tokens == 0) {
        CLF_TRY(s->one->file ? clfi_texts_read(s->one->file, &s->texts) : clfi_texts_make(batch, &s->texts));
        if (s->texts.count != batch)
            CLF_FAIL(CLF_FORMAT, "%s: %zu lines, there were %zu", s->one->file, s->texts.count, batch);
    } else {
        CLF_TRY(clfi_alloc(batch * tokens, sizeof *s->ids, "token ids", &s->ids));
        CLF_TRY(clfi_alloc(batch + 1, sizeof *s->offsets, "token ids", &s->offsets));
        CLF_TRY(clfi_alloc(batch, sizeof *s->sequences, "token ids", &s->sequences));
        clfi_model_random_ids(batch, tokens, info->vocabulary, s->ids, s->offsets);
        for (size_t i = 0; i < batch; i++)
            s->sequences[i] = (clf_tokens){.ids = s->ids + s->offsets[i], .count = tokens};
    }
    return run_once(s);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    encoder_state *s;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *s, "encoder workload", &s));
    *state = s;
    s->one = workload->parameters;
    s->context = context;
    return setup(s);
}

/* The embedding of one sequence by the reference. */
static clf_status want_row(const encoder_state *s, const clfi_ref_encoder *reference, size_t place, double *want, double *bound)
{
    const clf_encode_options options = {.add_special_tokens = true, .max_tokens = (size_t)clf_model_get_info(s->model)->max_tokens};
    const clf_text *text = s->texts.count ? &s->texts.items[place] : NULL;
    clf_encoding encoding = CLF_ENCODING_INIT;
    if (!text)
        return clfi_ref_encoder_embed(reference, s->ids + s->offsets[place], s->one->tokens, want, bound);
    clf_status st = clfi_tokenizer_encode(s->model->tokenizer, text->data, text->size, NULL, 0, &options, &encoding);
    if (st == CLF_OK)
        st = clfi_ref_encoder_embed(reference, encoding.ids, encoding.length, want, bound);
    clfi_encoding_free(&encoding);
    return st;
}

/* The embedding that the device computes for a sequence alone. */
static clf_status embed_alone(const encoder_state *s, size_t place, float *row, double *want)
{
    const size_t width = (size_t)clf_model_get_info(s->model)->embedding_width;
    clf_embed_stats unused;
    CLF_TRY(s->texts.count ? embed_texts(s, s->texts.items + place, 1, row, &unused) : embed_ids(s, s->sequences + place, 1, row));
    for (size_t c = 0; c < width; c++)
        want[c] = (double)row[c];
    return CLF_OK;
}

/* Checks the rows of a run: a choice of them against the reference, the others against the device's embeddings of their sequences alone.
 * row, want: scratch, one embedding each. */
static clf_status check_rows(const encoder_state *s, const clfi_ref_encoder *reference, float *row, double *want, clfi_verdict *out)
{
    enum { ALONE_BOUND = 4 }; /* times the largest bound of the choice: both rows are rounded, and their sequences differ */
    const clf_model_info *info = clf_model_get_info(s->model);
    const size_t batch = s->one->batch, width = (size_t)info->embedding_width;
    const bool is_normal = info->normalize && !clfi_ref_encoder_is_cut(reference);
    clfi_random random = {CHOICE_SEED};
    size_t places[MOST_CHECKED];
    double bound, largest = 0;
    const size_t count = clfi_random_places(&random, batch, MOST_CHECKED, places);
    for (size_t i = 0; i < count; i++) {
        CLF_TRY(want_row(s, reference, places[i], want, &bound));
        clfi_embedding_check(width, is_normal, s->rows + places[i] * width, want, bound, out);
        largest = fmax(largest, bound);
    }
    for (size_t place = 0; place < batch; place++) {
        bool is_checked = false;
        for (size_t i = 0; i < count; i++)
            is_checked = is_checked || places[i] == place;
        if (is_checked)
            continue;
        CLF_TRY(embed_alone(s, place, row, want));
        clfi_embedding_check(width, is_normal, s->rows + place * width, want, ALONE_BOUND * largest, out);
    }
    return CLF_OK;
}

/* Errors are differences of elements of embeddings, which have norm 1. */
static clf_status verify(void *state, clfi_verdict *out)
{
    encoder_state *s = state;
    const clf_model_info *info = clf_model_get_info(s->model);
    const size_t width = (size_t)info->embedding_width;
    clfi_ref_encoder *reference = NULL;
    double *want = NULL;
    float *row = NULL;
    clf_status st;
    for (size_t i = 0; i < s->one->batch * width; i++)
        s->rows[i] = NAN;
    CLF_GOTO(run_once(s));
    CLF_GOTO(clfi_alloc(width, sizeof *want, "reference", &want));
    CLF_GOTO(clfi_alloc(width, sizeof *row, "embedding", &row));
    CLF_GOTO(clfi_ref_encoder_open(s->one->directory, width, &reference));
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    CLF_GOTO(check_rows(s, reference, row, want, out));
done:
    clfi_ref_encoder_close(reference);
    free(want);
    free(row);
    return st;
}

static clf_status run(void *state, clfi_sample *out)
{
    const encoder_state *s = state;
    return clfi_time_call(s->context, run_once, state, out);
}

static void memory(const void *state, clfi_workload_memory *out)
{
    const encoder_state *s = state;
    *out = (clfi_workload_memory){.weights_bytes = s->weights_bytes};
}

static const clfi_workload_type type = {
    .engines = clfi_workload_one_engine, .prepare = prepare, .verify = verify, .run = run, .memory = memory, .release = release};

const clf_model_info *clfi_encoder_info(const void *state)
{
    const encoder_state *s = state;
    return clf_model_get_info(s->model);
}

size_t clfi_encoder_tokens(const void *state)
{
    const encoder_state *s = state;
    return s->texts.count ? s->stats.tokens : s->one->batch * s->one->tokens;
}

/* Work of the host in a run. */
static const char *const text_work[] = {"tokenizing", "sorting texts by length", "packing ids and positions into batches", NULL};
static const char *const id_work[] = {"packing ids and positions", NULL};

static clf_status make_case(const clfi_bench_model *model, const char *file, size_t batch, size_t tokens, encoder_case **out)
{
    const char *directory_copy, *file_copy;
    CLF_TRY(clfi_model_parameters(sizeof **out, model->directory, file, out, &directory_copy, &file_copy));
    **out = (encoder_case){.batch = batch, .tokens = tokens, .directory = directory_copy, .file = file_copy};
    return CLF_OK;
}

clf_status clfi_encoder_add_ids(clfi_workload_list *list, const clfi_bench_model *model, size_t batch, size_t tokens)
{
    const double c = (double)model->width, f = (double)model->hidden_width, rows = (double)batch * (double)tokens;
    const double flops = (double)model->layers * (2 * rows * (4 * c * c + 2 * c * f) + 4 * c * rows * (double)tokens);
    clfi_workload workload = {.op = "encoder",
                              .flops = flops,
                              .items = (double)batch,
                              .item = "texts",
                              .limit = "fp32_gflops",
                              .off_device = id_work,
                              .type = &type};
    encoder_case *one;
    if ((int64_t)tokens > model->max_positions)
        return CLF_OK;
    CLF_TRY(make_case(model, NULL, batch, tokens, &one));
    snprintf(workload.id, sizeof workload.id, "encoder/%s/ids-%zux%zu", model->name, batch, tokens);
    json_t *work = json_pack("{s:s, s:O, s:s, s:I, s:I, s:s, s:i}", "op", "embed ids", "model", model->identity, "arithmetic", "f32",
                             "batch", (json_int_t)batch, "tokens", (json_int_t)tokens, "data", "uniform ids", "seed", CLFI_MODEL_IDS_SEED);
    return clfi_model_workload_add(list, &workload, work, one);
}

static clf_status add_texts(clfi_workload_list *list, const clfi_bench_model *model, size_t count)
{
    clfi_workload workload = {.op = "encoder", .items = (double)count, .item = "texts", .off_device = text_work, .type = &type};
    encoder_case *one;
    CLF_TRY(make_case(model, NULL, count, 0, &one));
    snprintf(workload.id, sizeof workload.id, "encoder/%s/texts-%zu", model->name, count);
    json_t *work = json_pack("{s:s, s:O, s:s, s:I, s:s, s:i}", "op", "embed texts", "model", model->identity, "arithmetic", "f32", "batch",
                             (json_int_t)count, "data", "built-in sentences, 1 to 12 a text", "version", 1);
    return clfi_model_workload_add(list, &workload, work, one);
}

clf_status clfi_encoder_add_file(clfi_workload_list *list, const clfi_bench_model *model, const char *file)
{
    clfi_workload workload = {.op = "encoder", .item = "texts", .off_device = text_work, .type = &type};
    char hash[CLFI_HASH_TEXT_BYTES];
    clfi_texts texts;
    encoder_case *one;
    clf_status st = clfi_texts_read(file, &texts);
    const size_t count = texts.count;
    clfi_hash(clfi_str_text(&texts.storage), texts.storage.length, hash);
    clfi_texts_free(&texts);
    if (st == CLF_OK && count == 0)
        st = clfi_fail(CLF_FORMAT, "%s: no texts", file);
    CLF_TRY(st);
    CLF_TRY(make_case(model, file, count, 0, &one));
    workload.items = (double)count;
    snprintf(workload.id, sizeof workload.id, "encoder/%s/file-%.8s", model->name, hash);
    json_t *work = json_pack("{s:s, s:O, s:s, s:I, s:s, s:s}", "op", "embed texts", "model", model->identity, "arithmetic", "f32", "batch",
                             (json_int_t)count, "data", "lines of a file", "file_xxh128", hash);
    return clfi_model_workload_add(list, &workload, work, one);
}

clf_status clfi_encoder_workloads(clfi_workload_list *list, const clfi_bench_model *model, bool quick)
{
    static const size_t shapes[][2] = {{1, 16}, {1, 128}, {8, 128}, {1, 256}, {32, 16}, {32, 128}, {8, 256}};
    enum { QUICK_SHAPES = 3 };
    for (size_t i = 0; i < (quick ? QUICK_SHAPES : COUNT(shapes)); i++)
        CLF_TRY(clfi_encoder_add_ids(list, model, shapes[i][0], shapes[i][1]));
    CLF_TRY(add_texts(list, model, QUICK_TEXTS));
    return quick ? CLF_OK : add_texts(list, model, TEXTS);
}
