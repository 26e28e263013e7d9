/* SPDX-License-Identifier: MIT */
/* clformer search: prints the lines of a corpus that are nearest to each query. */
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
#include "cli/chance.h"
#include "cli/commands.h"
#include "jobs/fingerprint.h"
#include "jobs/kept_embeddings.h"
#include "cli/model_card.h"
#include "process/mpirun.h"
#include "jobs/pool.h"
#include "console/progress.h"
#include "jobs/ranks_search.h"
#include "jobs/reranking.h"
#include "jobs/scores.h"
#include "console/terminal.h"
#include "io/json.h"
#include "io/npy.h"
#include "tensor/view.h"

typedef struct search_options {
    cli_list given;       /* --corpus */
    const char **corpora; /* these, and the arguments before "--" */
    size_t corpus_count;
    const char *texts, *file, *reranker, *corpus_prompt;
    cli_index_place index;
    size_t top;
    int as_json, full; /* full: lines may be longer than the terminal is wide */
    int no_keep;
} search_options;

/* This process's part of the corpus; all of it if it is alone. */
typedef struct corpus_part {
    cli_corpus corpus;
    int64_t first;   /* index of row 0 in the corpus, if places is NULL */
    int64_t *places; /* index of each row in the corpus; NULL: first, first + 1, ... */
    size_t place_capacity;
} corpus_part;

typedef struct hits {
    size_t count; /* for each query */
    float *values;
    int64_t *indices;
    double *chance; /* threshold of each query (cli_chance); NaN: not known. NULL: a cross-encoder made the values */
} hits;

/* Refuses a corpus whose fingerprint names another model, tokenizer, pooling or prompt. Warns if a corpus has no fingerprint. */
static clf_status check_fingerprint(const cli_session *session, const cli_embedding *options, const char *directory, const char *path,
                                    const clf_npy *npy)
{
    cli_fingerprint of_file = CLI_FINGERPRINT_INIT, now = CLI_FINGERPRINT_INIT;
    bool found;
    clf_status st = cli_fingerprint_read(path, npy, &of_file, &found);
    if (st == CLF_OK && !found) {
        cli_line_clear();
        fprintf(stderr, "clformer: warning: %s.json is missing, so the model of %s cannot be checked\n", path, path);
    } else if (st == CLF_OK && (st = cli_fingerprint_take(session, options, directory, &now)) == CLF_OK) {
        st = cli_fingerprint_match(path, &of_file, &now);
    }
    cli_fingerprint_free(&of_file);
    cli_fingerprint_free(&now);
    return st;
}

/* Reads this rank's rows of a .npy corpus of embeddings [n, width]. Rank 0 checks the fingerprint. */
static clf_status read_rows(const cli_session *session, const cli_embedding *options, const char *directory, const char *path,
                            const cli_ranks *ranks, corpus_part *out)
{
    clf_npy npy;
    size_t width, rank, size;
    char shape[CLFI_SHAPE_TEXT_BYTES];
    cli_collection *own = &out->corpus.rows;
    cli_ranks_place(ranks, &rank, &size);
    CLF_TRY(cli_embedding_width(session, options, &width));
    CLF_TRY(clfi_npy_open(path, &npy));
    clf_status st = CLF_OK;
    if (npy.dtype == CLF_FILE_I8 || npy.dtype == CLF_FILE_U8)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: expected embeddings of floating-point numbers, found quantized ones", path);
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
            st = clfi_fail(CLF_FORMAT, "%s: row %zu, column %zu is %g, expected a finite number", path, first + i / width, i % width,
                           (double)own->rows[i]);
    own->count = st == CLF_OK ? count : 0;
    own->width = width;
    out->first = (int64_t)first;
    clfi_npy_close(&npy);
    return st;
}

/* Reads the texts of a corpus whose `rows` embeddings come from elsewhere. */
static clf_status read_texts(const char *const *files, size_t count, bool skips_blank, size_t rows, cli_corpus *corpus)
{
    cli_inputs *inputs;
    CLF_TRY(cli_inputs_open_files(files, count, &inputs));
    inputs->skips_blank = skips_blank;
    inputs->meets = cli_corpus_meet;
    inputs->meets_user = corpus;
    clf_status st;
    do
        CLF_GOTO(cli_inputs_next(inputs));
    while (inputs->count > 0);
    if (corpus->texts != rows)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "%s: %zu %s: expected %zu %s, as the corpus has", files[0], corpus->texts,
                       clfi_plural(corpus->texts, "text", "texts"), rows, clfi_plural(rows, "embedding", "embeddings"));
done:
    cli_inputs_close(inputs);
    return st;
}

/* A sink for the windows that this rank embeds. It keeps no texts: rank 0 reads all of them afterwards. */
static clf_status collect_part(void *user, const cli_embedded *window)
{
    corpus_part *p = user;
    const size_t before = p->corpus.rows.count;
    CLF_TRY(cli_corpus_collect(&p->corpus, window));
    CLF_TRY(clfi_grow(&p->places, &p->place_capacity, p->corpus.rows.count, sizeof *p->places, "embeddings"));
    for (size_t i = 0; i < window->count; i++)
        p->places[before + i] = (int64_t)(window->first + i);
    return CLF_OK;
}

static bool has_embeddings(const char *corpus)
{
    const size_t length = strlen(corpus);
    return length >= 4 && strcmp(corpus + length - 4, ".npy") == 0;
}

/* Reads or computes this rank's embeddings of the corpus. Rank 0 also gets all texts, if there are any. *out_total: rows of all ranks. */
static clf_status read_corpus(cli_session *session, const cli_embedding *options, const char *directory, const search_options *search,
                              cli_ranks *ranks, corpus_part *out, size_t *out_total, clf_embed_stats *stats)
{
    const bool is_embedded = has_embeddings(search->corpora[0]);
    size_t rank, size;
    cli_ranks_place(ranks, &rank, &size);
    if (is_embedded) {
        CLF_TRY(read_rows(session, options, directory, search->corpora[0], ranks, out));
    } else if (!ranks) {
        CLF_TRY(cli_kept_embed(session, options, directory, &search->index, search->corpora, search->corpus_count, &out->corpus, stats));
    } else {
        cli_inputs *inputs;
        CLF_TRY(cli_inputs_open_files(search->corpora, search->corpus_count, &inputs));
        inputs->skips_blank = true;
        inputs->window_texts = cli_inputs_window(inputs, size, CLI_WINDOW);
        cli_ranks_take_windows(ranks, inputs);
        const clf_status st = cli_pool_embed(session, options, inputs, collect_part, out, stats);
        cli_inputs_close(inputs);
        CLF_TRY(st);
    }
    *out_total = cli_ranks_sum(ranks, out->corpus.rows.count);
    if (rank > 0 || (is_embedded ? !search->texts : !ranks))
        return CLF_OK;
    return is_embedded ? read_texts(&search->texts, 1, false, *out_total, &out->corpus)
                       : read_texts(search->corpora, search->corpus_count, true, *out_total, &out->corpus);
}

/* Finds the `from` best rows for each query among the parts of all ranks; rank 0 gets them. */
static clf_status find_hits(const cli_session *session, clf_similarity similarity, const cli_ranks *ranks, const cli_collection *queries,
                            const corpus_part *corpus, size_t from, float *values, int64_t *indices)
{
    const cli_collection *own = &corpus->corpus.rows;
    const size_t count = from < own->count ? from : own->count;
    if (count)
        CLF_TRY(cli_score_top(session->context, similarity, queries->rows, queries->count, own->rows, own->count, queries->width, count,
                              values, indices));
    for (size_t i = 0; i < queries->count * count; i++)
        indices[i] = corpus->places ? corpus->places[indices[i]] : corpus->first + indices[i];
    return cli_ranks_merge_hits(ranks, queries->count, count, from, values, indices);
}

/* The number by which a hit is printed, from 0: its row in a .npy corpus, else its line in its file. */
static int64_t number_of(const cli_corpus *corpus, const search_options *search, int64_t index)
{
    return has_embeddings(search->corpora[0]) ? index : (int64_t)corpus->places[index].line - 1;
}

/* Appends the value and releases it. is_whole false: there was no memory to make it. */
static clf_status append_json(json_t *value, bool is_whole, clf_str *out)
{
    const clf_status st = clfi_json_write(is_whole ? value : NULL, JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY, "search results", out);
    json_decref(value);
    return st;
}

/* Appends hit i of all, which belongs to query q, with its text, the text's place and its fields. */
static clf_status append_hit(const cli_corpus *corpus, const search_options *search, const hits *found, size_t q, size_t i, clf_str *out)
{
    const size_t index = (size_t)found->indices[i];
    const clf_text text = cli_collection_text(&corpus->rows, index), fields = cli_corpus_fields(corpus, index);
    const char *const file = search->corpus_count > 1 && index < corpus->texts ? corpus->places[index].file : NULL;
    const double value = (double)found->values[i], score = search->reranker ? cli_sigmoid(value) : value;
    json_t *hit = json_pack("{s:I, s:f, s:o}", "index", (json_int_t)number_of(corpus, search, found->indices[i]), "score", score, "text",
                            corpus->rows.ends ? clfi_json_text(text.data, text.size) : json_null());
    bool is_whole = !search->reranker || json_object_set_new(hit, "logit", json_real(value)) == 0;
    if (found->chance && !isnan(found->chance[q]))
        is_whole &= json_object_set_new(hit, "above_chance", json_boolean(value > found->chance[q])) == 0;
    if (file)
        is_whole &= json_object_set_new(hit, "file", clfi_json_text(file, strlen(file))) == 0;
    CLF_TRY(append_json(hit, is_whole, out));
    if (!fields.data)
        return CLF_OK;
    out->length--; /* the brace that closes the hit */
    CLF_TRY(clfi_str_append_text(out, ", \"fields\": "));
    CLF_TRY(clfi_str_append(out, fields.data, fields.size));
    return clfi_str_append_char(out, '}');
}

static clf_status print_json(clf_text query, const cli_corpus *corpus, const search_options *search, const hits *found, size_t q)
{
    clf_str line = CLF_STR_INIT;
    clf_status st;
    CLF_GOTO(clfi_str_append_text(&line, "{\"query\": "));
    CLF_GOTO(append_json(clfi_json_text(query.data, query.size), true, &line));
    CLF_GOTO(clfi_str_append_text(&line, ", \"hits\": ["));
    for (size_t i = q * found->count; i < (q + 1) * found->count; i++) {
        CLF_GOTO(clfi_str_append_text(&line, i > q * found->count ? ", " : ""));
        CLF_GOTO(append_hit(corpus, search, found, q, i, &line));
    }
    CLF_GOTO(clfi_str_append_char(&line, ']'));
    if (found->chance && !isnan(found->chance[q])) {
        CLF_GOTO(clfi_str_append_text(&line, ", \"chance\": "));
        CLF_GOTO(append_json(json_real(found->chance[q]), true, &line));
    }
    CLF_GOTO(clfi_str_append_char(&line, '}'));
    cli_line_clear();
    puts(line.data);
done:
    clfi_str_free(&line);
    return st;
}

/* Appends the number or string under `name` as "name=value ", or nothing. */
static clf_status append_field(const json_t *fields, const char *name, clf_str *out)
{
    const json_t *value = json_object_get(fields, name);
    if (json_is_string(value))
        return clfi_str_appendf(out, "%s=%s ", name, json_string_value(value));
    return json_is_integer(value) ? clfi_str_appendf(out, "%s=%lld ", name, (long long)json_integer_value(value)) : CLF_OK;
}

/* Appends what is printed before a hit's text: its file (if there are several) and line, then the fields "id" and "path". */
static clf_status origin_text(const cli_corpus *corpus, const search_options *search, int64_t index, clf_str *out)
{
    const long long number = (long long)number_of(corpus, search, index) + 1;
    json_t *fields;
    CLF_TRY(search->corpus_count > 1 ? clfi_str_appendf(out, "%s:%lld  ", corpus->places[index].file, number)
                                     : clfi_str_appendf(out, "%6lld  ", number));
    CLF_TRY(cli_corpus_parse_fields(corpus, (size_t)index, &fields));
    clf_status st = append_field(fields, "id", out);
    if (st == CLF_OK)
        st = append_field(fields, "path", out);
    json_decref(fields);
    return st;
}

static clf_status print_table(clf_text query, const cli_corpus *corpus, const search_options *search, const hits *found, size_t q,
                              int columns)
{
    clf_str line = CLF_STR_INIT;
    clf_status st = CLF_OK;
    cli_print_line(stdout, query.data, query.size, columns);
    putchar('\n');
    for (size_t i = q * found->count; st == CLF_OK && i < (q + 1) * found->count; i++) {
        const clf_text text = cli_collection_text(&corpus->rows, (size_t)found->indices[i]);
        const double value = (double)found->values[i];
        const bool is_chance = found->chance && value <= found->chance[q]; /* false where it is NaN */
        clfi_str_clear(&line);
        CLF_GOTO(clfi_str_appendf(&line, "  %7.4f%c ", search->reranker ? cli_sigmoid(value) : value, is_chance ? '?' : ' '));
        CLF_GOTO(origin_text(corpus, search, found->indices[i], &line));
        CLF_GOTO(clfi_str_append(&line, text.data, text.size));
        cli_print_line(stdout, line.data, line.length, columns);
        putchar('\n');
    }
done:
    clfi_str_free(&line);
    return st;
}

/* Appends "its model card names en, de", or nothing if no card names languages. */
static clf_status languages_text(const char *directory, clf_str *out)
{
    json_t *languages;
    clf_status st = CLF_OK;
    CLF_TRY(cli_card_languages(directory, &languages));
    for (size_t i = 0; st == CLF_OK && i < json_array_size(languages); i++)
        st = clfi_str_appendf(out, "%s%s", i ? ", " : "its model card names ", json_string_value(json_array_get(languages, i)));
    json_decref(languages);
    return st;
}

/* Says on standard error how many hits are marked as no better than chance, and why. */
static clf_status tell_chance(const char *directory, const hits *found, size_t queries)
{
    size_t marked = 0;
    clf_str languages = CLF_STR_INIT;
    for (size_t i = 0; found->chance && i < queries * found->count; i++)
        marked += (double)found->values[i] <= found->chance[i / found->count];
    if (!marked)
        return CLF_OK;
    const clf_status st = languages_text(directory, &languages);
    if (st == CLF_OK)
        fprintf(stderr,
                "clformer: %zu %s no better than chance, marked by ?: the corpus has nothing similar, or the model was not trained for the "
                "language (%s)\n",
                marked, clfi_plural(marked, "hit is", "hits are"),
                languages.length ? languages.data : "it has no model card that lists its languages");
    clfi_str_free(&languages);
    return st;
}

static clf_status print_hits(const char *directory, const cli_collection *queries, const cli_corpus *corpus, const search_options *search,
                             const hits *found)
{
    const int columns = search->full ? 0 : cli_terminal_columns(STDOUT_FILENO);
    for (size_t q = 0; q < queries->count; q++) {
        for (size_t i = q * found->count; i < (q + 1) * found->count; i++)
            if (!isfinite(found->values[i]))
                CLF_FAIL(CLF_INTERNAL, "query %zu, row %lld: the score is %g", q + 1, (long long)found->indices[i],
                         (double)found->values[i]);
        CLF_TRY(search->as_json ? print_json(cli_collection_text(queries, q), corpus, search, found, q)
                                : print_table(cli_collection_text(queries, q), corpus, search, found, q, columns));
    }
    return search->as_json ? CLF_OK : tell_chance(directory, found, queries->count);
}

/* Copies the options. If the user asked for no prompt, they get the first of these names for which the model has one. */
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

/* Checks that all ranks search the same files with the same model and options; rank 0 alone has the queries. A .npy corpus is compared by
 * its fingerprint and size. */
static clf_status agree(const cli_ranks *ranks, cli_session *session, const cli_embedding *options, const char *directory,
                        const search_options *search)
{
    cli_job job = {.shard = 0};
    clf_str beside = CLF_STR_INIT, more = CLF_STR_INIT;
    const char *first = search->corpora[0];
    char hash[CLFI_HASH_TEXT_BYTES];
    clf_hasher *hasher = NULL;
    bool has_fingerprint = false;
    clf_status st = CLF_OK;
    if (!ranks)
        return CLF_OK;
    if (has_embeddings(first)) {
        CLF_GOTO(clfi_str_appendf(&beside, "%s.json", first));
        CLF_GOTO(clfi_file_exists(beside.data, &has_fingerprint));
    }
    CLF_GOTO(clfi_str_appendf(&more, "--top %zu, --rerank %s, a corpus of", search->top, search->reranker ? search->reranker : "no"));
    for (size_t i = 0; i < search->corpus_count; i++) {
        struct stat info = {0};
        (void)!stat(search->corpora[i], &info);
        CLF_GOTO(clfi_str_appendf(&more, "%s %lld bytes", i ? " and" : "", (long long)info.st_size));
        if (i == 0)
            continue;
        clfi_hasher_destroy(hasher);
        hasher = NULL;
        CLF_GOTO(clfi_hasher_create(&hasher));
        CLF_GOTO(clfi_hasher_add_file(hasher, search->corpora[i]));
        clfi_hasher_text(hasher, hash);
        CLF_GOTO(clfi_str_appendf(&more, " (hash %s)", hash));
    }
    CLF_GOTO(cli_job_take(session, options, directory,
                          !has_embeddings(first) ? first
                          : has_fingerprint      ? beside.data
                                                 : NULL,
                          CLI_WINDOW, 1, 1, &job));
    st = cli_ranks_agree(ranks, &job, more.data);
done:
    clfi_hasher_destroy(hasher);
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
    corpus_part corpus = {.places = NULL};
    hits found = {.values = NULL};
    size_t rank, size, total;
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
    if (rank == 0) { /* the only rank with a standard input */
        cli_interrupts_say("no hits were printed, and no embeddings were kept");
        CLF_GOTO(cli_pool_embed(session, &ask, inputs, cli_collect, &queries, stats));
    }
    CLF_GOTO(cli_ranks_spread_queries(ranks, &queries));
    if (queries.count == 0) /* the file of queries is empty, as every rank knows */
        goto done;
    CLF_GOTO(read_corpus(session, &answer, directory, search, ranks, &corpus, &total, stats));
    if (total == 0)
        CLF_GOTO(clfi_fail(CLF_FORMAT, "search: %s %s no texts", search->corpora[0],
                           search->corpus_count > 1 ? "and the other files hold" : "holds"));
    found.count = search->top < total ? search->top : total;
    const size_t wanted = search->reranker && search->top < RERANKED ? RERANKED : search->top, from = wanted < total ? wanted : total;
    CLF_GOTO(clfi_alloc(queries.count * from, sizeof *found.values, "best scores", &found.values));
    CLF_GOTO(clfi_alloc(queries.count * from, sizeof *found.indices, "best scores", &found.indices));
    CLF_GOTO(find_hits(session, similarity, ranks, &queries, &corpus, from, found.values, found.indices));
    if (rank > 0)
        goto done;
    if (search->reranker) {
        CLF_GOTO(cli_rerank_hits(session, search->texts ? search->texts : search->corpora[0], &queries, &corpus.corpus.rows, from,
                                 found.count, found.values, found.indices, stats));
    } else {
        CLF_GOTO(clfi_alloc(queries.count, sizeof *found.chance, "scores by chance", &found.chance));
        CLF_GOTO(cli_chance(session->context, similarity, &queries, &corpus.corpus.rows, total, found.chance));
    }
    cli_line_clear();
    CLF_GOTO(print_hits(directory, &queries, &corpus.corpus, search, &found));
done:
    free(found.values);
    free(found.indices);
    free(found.chance);
    cli_collection_free(&queries);
    cli_corpus_free(&corpus.corpus);
    free(corpus.places);
    return st;
}

/* Checks a corpus before the queries are read. Under mpirun it must be a file: only rank 0 has a standard input. */
static clf_status check_corpus(const char *path)
{
    struct stat info;
    size_t length = strlen(path); /* without the slashes at the end */
    while (length > 0 && path[length - 1] == '/')
        length--;
    if (strcmp(path, "-") != 0 && access(path, R_OK) != 0)
        return clfi_fail_errno("open", path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        CLF_FAIL(CLF_IO,
                 "%s: is a directory: expected a file of texts (clformer search MODEL_DIR --corpus %.*s/* -- QUERY takes all files)", path,
                 (int)length, path);
    if (cli_mpirun_size() > 1 && (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "search under mpirun: --corpus: expected a file, which every rank reads, found %s", path);
    return CLF_OK;
}

/* Collects the files of --corpus and, if "--" was given, the arguments between the model and "--". *out_queries: where queries begin. */
static clf_status take_corpora(search_options *search, char **arguments, int count, int before_dashes, int *out_queries)
{
    const int end = before_dashes < 0 ? 1 : before_dashes;
    CLF_TRY(clfi_alloc(search->given.count + (size_t)end, sizeof *search->corpora, "names of corpora", &search->corpora));
    for (size_t i = 0; i < search->given.count; i++)
        search->corpora[search->corpus_count++] = search->given.items[i];
    for (int i = 1; i < end; i++)
        search->corpora[search->corpus_count++] = arguments[i];
    for (size_t i = 0; i < search->corpus_count; i++)
        if (search->corpus_count > 1 && has_embeddings(search->corpora[i]))
            CLF_FAIL(CLF_INVALID_ARGUMENT,
                     "--corpus: expected one file of embeddings or files of texts, found %s, which holds embeddings, and others",
                     search->corpora[i]);
    if (search->corpus_count > 1 && cli_index_is_file(&search->index))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--index: %s is a file and holds one corpus: expected a folder for %zu corpora", search->index.path,
                 search->corpus_count);
    for (int i = end; before_dashes < 0 && i < count; i++)
        if (strcmp(arguments[i], "-") != 0 && access(arguments[i], F_OK) == 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT,
                     "search: the query \"%s\" is the name of a file (to search that file too: clformer search MODEL_DIR --corpus %s %s -- "
                     "QUERY; to search for that name: --corpus %s -- %s)",
                     arguments[i], search->corpora[0], arguments[i], search->corpora[0], arguments[i]);
    *out_queries = end;
    return CLF_OK;
}

int cmd_search(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    cli_embedding options = CLI_EMBEDDING_INIT;
    search_options search = {.top = 5};
    int positional, before_dashes, first_query = 1;
    const cli_option table[] = {
        {"corpus", 'c', "F",
         "text file (lines, or .jsonl), or embeddings made by embed -o F.npy; for several files repeat the option, or list them and write "
         "-- before the queries",
         CLI_CORPORA, &search.given},
        {"texts", 0, "F", "file of the texts of a .npy corpus, to print the hits", CLI_TEXTS, &search.texts},
        {"corpus-prompt", 0, "TEXT",
         "prefix of each text of the corpus, also when its .npy was made (default: --prompt, else the model's prompt for documents)",
         CLI_TEXT, &search.corpus_prompt},
        {"top", 'k', "K",
         "hits per query (default: 5, at most 1024); ? marks hits no better than chance, if the corpus has 10 texts or more", CLI_SIZE,
         &search.top},
        {"index", 0, "PATH",
         "folder for the embeddings of corpora of texts, or a file F.npy for one corpus (default: folder embeddings in the cache)",
         CLI_TEXT, &search.index.path},
        {"no-keep", 0, NULL, "do not read or write kept embeddings of a corpus of texts", CLI_FLAG, &search.no_keep},
        {"rerank", 0, "MODEL_DIR", "reorder the best 50 hits with this cross-encoder", CLI_INPUT, &search.reranker},
        {"file", 'f', "F", "read queries from a file, one per line", CLI_TEXTS, &search.file},
        {"full", 0, NULL, "print whole texts, also where they are wider than the terminal", CLI_FLAG, &search.full},
        {"json", 0, NULL, "one JSON object per query; indices count from 0", CLI_FLAG, &search.as_json},
        CLI_EMBEDDING_OPTIONS(options),
        CLI_POOL_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st = cli_parse_parts(self, table, COUNT(table), argc, argv, &positional, &before_dashes);
    if (st == CLF_OK && (positional == 0 || before_dashes == 0 || !search.given.count))
        st = cli_refuse(self, "expected a model directory and --corpus");
    if (st == CLF_OK && search.top > 1024)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--top: expected at most 1024, found %zu", search.top);
    if (st == CLF_OK)
        st = take_corpora(&search, argv, positional, before_dashes, &first_query);
    const char *corpus = st == CLF_OK ? search.corpora[0] : NULL;
    search.index.is_off = search.no_keep;
    if (st == CLF_OK && search.reranker && has_embeddings(corpus) && !search.texts)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--rerank: %s has no texts: expected --texts F", corpus);
    if (st == CLF_OK && search.texts && !has_embeddings(corpus))
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--texts: expected a .npy corpus, found %s, a file of texts", corpus);
    for (size_t i = 0; st == CLF_OK && i < search.corpus_count; i++)
        st = check_corpus(search.corpora[i]);
    if (st == CLF_OK)
        st = cli_inputs_open(argv + first_query, positional - first_query, search.file, &inputs);
    cli_ranks *ranks = NULL;
    if (st == CLF_OK)
        st = cli_ranks_open(&session, &ranks);
    if (st == CLF_OK)
        st = run_search(&session, &options, argv[0], inputs, &search, ranks, &stats);
    cli_ranks_abort(ranks, st);
    const int status = cli_embedding_end(&session, inputs, &stats, st);
    cli_ranks_close(ranks);
    free(search.corpora);
    return status;
}
