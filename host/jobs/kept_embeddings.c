/* SPDX-License-Identifier: MIT */
/* Embeds the texts of corpora that their indexes lack, and writes the indexes. */
#include "jobs/kept_embeddings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jobs/kept_index.h"
#include "jobs/pool.h"
#include "console/progress.h"
#include "runtime/context.h"

enum { REST = 20 }; /* an unfinished index is written again after this many times as long as the last writing took */

/* Source of a text's vector. */
typedef struct source {
    bool is_fresh; /* fresh[row], else a row of its file's index */
    size_t row;
} source;

typedef struct kept_file {
    const char *corpus;
    cli_kept_index index;
    size_t first, end;             /* its texts */
    size_t first_fresh, end_fresh; /* its rows among the fresh ones */
} kept_file;

typedef struct kept {
    cli_session *session;
    const cli_embedding *options;
    cli_fingerprint now;
    size_t width;
    kept_file *files;
    size_t file_count, at; /* at: the file that is read */
    cli_corpus *corpus;
    const cli_inputs *inputs;
    clf_str hashes; /* of each text, one after another */
    source *sources;
    size_t source_capacity;
    float *fresh; /* [fresh_count, width]; fresh_expected: of all texts met so far */
    size_t fresh_count, fresh_capacity, fresh_expected;
    size_t saved; /* fresh rows that are in their indexes */
    uint64_t saved_ns, saving_ns;
} kept;

/* ---- What is new ---- */

static bool is_row_there(const kept *k, const source *s)
{
    return !s->is_fresh || s->row < k->fresh_count;
}

static const float *row_of(const kept *k, const kept_file *file, const source *s)
{
    return (s->is_fresh ? k->fresh : file->index.rows) + s->row * k->width;
}

/* Called for each text of the corpus: texts that have a row already are not embedded. */
static clf_status meet(void *user, const cli_met_text *met, bool *out_taken)
{
    kept *k = user;
    char hash[CLFI_HASH_TEXT_BYTES];
    const size_t i = k->corpus->texts;
    while (k->at < met->file) {
        k->at++;
        k->files[k->at].first = i;
        k->files[k->at].first_fresh = k->fresh_expected;
    }
    kept_file *file = &k->files[k->at];
    clfi_hash(met->text.data, met->text.size, hash);
    const size_t row = cli_kept_index_find(&file->index, hash);
    CLF_TRY(clfi_grow(&k->sources, &k->source_capacity, i + 1, sizeof *k->sources, "texts"));
    CLF_TRY(clfi_str_append(&k->hashes, hash, CLI_TEXT_HASH_BYTES));
    CLF_TRY(cli_corpus_add(k->corpus, met));
    *out_taken = row == SIZE_MAX;
    k->sources[i] = (source){*out_taken, *out_taken ? k->fresh_expected++ : row};
    file->end = i + 1;
    file->end_fresh = k->fresh_expected;
    return CLF_OK;
}

/* ---- Writing ---- */

/* One row and the hash of its text. */
static clf_status append(kept *k, clf_npy_writer *writer, const float *row, const char *hash)
{
    CLF_TRY(clfi_npy_writer_append(writer, row, 1));
    return clfi_str_append(&k->now.texts, hash, CLI_TEXT_HASH_BYTES);
}

/* Appends the rows of the file's texts. For an unfinished corpus these are the rows of the former index, then the new ones so far. */
static clf_status append_rows(kept *k, const kept_file *file, bool is_finished, clf_npy_writer *writer)
{
    const cli_kept_index *index = &file->index;
    for (size_t i = 0; !is_finished && i < index->count; i++)
        CLF_TRY(append(k, writer, index->rows + index->known[i].row * k->width, index->known[i].hash));
    for (size_t i = file->first; i < file->end; i++) {
        const source *s = &k->sources[i];
        if (is_row_there(k, s) && (is_finished || s->is_fresh))
            CLF_TRY(append(k, writer, row_of(k, file, s), k->hashes.data + i * CLI_TEXT_HASH_BYTES));
    }
    return CLF_OK;
}

static clf_status write_file(kept *k, const kept_file *file, bool is_finished)
{
    const int64_t width = (int64_t)k->width;
    clf_npy_writer *writer;
    clfi_str_clear(&k->now.texts);
    CLF_TRY(cli_fingerprint_check_place(file->index.path)); /* a link may have appeared there */
    CLF_TRY(clfi_npy_writer_open(file->index.path, CLF_FILE_F32, 1, &width, &writer));
    const clf_status st = append_rows(k, file, is_finished, writer);
    if (st == CLF_OK)
        return cli_fingerprint_commit(&k->now, file->index.path, writer);
    clfi_npy_writer_abandon(writer);
    return st;
}

/* Whether the finished index would be the same as the existing one. */
static bool is_unchanged(const kept *k, const kept_file *file)
{
    const clf_str *before = &file->index.before.texts;
    const size_t start = file->first * CLI_TEXT_HASH_BYTES, size = (file->end - file->first) * CLI_TEXT_HASH_BYTES;
    return file->index.count && !file->index.earlier && before->length == size && memcmp(before->data, k->hashes.data + start, size) == 0;
}

static void save(kept *k, kept_file *file, bool is_finished)
{
    if (!file->index.may_write || file->first == file->end || (is_finished && is_unchanged(k, file)))
        return;
    const clf_status st = write_file(k, file, is_finished);
    if (st == CLF_OK && (!file->index.earlier || !is_finished))
        return;
    cli_line_clear();
    if (st == CLF_OK) {
        fprintf(stderr, "clformer: the embeddings of %s are now kept in %s (remove the old file and its .json)\n", file->index.earlier,
                file->index.path);
        return;
    }
    fprintf(stderr, "clformer: %s; the embeddings are not kept\n", clf_last_error());
    file->index.may_write = false;
}

static bool may_write_any(const kept *k)
{
    for (size_t i = 0; i < k->file_count; i++)
        if (k->files[i].index.may_write)
            return true;
    return false;
}

/* Number of fresh rows that are in the indexes. Files that are not kept have none there. */
static size_t count_saved(const kept *k)
{
    size_t count = 0;
    for (size_t i = 0; i < k->file_count; i++) {
        const kept_file *file = &k->files[i];
        const size_t end = file->end_fresh < k->saved ? file->end_fresh : k->saved;
        count += file->index.may_write && end > file->first_fresh ? end - file->first_fresh : 0;
    }
    return count;
}

/* Writes the indexes of all files that got rows since the last time. */
static void save_unfinished(kept *k)
{
    const uint64_t start = clfi_now_ns();
    for (size_t i = 0; i < k->file_count; i++)
        if (k->files[i].first_fresh < k->fresh_count && k->files[i].end_fresh > k->saved)
            save(k, &k->files[i], false);
    k->saved = k->fresh_count;
    k->saved_ns = clfi_now_ns();
    k->saving_ns = k->saved_ns - start;
    const size_t saved = count_saved(k);
    cli_interrupts_say("no hits were printed; %zu new %s kept: the same search continues", saved,
                       clfi_plural(saved, "embedding is", "embeddings are"));
}

/* Whether writing now takes a small part of the time only. */
static bool is_time_to_save(const kept *k)
{
    return !k->saved_ns || clfi_now_ns() - k->saved_ns >= REST * k->saving_ns;
}

/* Keeps what was embedded before a failure, whose message stays the last error. */
static void save_rest(kept *k)
{
    char reason[CLFI_REASON_BYTES];
    clfi_reason_keep(reason);
    if (k->fresh_count > k->saved && may_write_any(k))
        save_unfinished(k);
    const size_t saved = count_saved(k);
    cli_line_clear();
    if (saved)
        fprintf(stderr, "clformer: %zu new %s kept: the same search continues\n", saved,
                clfi_plural(saved, "embedding is", "embeddings are"));
    clfi_reason_restore(reason);
}

static clf_status add_fresh(void *user, const cli_embedded *window)
{
    kept *k = user;
    const size_t numbers = window->count * k->width, at = k->fresh_count * k->width;
    CLF_TRY(clfi_grow(&k->fresh, &k->fresh_capacity, at + numbers, sizeof *k->fresh, "embeddings"));
    memcpy(k->fresh + at, window->rows, numbers * sizeof *k->fresh);
    k->fresh_count += window->count;
    const bool is_last = k->fresh_count == k->fresh_expected && cli_inputs_are_read(k->inputs);
    if (!is_last && may_write_any(k) && is_time_to_save(k))
        save_unfinished(k);
    return CLF_OK;
}

/* Copies all rows into the corpus, in the order of its texts. */
static clf_status put_together(kept *k)
{
    cli_collection *c = &k->corpus->rows;
    const size_t count = k->corpus->texts;
    c->width = k->width;
    if (count == 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc(count * k->width, sizeof *c->rows, "embeddings", &c->rows));
    c->capacity = count * k->width;
    for (size_t f = 0; f < k->file_count; f++)
        for (size_t i = k->files[f].first; i < k->files[f].end; i++)
            memcpy(c->rows + i * k->width, row_of(k, &k->files[f], &k->sources[i]), k->width * sizeof *c->rows);
    c->count = count;
    return CLF_OK;
}

/* ---- The whole ---- */

static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Sets the canaries for all indexes: those of this device if an index starts over, else those of an index. */
static clf_status take_canaries(kept *k)
{
    const cli_fingerprint *before = NULL;
    for (size_t i = 0; i < k->file_count; i++) {
        const cli_kept_index *index = &k->files[i].index;
        if (index->may_write && !index->count)
            return cli_fingerprint_canaries(k->session, k->options, &k->now);
        before = index->may_write ? &index->before : before;
    }
    if (!before)
        return CLF_OK;
    k->now.width = before->width;
    CLF_TRY(clfi_alloc(CLI_CANARIES * before->width, sizeof *k->now.canaries, "canaries", &k->now.canaries));
    memcpy(k->now.canaries, before->canaries, CLI_CANARIES * before->width * sizeof *k->now.canaries);
    return CLF_OK;
}

static clf_status open_indexes(kept *k, const char *directory, const cli_index_place *place)
{
    char *where;
    bool is_any = false;
    for (size_t i = 0; i < k->file_count; i++)
        is_any = is_any || is_regular(k->files[i].corpus);
    if (place->is_off || k->session->context->engines[0] || !is_any)
        return CLF_OK;
    const clf_status found = cli_kept_place(place, &where);
    if (found == CLF_OUT_OF_MEMORY)
        return found;
    if (found != CLF_OK) {
        cli_line_clear();
        fprintf(stderr, "clformer: %s; the embeddings are not kept\n", clf_last_error());
        return CLF_OK;
    }
    if (!where)
        return CLF_OK;
    clf_status st;
    CLF_GOTO(cli_fingerprint_take(k->session, k->options, directory, &k->now));
    for (size_t i = 0; i < k->file_count; i++) {
        kept_file *file = &k->files[i];
        if (is_regular(file->corpus))
            CLF_GOTO(cli_kept_index_open(where, cli_index_is_file(place), file->corpus, directory, &k->now, k->width, &file->index));
    }
    st = take_canaries(k);
    cli_interrupts_say("no hits were printed, and nothing new is kept in %s", where);
done:
    free(where);
    return st;
}

/* Writes the finished indexes, each in the order of its texts. */
static void save_all(kept *k)
{
    for (size_t i = 0; i < k->file_count; i++)
        save(k, &k->files[i], true);
    cli_interrupts_say(may_write_any(k) ? "no hits were printed; the embeddings are kept" : "no hits were printed");
}

clf_status cli_kept_embed(cli_session *session, const cli_embedding *options, const char *directory, const cli_index_place *place,
                          const char *const *files, size_t count, cli_corpus *out, clf_embed_stats *stats)
{
    kept k = {.session = session, .options = options, .now = CLI_FINGERPRINT_INIT, .corpus = out, .file_count = count};
    cli_inputs *inputs = NULL;
    clf_status st;
    CLF_GOTO(clfi_alloc(count, sizeof *k.files, "corpora", &k.files));
    for (size_t i = 0; i < count; i++)
        k.files[i] = (kept_file){.corpus = files[i]};
    CLF_GOTO(cli_embedding_width(session, options, &k.width));
    CLF_GOTO(open_indexes(&k, directory, place));
    CLF_GOTO(cli_inputs_open_files(files, count, &inputs));
    k.inputs = inputs;
    inputs->skips_blank = true;
    inputs->meets = meet;
    inputs->meets_user = &k;
    CLF_GOTO(cli_pool_embed(session, options, inputs, add_fresh, &k, stats));
    CLF_GOTO(put_together(&k));
    save_all(&k);
done:
    if (st != CLF_OK)
        save_rest(&k);
    cli_inputs_close(inputs);
    cli_fingerprint_free(&k.now);
    for (size_t i = 0; k.files && i < count; i++)
        cli_kept_index_close(&k.files[i].index);
    free(k.files);
    free(k.sources);
    free(k.fresh);
    clfi_str_free(&k.hashes);
    return st;
}
