/* SPDX-License-Identifier: MIT */
/* clformer search: the lines of a corpus that are nearest to each query. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/fingerprint.h"
#include "cli/json_line.h"
#include "cli/kept_embeddings.h"
#include "cli/mpirun.h"
#include "cli/pool.h"
#include "cli/progress.h"
#include "cli/ranks_search.h"
#include "cli/reranking.h"
#include "cli/scores.h"
#include "cli/terminal.h"
#include "io/npy.h"
#include "tensor/view.h"

typedef struct search_options {
    const char *corpus, *texts, *file, *reranker, *corpus_prompt;
    size_t top;
    int as_json, full; /* full: lines are not cut to the terminal */
    int no_keep;
} search_options;

/* What this process has of the corpus: all of it, if it is alone. */
typedef struct part {
    cli_collection rows;
    int64_t first;   /* row 0's index in the corpus, */
    int64_t *places; /* or where this is not NULL, each row's */
    size_t place_capacity;
} part;

/* A corpus of another model, tokenizer, pooling or prompt is refused; of one without a fingerprint nobody can tell. */
static clf_status check_fingerprint(const cli_session *session, const cli_embedding *options, const char *directory, const char *path,
                                    const clf_npy *npy)
{
    cli_fingerprint of_file = CLI_FINGERPRINT_INIT, now = CLI_FINGERPRINT_INIT;
    bool found;
    clf_status st = cli_fingerprint_read(path, npy, &of_file, &found);
    if (st == CLF_OK && !found) {
        cli_line_clear();
        fprintf(stderr, "clformer: %s has no fingerprint (%s.json): nothing tells that this model made it\n", path, path);
    } else if (st == CLF_OK && (st = cli_fingerprint_take(session, options, directory, &now)) == CLF_OK) {
        st = cli_fingerprint_match(path, &of_file, &now);
    }
    cli_fingerprint_free(&of_file);
    cli_fingerprint_free(&now);
    return st;
}

/* This rank's rows of a corpus of embeddings [n, width] as .npy. */
static clf_status read_rows(const cli_session *session, const cli_embedding *options, const char *directory, const char *path,
                            const cli_ranks *ranks, part *out)
{
    clf_npy npy;
    size_t width, rank, size;
    char shape[CLFI_SHAPE_TEXT_BYTES];
    cli_collection *own = &out->rows;
    cli_ranks_place(ranks, &rank, &size);
    CLF_TRY(cli_embedding_width(session, options, &width));
    CLF_TRY(clfi_npy_open(path, &npy));
    clf_status st = CLF_OK;
    if (npy.dtype == CLF_FILE_I8 || npy.dtype == CLF_FILE_U8)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: its embeddings are quantized, expected floating-point numbers", path);
    else if (npy.rank != 2 || npy.dim[1] != (int64_t)width)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: expected an array [n, %zu], found %s", path, width,
                       clfi_shape_text(npy.rank, npy.dim, shape));
    if (st == CLF_OK && rank == 0)
        st = check_fingerprint(session, options, directory, path, &npy);
    const size_t all = st == CLF_OK ? (size_t)npy.dim[0] : 0, more = all % size; /* the first `more` ranks have one more than the others */
    const size_t first = all / size * rank + (rank < more ? rank : more), count = all / size + (rank < more);
    if (st == CLF_OK)
        st = clfi_alloc(count * width, sizeof *own->rows, "corpus", &own->rows);
    if (st == CLF_OK)
        st = clfi_npy_read_f32(&npy, first * width, count * width, own->rows);
    for (size_t i = 0; st == CLF_OK && i < count * width; i++)
        if (!isfinite(own->rows[i]))
            st = clfi_fail(CLF_FORMAT, "%s: row %zu, column %zu is %g, which no embedding holds", path, first + i / width, i % width,
                           (double)own->rows[i]);
    own->count = st == CLF_OK ? count : 0;
    own->width = width;
    out->first = (int64_t)first;
    clfi_npy_close(&npy);
    return st;
}

/* Texts only, for a corpus of `rows` embeddings that come from elsewhere. */
static clf_status read_texts(const char *path, size_t rows, cli_collection *corpus)
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
    if (count != rows)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: %zu %s, the corpus has %zu %s", path, count, clfi_plural(count, "text", "texts"), rows,
                       clfi_plural(rows, "embedding", "embeddings"));
done:
    cli_inputs_close(inputs);
    return st;
}

/* A sink for windows that are not all of the corpus: the texts stay in the file until the hits of all are known. */
static clf_status collect_part(void *user, const cli_embedded *window)
{
    part *p = user;
    cli_collection *own = &p->rows;
    const size_t all = own->count + window->count;
    CLF_TRY(clfi_grow(&own->rows, &own->capacity, all * window->width, sizeof *own->rows, "embeddings"));
    CLF_TRY(clfi_grow(&p->places, &p->place_capacity, all, sizeof *p->places, "embeddings"));
    memcpy(own->rows + own->count * window->width, window->rows, window->count * window->width * sizeof *own->rows);
    for (size_t i = 0; i < window->count; i++)
        p->places[own->count + i] = (int64_t)(window->first + i);
    own->count = all;
    own->width = window->width;
    return CLF_OK;
}

static bool has_embeddings(const char *corpus)
{
    const size_t length = strlen(corpus);
    return length >= 4 && strcmp(corpus + length - 4, ".npy") == 0;
}

/* *out_total: the rows of all ranks. Rank 0 has all texts, if there are any. */
static clf_status read_corpus(cli_session *session, const cli_embedding *options, const char *directory, const search_options *search,
                              cli_ranks *ranks, part *corpus, size_t *out_total, clf_embed_stats *stats)
{
    const char *texts = ranks ? search->corpus : NULL;
    size_t rank, size;
    cli_ranks_place(ranks, &rank, &size);
    if (has_embeddings(search->corpus)) {
        texts = search->texts;
        CLF_TRY(read_rows(session, options, directory, search->corpus, ranks, corpus));
    } else if (!ranks && !search->no_keep && cli_keeps_embeddings(session, search->corpus)) {
        CLF_TRY(cli_kept_embed(session, options, directory, search->corpus, &corpus->rows, stats));
    } else {
        cli_inputs *inputs;
        CLF_TRY(cli_inputs_open(NULL, 0, search->corpus, &inputs));
        inputs->window_texts = ranks ? cli_inputs_window(inputs, size, CLI_WINDOW) : 0;
        cli_ranks_take_windows(ranks, inputs);
        const clf_status st = ranks ? cli_pool_embed(session, options, inputs, collect_part, corpus, stats)
                                    : cli_pool_embed(session, options, inputs, cli_collect, &corpus->rows, stats);
        cli_inputs_close(inputs);
        CLF_TRY(st);
    }
    *out_total = cli_ranks_sum(ranks, corpus->rows.count);
    return rank == 0 && texts ? read_texts(texts, *out_total, &corpus->rows) : CLF_OK;
}

/* The best of all ranks' parts, `from` for each query, on rank 0. */
static clf_status find_hits(const cli_session *session, clf_similarity similarity, const cli_ranks *ranks, const cli_collection *queries,
                            const part *corpus, size_t from, float *values, int64_t *indices)
{
    const cli_collection *own = &corpus->rows;
    const size_t count = from < own->count ? from : own->count;
    if (count)
        CLF_TRY(cli_score_top(session->context, similarity, queries->rows, queries->count, own->rows, own->count, queries->width, count,
                              values, indices));
    for (size_t i = 0; i < queries->count * count; i++)
        indices[i] = corpus->places ? corpus->places[indices[i]] : corpus->first + indices[i];
    return cli_ranks_merge_hits(ranks, queries->count, count, from, values, indices);
}

static clf_status print_json(clf_text query, const cli_collection *corpus, bool is_reranked, size_t count, const float *values,
                             const int64_t *indices)
{
    json_t *hits = json_array();
    bool is_whole = true;
    for (size_t i = 0; i < count; i++) {
        const clf_text text = cli_collection_text(corpus, (size_t)indices[i]);
        const double value = (double)values[i], score = is_reranked ? cli_sigmoid(value) : value;
        json_t *hit = json_pack("{s:I, s:f, s:o}", "index", (json_int_t)indices[i], "score", score, "text",
                                corpus->ends ? cli_text_json(text.data, text.size) : json_null());
        is_whole &= !is_reranked || json_object_set_new(hit, "logit", json_real(value)) == 0;
        is_whole &= json_array_append_new(hits, hit) == 0;
    }
    json_t *line = json_pack("{s:o, s:o}", "query", cli_text_json(query.data, query.size), "hits", hits);
    return cli_json_print(line, is_whole, JSON_REAL_PRECISION(9), "search results");
}

static void print_table(clf_text query, const cli_collection *corpus, bool is_reranked, size_t count, const float *values,
                        const int64_t *indices, int columns)
{
    cli_print_line(stdout, query.data, query.size, columns);
    putchar('\n');
    for (size_t i = 0; i < count; i++) {
        const clf_text text = cli_collection_text(corpus, (size_t)indices[i]);
        const int used =
            printf("  %7.4f  %6lld  ", is_reranked ? cli_sigmoid((double)values[i]) : (double)values[i], (long long)indices[i] + 1);
        cli_print_line(stdout, text.data, text.size, columns > used ? columns - used : columns ? 1 : 0);
        putchar('\n');
    }
}

static clf_status print_hits(const cli_collection *queries, const cli_collection *corpus, const search_options *search, const float *values,
                             const int64_t *indices)
{
    const int columns = search->full ? 0 : cli_terminal_columns(STDOUT_FILENO);
    for (size_t q = 0; q < queries->count; q++) {
        const size_t at = q * search->top;
        for (size_t i = at; i < at + search->top; i++)
            if (!isfinite(values[i]))
                CLF_FAIL(CLF_INTERNAL, "query %zu, row %lld: the score is %g", q + 1, (long long)indices[i], (double)values[i]);
        if (search->as_json)
            CLF_TRY(print_json(cli_collection_text(queries, q), corpus, search->reranker != NULL, search->top, values + at, indices + at));
        else
            print_table(cli_collection_text(queries, q), corpus, search->reranker != NULL, search->top, values + at, indices + at, columns);
    }
    return CLF_OK;
}

/* Unless a prompt was asked for: the one that the model has for queries, or the first of those for documents. */
static cli_embedding with_prompt(const cli_session *session, const cli_embedding *options, const char *const *names, size_t count)
{
    cli_embedding own = *options;
    for (size_t i = 0; !own.prompt && !own.prompt_name && i < count; i++)
        if (clf_model_prompt(session->model, names[i]))
            own.prompt_name = names[i];
    return own;
}

static cli_embedding with_text(const cli_embedding *options, const char *prompt)
{
    cli_embedding own = *options;
    own.prompt = prompt;
    own.prompt_name = NULL;
    return own;
}

/* All ranks search one corpus with one model and the same options; rank 0 alone has the queries. A .npy corpus is known by its
 * fingerprint and its size. */
static clf_status agree(const cli_ranks *ranks, cli_session *session, const cli_embedding *options, const char *directory,
                        const search_options *search)
{
    cli_job job = {.shard = 0};
    clf_str beside = CLF_STR_INIT, more = CLF_STR_INIT;
    struct stat info = {0};
    bool has_fingerprint = false;
    clf_status st = CLF_OK;
    if (!ranks)
        return CLF_OK;
    if (has_embeddings(search->corpus)) {
        CLF_GOTO(clfi_str_appendf(&beside, "%s.json", search->corpus));
        CLF_GOTO(clfi_file_exists(beside.data, &has_fingerprint));
    }
    (void)!stat(search->corpus, &info);
    CLF_GOTO(clfi_str_appendf(&more, "--top %zu, --rerank %s, a corpus of %lld bytes", search->top,
                              search->reranker ? search->reranker : "no", (long long)info.st_size));
    CLF_GOTO(cli_job_take(session, options, directory,
                          !has_embeddings(search->corpus) ? search->corpus
                          : has_fingerprint               ? beside.data
                                                          : NULL,
                          CLI_WINDOW, 1, 1, &job));
    st = cli_ranks_agree(ranks, &job, more.data);
done:
    cli_job_free(&job);
    clfi_str_free(&beside);
    clfi_str_free(&more);
    return st;
}

static clf_status run_search(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs,
                             search_options *search, cli_ranks *ranks, clf_embed_stats *stats)
{
    static const char *const of_queries[] = {"query"}, *const of_documents[] = {"document", "passage", "corpus"};
    enum { RERANKED = 50 };
    cli_collection queries = {.rows = NULL};
    part corpus = {.places = NULL};
    size_t rank, size, total;
    float *values = NULL;
    int64_t *indices = NULL;
    clf_similarity similarity;
    clf_status st;
    cli_ranks_place(ranks, &rank, &size);
    session->reranker_directory = rank == 0 ? search->reranker : NULL;
    CLF_GOTO(cli_pool_open_model(session, directory));
    CLF_GOTO(clfi_similarity_read(directory, &similarity));
    const cli_embedding ask = with_prompt(session, options, of_queries, COUNT(of_queries)),
                        answer = search->corpus_prompt ? with_text(options, search->corpus_prompt)
                                                       : with_prompt(session, options, of_documents, COUNT(of_documents));
    CLF_GOTO(agree(ranks, session, &answer, directory, search));
    if (rank == 0) { /* which alone has a standard input */
        cli_interrupts_say("no hits were printed, and no embeddings are kept");
        CLF_GOTO(cli_pool_embed(session, &ask, inputs, cli_collect, &queries, stats));
    }
    CLF_GOTO(cli_ranks_spread_queries(ranks, &queries));
    if (queries.count == 0) /* an empty file of them: of all ranks */
        goto done;
    CLF_GOTO(read_corpus(session, &answer, directory, search, ranks, &corpus, &total, stats));
    if (total == 0)
        CLF_GOTO(clfi_fail(CLF_FORMAT, "search: %s holds no text", search->corpus));
    if (search->top > total)
        search->top = total;
    const size_t wanted = search->reranker && search->top < RERANKED ? RERANKED : search->top, from = wanted < total ? wanted : total;
    CLF_GOTO(clfi_alloc(queries.count * from, sizeof *values, "best scores", &values));
    CLF_GOTO(clfi_alloc(queries.count * from, sizeof *indices, "best scores", &indices));
    CLF_GOTO(find_hits(session, similarity, ranks, &queries, &corpus, from, values, indices));
    if (rank > 0)
        goto done;
    if (search->reranker)
        CLF_GOTO(cli_rerank_hits(session, search->texts ? search->texts : search->corpus, &queries, &corpus.rows, from, search->top, values,
                                 indices, stats));
    cli_line_clear();
    CLF_GOTO(print_hits(&queries, &corpus.rows, search, values, indices));
done:
    free(values);
    free(indices);
    cli_collection_free(&queries);
    cli_collection_free(&corpus.rows);
    free(corpus.places);
    return st;
}

/* Before the queries, of which there may be none. Every rank reads the corpus, and only rank 0 has a standard input. */
static clf_status check_corpus(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") != 0 && access(path, R_OK) != 0)
        return clfi_fail_errno("open", path);
    if (cli_mpirun_size() > 1 && (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "search under mpirun: --corpus: expected a file, which every rank reads, found %s", path);
    return CLF_OK;
}

int cmd_search(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_embedding options = CLI_EMBEDDING_INIT;
    search_options search = {.top = 5};
    int positional;
    const cli_option table[] = {
        {"corpus", 'c', "F", "texts (lines, or .jsonl), or their embeddings as made by embed -o F.npy", CLI_TEXTS, &search.corpus},
        {"texts", 0, "F", "the texts of a .npy corpus, to print them", CLI_TEXTS, &search.texts},
        {"corpus-prompt", 0, "TEXT",
         "what stands before each text of the corpus, or stood when its .npy was made (default: as --prompt, else the model's for "
         "documents)",
         CLI_TEXT, &search.corpus_prompt},
        {"top", 'k', "K", "how many lines for each query (default 5, at most 1024)", CLI_SIZE, &search.top},
        {"no-keep", 0, NULL, "neither use nor write F.embeddings.npy, what an earlier search kept of a corpus of texts", CLI_FLAG,
         &search.no_keep},
        {"rerank", 0, "MODEL_DIR", "order the best 50 by this cross-encoder", CLI_INPUT, &search.reranker},
        {"file", 'f', "F", "read queries from a file, one per line", CLI_TEXTS, &search.file},
        {"full", 0, NULL, "print whole texts, also where they are wider than the terminal", CLI_FLAG, &search.full},
        {"json", 0, NULL, "one JSON object per query; indices count from 0", CLI_FLAG, &search.as_json},
        CLI_EMBEDDING_OPTIONS(options),
        CLI_POOL_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional == 0 || !search.corpus))
        st = cli_refuse(self, "no model directory or no --corpus");
    if (st == CLF_OK && search.top > 1024)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--top: expected at most 1024, found %zu", search.top);
    if (st == CLF_OK && search.reranker && has_embeddings(search.corpus) && !search.texts)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--rerank: %s has embeddings alone: expected its texts by --texts F", search.corpus);
    if (st == CLF_OK)
        st = check_corpus(search.corpus);
    if (st == CLF_OK)
        st = cli_inputs_open(argv + 1, positional - 1, search.file, &inputs);
    cli_ranks *ranks = NULL;
    if (st == CLF_OK)
        st = cli_ranks_open(&session, &ranks);
    if (st == CLF_OK)
        st = run_search(&session, &options, argv[0], inputs, &search, ranks, &stats);
    cli_ranks_abort(ranks, st);
    const int status = cli_embedding_end(&session, inputs, &stats, st);
    cli_ranks_close(ranks);
    return status;
}
