/* SPDX-License-Identifier: MIT */
/* Embeddings kept beside their texts. */
#include "cli/kept_embeddings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cli/fingerprint.h"
#include "cli/pool.h"
#include "cli/progress.h"

enum { HASH_BYTES = CLFI_HASH_TEXT_BYTES - 1 };

#define NEW SIZE_MAX

typedef struct known_text {
    const char *hash;
    size_t row;
} known_text;

typedef struct kept {
    char *path;
    bool may_write;
    cli_fingerprint before, now;
    float *rows; /* [count, width]: what is kept and can be used */
    size_t count, width;
    known_text *known; /* [count], sorted by hash */
    cli_collection *corpus;
    size_t *sources, source_capacity; /* of each text of the corpus: its row in `rows`, or NEW */
    float *fresh;                     /* rows of the new ones, in their order */
    size_t fresh_count, fresh_capacity;
} kept;

bool cli_keeps_embeddings(const cli_session *session, const char *corpus)
{
    struct stat info;
    return !session->engines && stat(corpus, &info) == 0 && S_ISREG(info.st_mode);
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(((const known_text *)a)->hash, ((const known_text *)b)->hash, HASH_BYTES);
}

/* ---- What is there ---- */

static clf_status take_rows(kept *k, const clf_npy *npy)
{
    const size_t count = npy->rank == 2 ? (size_t)npy->dim[0] : 0;
    if (npy->dtype != CLF_FILE_F32 || npy->rank != 2 || npy->dim[1] != (int64_t)k->width || k->before.texts.length / HASH_BYTES != count ||
        k->before.texts.length % HASH_BYTES != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected float32 [n, %zu] and n hashes of texts, found %zu rows and %zu hashes", k->path, k->width, count,
                 k->before.texts.length / HASH_BYTES);
    CLF_TRY(clfi_alloc(npy->count, sizeof *k->rows, "embeddings", &k->rows));
    CLF_TRY(clfi_alloc(count, sizeof *k->known, "texts", &k->known));
    CLF_TRY(clfi_npy_read_f32(npy, 0, npy->count, k->rows));
    for (size_t i = 0; i < npy->count; i++)
        if (!isfinite(k->rows[i]))
            CLF_FAIL(CLF_FORMAT, "%s: row %zu is not finite", k->path, i / k->width);
    for (size_t i = 0; i < count; i++)
        k->known[i] = (known_text){k->before.texts.data + i * HASH_BYTES, i};
    qsort(k->known, count, sizeof *k->known, by_hash);
    k->count = count;
    return CLF_OK;
}

static clf_status read_file(kept *k)
{
    clf_npy npy;
    bool found;
    CLF_TRY(clfi_npy_open(k->path, &npy));
    clf_status st = cli_fingerprint_read(k->path, &npy, &k->before, &found);
    if (st == CLF_OK && cli_fingerprint_same_work(k->path, &k->before, &k->now, false) == CLF_OK)
        st = take_rows(k, &npy);
    clfi_npy_close(&npy);
    return st;
}

/* OUT_OF_MEMORY only: what cannot be read is made again. */
static clf_status load(kept *k)
{
    clf_str name = CLF_STR_INIT;
    bool has_rows, has_fingerprint;
    clf_status st;
    CLF_GOTO(clfi_str_appendf(&name, "%s.json", k->path));
    CLF_GOTO(clfi_file_exists(k->path, &has_rows));
    CLF_GOTO(clfi_file_exists(name.data, &has_fingerprint));
    CLF_GOTO(cli_fingerprint_is_of_search(k->path, &k->may_write));
    k->may_write = k->may_write || (!has_rows && !has_fingerprint);
    if (has_rows && has_fingerprint && k->may_write)
        CLF_GOTO(read_file(k));
done:
    clfi_str_free(&name);
    cli_line_clear();
    if (st != CLF_OK && st != CLF_OUT_OF_MEMORY) {
        fprintf(stderr, "clformer: %s; %s\n", clf_last_error(), k->may_write ? "it is made again" : "the embeddings are not kept");
        st = CLF_OK;
    } else if (st == CLF_OK && !k->may_write) {
        fprintf(stderr, "clformer: %s was not made by search: it is not used, and not replaced\n", k->path);
    }
    return st;
}

/* ---- What is new ---- */

/* Each text of the corpus passes here; those that have a row already need no embedding. */
static clf_status meet(void *user, clf_text text, bool *out_taken)
{
    kept *k = user;
    cli_collection *c = k->corpus;
    char hash[CLFI_HASH_TEXT_BYTES];
    clfi_hash(text.data, text.size, hash);
    const known_text key = {hash, 0};
    const known_text *found = k->count ? bsearch(&key, k->known, k->count, sizeof key, by_hash) : NULL;
    CLF_TRY(clfi_grow(&k->sources, &k->source_capacity, c->count + 1, sizeof *k->sources, "texts"));
    CLF_TRY(clfi_grow(&c->ends, &c->end_capacity, c->count + 1, sizeof *c->ends, "texts"));
    CLF_TRY(clfi_str_append(&c->bytes, text.data, text.size));
    CLF_TRY(clfi_str_append(&k->now.texts, hash, HASH_BYTES));
    c->ends[c->count] = c->bytes.length;
    k->sources[c->count++] = found ? found->row : NEW;
    *out_taken = !found;
    return CLF_OK;
}

static clf_status add_fresh(void *user, const cli_embedded *window)
{
    kept *k = user;
    const size_t numbers = window->count * k->width, at = k->fresh_count * k->width;
    CLF_TRY(clfi_grow(&k->fresh, &k->fresh_capacity, at + numbers, sizeof *k->fresh, "embeddings"));
    memcpy(k->fresh + at, window->rows, numbers * sizeof *k->fresh);
    k->fresh_count += window->count;
    return CLF_OK;
}

/* Rows in the order of the texts. */
static clf_status put_together(kept *k)
{
    cli_collection *c = k->corpus;
    const size_t width = k->width;
    c->width = width;
    if (c->count == 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc(c->count * width, sizeof *c->rows, "embeddings", &c->rows));
    c->capacity = c->count * width;
    for (size_t i = 0, next = 0; i < c->count; i++) {
        const float *row = k->sources[i] == NEW ? k->fresh + next++ * width : k->rows + k->sources[i] * width;
        memcpy(c->rows + i * width, row, width * sizeof *row);
    }
    return CLF_OK;
}

static clf_status write_file(cli_session *session, const cli_embedding *options, kept *k)
{
    const int64_t width = (int64_t)k->width;
    clf_npy_writer *writer;
    CLF_TRY(clfi_npy_writer_open(k->path, CLF_FILE_F32, 1, &width, &writer));
    clf_status st = clfi_npy_writer_append(writer, k->corpus->rows, k->corpus->count);
    if (st == CLF_OK)
        st = cli_fingerprint_canaries(session, options, &k->now);
    if (st == CLF_OK)
        return cli_fingerprint_commit(&k->now, k->path, writer);
    clfi_npy_writer_abandon(writer);
    return st;
}

static void save(cli_session *session, const cli_embedding *options, kept *k)
{
    const clf_str *before = &k->before.texts, *now = &k->now.texts;
    const bool is_same = k->count && before->length == now->length && memcmp(before->data, now->data, now->length) == 0;
    if (!k->may_write || is_same || now->length == 0)
        return;
    if (write_file(session, options, k) == CLF_OK) {
        cli_interrupts_say("no hits were printed; the embeddings are kept in %s", k->path);
        return;
    }
    cli_line_clear();
    fprintf(stderr, "clformer: %s; the embeddings are not kept\n", clf_last_error());
}

clf_status cli_kept_embed(cli_session *session, const cli_embedding *options, const char *directory, const char *corpus,
                          cli_collection *out, clf_embed_stats *stats)
{
    kept k = {.before = CLI_FINGERPRINT_INIT, .now = CLI_FINGERPRINT_INIT, .corpus = out};
    clf_str path = CLF_STR_INIT;
    cli_inputs *inputs = NULL;
    clf_status st;
    CLF_GOTO(clfi_str_appendf(&path, "%s.embeddings.npy", corpus));
    k.path = path.data;
    CLF_GOTO(cli_embedding_width(session, options, &k.width));
    CLF_GOTO(cli_fingerprint_take(session, options, directory, &k.now));
    CLF_GOTO(load(&k));
    CLF_GOTO(cli_inputs_open(NULL, 0, corpus, &inputs));
    inputs->meets = meet;
    inputs->meets_user = &k;
    cli_interrupts_say("no hits were printed, and nothing new is kept in %s: that is written whole", k.path);
    CLF_GOTO(cli_pool_embed(session, options, inputs, add_fresh, &k, stats));
    CLF_GOTO(put_together(&k));
    save(session, options, &k);
done:
    cli_inputs_close(inputs);
    cli_fingerprint_free(&k.before);
    cli_fingerprint_free(&k.now);
    free(k.rows);
    free(k.known);
    free(k.sources);
    free(k.fresh);
    clfi_str_free(&path);
    return st;
}
