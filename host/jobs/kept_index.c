/* SPDX-License-Identifier: MIT */
/* Names and reads the files of kept embeddings. */
#include "jobs/kept_index.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/private_directory.h"
#include "base/sidecar.h"
#include "console/progress.h"

enum { MOST_NAME = 96 }; /* bytes of the corpus' name that the index's name takes */

static const char npy_magic[] = "\x93NUMPY";

bool cli_index_is_file(const cli_index_place *place)
{
    const size_t length = place->path ? strlen(place->path) : 0;
    return length > 4 && strcmp(place->path + length - 4, ".npy") == 0;
}

clf_status cli_kept_place(const cli_index_place *place, char **out)
{
    const char *chosen = getenv("CLF_CACHE_DIR");
    char *cache = NULL, *folder = NULL;
    clf_private_directory *private;
    *out = NULL;
    if (place->path) {
        if (!cli_index_is_file(place))
            CLF_TRY(clfi_make_directories(place->path));
        return clfi_strdup(place->path, out);
    }
    if (chosen && !chosen[0])
        return CLF_OK;
    CLF_TRY(chosen ? clfi_strdup(chosen, &cache) : clfi_user_directory("XDG_CACHE_HOME", ".cache", &cache));
    clf_status st = clfi_path_join(cache, "embeddings", &folder);
    free(cache);
    if (st == CLF_OK)
        st = clfi_private_directory_open(folder, &private);
    if (st != CLF_OK) {
        free(folder);
        return st;
    }
    clfi_private_directory_close(private);
    *out = folder;
    return CLF_OK;
}

/* Path of the file for a hash: its real path, or the path as given if that fails. */
static const char *real_path(const char *path, char room[PATH_MAX])
{
    return realpath(path, room) ? room : path;
}

static clf_status index_path(const char *folder, const char *corpus, const char *model, char **out)
{
    char room[PATH_MAX], hash[CLFI_HASH_TEXT_BYTES];
    const char *slash = strrchr(corpus, '/'), *name = slash ? slash + 1 : corpus;
    clf_str key = CLF_STR_INIT, file = CLF_STR_INIT;
    clf_status st;
    CLF_GOTO(clfi_str_appendf(&key, "%s\n", real_path(corpus, room)));
    CLF_GOTO(clfi_str_append_text(&key, real_path(model, room)));
    clfi_hash(key.data, key.length, hash);
    CLF_GOTO(clfi_str_appendf(&file, "%.*s-%.16s.npy", MOST_NAME, name, hash));
    st = clfi_path_join(folder, file.data, out);
done:
    clfi_str_free(&key);
    clfi_str_free(&file);
    return st;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(((const cli_known_text *)a)->hash, ((const cli_known_text *)b)->hash, CLI_TEXT_HASH_BYTES);
}

static clf_status take_rows(cli_kept_index *index, const char *path, const clf_npy *npy, size_t width)
{
    const size_t count = npy->rank == 2 ? (size_t)npy->dim[0] : 0, hashes = index->before.texts.length / CLI_TEXT_HASH_BYTES;
    if (npy->dtype != CLF_FILE_F32 || npy->rank != 2 || npy->dim[1] != (int64_t)width || hashes != count ||
        index->before.texts.length % CLI_TEXT_HASH_BYTES != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected rows of %zu float32 numbers, and the hash of a text for each, found %zu rows and %zu hashes",
                 path, width, count, hashes);
    CLF_TRY(clfi_alloc(npy->count, sizeof *index->rows, "embeddings", &index->rows));
    CLF_TRY(clfi_alloc(count, sizeof *index->known, "texts", &index->known));
    CLF_TRY(clfi_npy_read_f32(npy, 0, npy->count, index->rows));
    for (size_t i = 0; i < npy->count; i++)
        if (!isfinite(index->rows[i]))
            CLF_FAIL(CLF_FORMAT, "%s: row %zu has a number that is not finite", path, i / width + 1);
    for (size_t i = 0; i < count; i++)
        index->known[i] = (cli_known_text){index->before.texts.data + i * CLI_TEXT_HASH_BYTES, i};
    qsort(index->known, count, sizeof *index->known, by_hash);
    index->count = count;
    return CLF_OK;
}

static clf_status read_file(cli_kept_index *index, const char *path, const cli_fingerprint *now, size_t width)
{
    clf_npy npy;
    bool found;
    CLF_TRY(clfi_npy_open(path, &npy));
    clf_status st = cli_fingerprint_read(path, &npy, &index->before, &found);
    if (st == CLF_OK && found && cli_fingerprint_same_work(path, &index->before, now, false) == CLF_OK)
        st = take_rows(index, path, &npy, width);
    clfi_npy_close(&npy);
    return st;
}

/* Looks for the index and its fingerprint. *out_any: one of them exists; *out_whole: both do; *out_own: search wrote the fingerprint. IO:
 * one of them is a link or is not such a file. */
static clf_status check_files(const char *path, bool *out_any, bool *out_whole, bool *out_own)
{
    clf_str beside = CLF_STR_INIT;
    bool has_rows, has_fingerprint;
    clf_status st;
    CLF_GOTO(clfi_str_appendf(&beside, "%s.json", path));
    CLF_GOTO(clfi_sidecar_check(path, npy_magic));
    CLF_GOTO(cli_fingerprint_check_place(path));
    CLF_GOTO(clfi_file_exists(path, &has_rows));
    CLF_GOTO(clfi_file_exists(beside.data, &has_fingerprint));
    *out_any = has_rows || has_fingerprint;
    *out_whole = has_rows && has_fingerprint;
    st = cli_fingerprint_is_of_search(path, out_own);
done:
    clfi_str_free(&beside);
    return st;
}

/* Reads the index that an earlier version kept beside the corpus. If that fails, it counts as missing. */
static clf_status read_earlier(cli_kept_index *index, const char *corpus, const cli_fingerprint *now, size_t width)
{
    clf_str path = CLF_STR_INIT;
    bool is_any, is_whole, is_own;
    clf_status st = clfi_str_appendf(&path, "%s.embeddings.npy", corpus);
    if (st == CLF_OK && check_files(path.data, &is_any, &is_whole, &is_own) == CLF_OK && is_whole && is_own &&
        read_file(index, path.data, now, width) == CLF_OK && index->count) {
        index->earlier = path.data;
        return CLF_OK;
    }
    clfi_str_free(&path);
    return st;
}

static void forget_rows(cli_kept_index *index)
{
    free(index->rows);
    free(index->known);
    index->rows = NULL;
    index->known = NULL;
    index->count = 0;
}

clf_status cli_kept_index_open(const char *path, bool is_file, const char *corpus, const char *model, const cli_fingerprint *now,
                               size_t width, cli_kept_index *out)
{
    cli_kept_index *index = out;
    bool is_any = false, is_whole = false, is_own = false;
    *index = (cli_kept_index){.before = CLI_FINGERPRINT_INIT};
    CLF_TRY(is_file ? clfi_strdup(path, &index->path) : index_path(path, corpus, model, &index->path));
    clf_status st = check_files(index->path, &is_any, &is_whole, &is_own);
    index->may_write = st == CLF_OK && (is_own || !is_any);
    if (st == CLF_OK && is_whole && is_own)
        st = read_file(index, index->path, now, width);
    else if (st == CLF_OK && !is_any)
        st = read_earlier(index, corpus, now, width);
    if (st == CLF_OUT_OF_MEMORY)
        return st;
    if (st != CLF_OK)
        forget_rows(index);
    if (st == CLF_OK && (is_own || !is_any))
        return CLF_OK;
    cli_line_clear();
    if (st != CLF_OK)
        fprintf(stderr, "clformer: %s; %s\n", clf_last_error(),
                index->may_write ? "the index is made again" : "the embeddings are not kept");
    else
        fprintf(stderr, "clformer: %s was not made by search, so it is neither used nor replaced\n", index->path);
    return CLF_OK;
}

void cli_kept_index_close(cli_kept_index *index)
{
    forget_rows(index);
    cli_fingerprint_free(&index->before);
    free(index->path);
    free(index->earlier);
    index->path = index->earlier = NULL;
}

size_t cli_kept_index_find(const cli_kept_index *index, const char *hash)
{
    const cli_known_text key = {hash, 0};
    const cli_known_text *found = index->count ? bsearch(&key, index->known, index->count, sizeof key, by_hash) : NULL;
    return found ? found->row : SIZE_MAX;
}
