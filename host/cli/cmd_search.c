/* SPDX-License-Identifier: MIT */
/* clformer search: the lines of a corpus that are nearest to each query. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/embedding.h"
#include "cli/scores.h"
#include "io/npy.h"

typedef struct search_options {
    const char *corpus, *texts, *file;
    size_t top;
    int as_json;
} search_options;

/* A corpus of embeddings [n, width] as .npy. */
static clf_status read_rows(const char *path, size_t width, cli_collection *out)
{
    clf_npy npy;
    CLF_TRY(clfi_npy_open(path, &npy));
    clf_status st = CLF_OK;
    if (npy.rank != 2 || npy.dim[1] != (int64_t)width)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: expected an array [n, %zu], found rank %d with %lld columns", path, width, npy.rank,
                       npy.rank > 1 ? (long long)npy.dim[1] : 1LL);
    if (st == CLF_OK)
        st = clfi_alloc(npy.count, sizeof *out->rows, "corpus", &out->rows);
    if (st == CLF_OK)
        st = clfi_npy_read_f32(&npy, 0, npy.count, out->rows);
    out->count = st == CLF_OK ? (size_t)npy.dim[0] : 0;
    out->width = width;
    clfi_npy_close(&npy);
    return st;
}

/* Texts only, for a corpus whose embeddings come from a .npy file. */
static clf_status read_texts(const char *path, cli_collection *corpus)
{
    cli_inputs *inputs;
    size_t count = 0;
    CLF_TRY(cli_inputs_open(NULL, 0, path, &inputs));
    clf_status st;
    do {
        CLF_GOTO(cli_inputs_next(inputs));
        CLF_GOTO(clfi_grow(&corpus->ends, &corpus->end_capacity, count + inputs->count, sizeof *corpus->ends, "texts"));
        for (size_t i = 0; i < inputs->count; i++) {
            CLF_GOTO(clfi_str_append(&corpus->bytes, inputs->texts[i].data, inputs->texts[i].size));
            corpus->ends[count++] = corpus->bytes.length;
        }
    } while (inputs->count > 0);
    if (count != corpus->count)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: %zu texts, the corpus has %zu embeddings", path, count, corpus->count);
done:
    cli_inputs_close(inputs);
    return st;
}

static clf_status read_corpus(cli_session *session, const cli_embedding *options, const search_options *search, cli_collection *corpus,
                              clf_embed_stats *stats)
{
    const size_t length = strlen(search->corpus);
    if (length >= 4 && strcmp(search->corpus + length - 4, ".npy") == 0) {
        CLF_TRY(read_rows(search->corpus, (size_t)clf_model_get_info(session->model)->width, corpus));
        return search->texts ? read_texts(search->texts, corpus) : CLF_OK;
    }
    cli_inputs *inputs;
    CLF_TRY(cli_inputs_open(NULL, 0, search->corpus, &inputs));
    const clf_status st = cli_embed_all(session, options, inputs, cli_collect, corpus, stats);
    cli_inputs_close(inputs);
    return st;
}

static clf_text text_of(const cli_collection *c, size_t i)
{
    const size_t start = i ? c->ends[i - 1] : 0;
    return c->ends ? (clf_text){clfi_str_text(&c->bytes) + start, c->ends[i] - start} : (clf_text){"", 0};
}

/* A text on one line: control bytes become spaces. */
static void print_text(clf_text text)
{
    for (size_t i = 0; i < text.size; i++)
        putchar((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f ? ' ' : text.data[i]);
}

/* The text as a JSON string; ill-formed UTF-8 as JSON cannot hold it becomes null. */
static json_t *text_json(clf_text text)
{
    json_t *string = json_stringn(text.data, text.size);
    return string ? string : json_null();
}

static clf_status print_hits(const cli_collection *queries, const cli_collection *corpus, const search_options *search,
                             const float *values, const int64_t *indices)
{
    for (size_t q = 0; q < queries->count; q++) {
        json_t *hits = json_array();
        if (!search->as_json) {
            print_text(text_of(queries, q));
            putchar('\n');
        }
        for (size_t i = 0; i < search->top; i++) {
            const size_t at = q * search->top + i;
            const clf_text text = text_of(corpus, (size_t)indices[at]);
            if (search->as_json) {
                json_array_append_new(hits, json_pack("{s:I, s:f, s:o}", "index", (json_int_t)indices[at], "score", (double)values[at],
                                                      "text", corpus->ends ? text_json(text) : json_null()));
            } else {
                printf("  %7.4f  %6lld  ", (double)values[at], (long long)indices[at] + 1);
                print_text(text);
                putchar('\n');
            }
        }
        json_t *line = search->as_json ? json_pack("{s:o, s:O}", "query", text_json(text_of(queries, q)), "hits", hits) : NULL;
        char *dump = line ? json_dumps(line, JSON_REAL_PRECISION(9)) : NULL;
        json_decref(line);
        json_decref(hits);
        if (search->as_json && !dump)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "search results as JSON");
        if (dump)
            puts(dump);
        free(dump);
    }
    return CLF_OK;
}

static clf_status run_search(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs,
                             search_options *search, clf_embed_stats *stats)
{
    cli_collection queries = {.rows = NULL}, corpus = {.rows = NULL};
    float *values = NULL;
    int64_t *indices = NULL;
    clf_status st;
    CLF_GOTO(cli_session_open_model(session, directory));
    CLF_GOTO(cli_embed_all(session, options, inputs, cli_collect, &queries, stats));
    CLF_GOTO(read_corpus(session, options, search, &corpus, stats));
    if (corpus.count == 0)
        CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "search: %s holds no text", search->corpus));
    if (search->top > corpus.count)
        search->top = corpus.count;
    CLF_GOTO(clfi_alloc(queries.count * search->top, sizeof *values, "best scores", &values));
    CLF_GOTO(clfi_alloc(queries.count * search->top, sizeof *indices, "best scores", &indices));
    CLF_GOTO(cli_cosine_top(session->context, queries.rows, queries.count, corpus.rows, corpus.count, queries.width, search->top, values,
                            indices));
    CLF_GOTO(print_hits(&queries, &corpus, search, values, indices));
done:
    free(values);
    free(indices);
    cli_collection_free(&queries);
    cli_collection_free(&corpus);
    return st;
}

int cmd_search(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_embedding options = CLI_EMBEDDING_INIT;
    search_options search = {.top = 5};
    int positional;
    const cli_option table[] = {
        {"corpus", 'c', "F", "texts (lines, or .jsonl), or their embeddings as made by embed -o F.npy", CLI_TEXT, &search.corpus},
        {"texts", 0, "F", "the texts of a .npy corpus, to print them", CLI_TEXT, &search.texts},
        {"top", 'k', "K", "how many lines for each query (default 5, at most 1024)", CLI_SIZE, &search.top},
        {"file", 'f', "F", "read queries from a file, one per line", CLI_TEXT, &search.file},
        {"json", 0, NULL, "one JSON object per query; indices count from 0", CLI_FLAG, &search.as_json},
        CLI_EMBEDDING_OPTIONS(options),
        CLI_SESSION_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional == 0 || !search.corpus))
        st = clfi_fail(CLF_INVALID_ARGUMENT, "search: no model directory or no --corpus; usage: clformer search %s", self->arguments);
    if (st == CLF_OK && search.top > 1024)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--top: expected at most 1024, found %zu", search.top);
    if (st == CLF_OK)
        st = cli_inputs_open(argv + 1, positional - 1, search.file, &inputs);
    if (st == CLF_OK)
        st = run_search(&session, &options, argv[0], inputs, &search, &stats);
    return cli_embedding_end(&session, inputs, &stats, st);
}
