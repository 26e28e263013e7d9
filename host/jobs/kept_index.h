/* SPDX-License-Identifier: MIT */
/* Finds and reads an index: the file that keeps the embeddings of one corpus between searches (jobs/kept_embeddings.h). */
#ifndef CLFI_JOBS_KEPT_INDEX_H
#define CLFI_JOBS_KEPT_INDEX_H

#include "jobs/fingerprint.h"

/* Place of indexes: a file if the path ends in .npy (for one corpus), else a folder. In a folder an index is called NAME-HASH.npy: the name
 * of the corpus' file, and a hash of the real paths of corpus and model. */
typedef struct cli_index_place {
    const char *path; /* NULL: the folder "embeddings" in the program's cache folder, which must be private */
    bool is_off;      /* no index is read or written */
} cli_index_place;

/* Whether the place is a file. */
bool cli_index_is_file(const cli_index_place *place);

enum { CLI_TEXT_HASH_BYTES = CLFI_HASH_TEXT_BYTES - 1 };

typedef struct cli_known_text {
    const char *hash; /* CLI_TEXT_HASH_BYTES characters, borrowed from `before` */
    size_t row;
} cli_known_text;

typedef struct cli_kept_index {
    char *path;    /* NULL: nothing is kept of this corpus */
    char *earlier; /* F.embeddings.npy of an earlier version, from which the rows were read; NULL: none */
    bool may_write;
    cli_fingerprint before;
    float *rows; /* [count, width]: embeddings that this run can use */
    size_t count;
    cli_known_text *known; /* [count], sorted by hash */
} cli_kept_index;

/* *out: the folder for indexes, which is created if it does not exist, or the place's file; the caller frees it. NULL: CLF_CACHE_DIR is "",
 * so nothing is cached. NOT_FOUND, IO: the folder cannot be created, or the program's own folder is not private. */
clf_status cli_kept_place(const cli_index_place *place, char **out);

/* Finds and reads the index of `corpus` in that folder or file. `now`: the fingerprint of this run, whose vectors have `width` features.
 * An index that cannot be read leaves *out without rows, and standard error says why. One of another model or of other options leaves it
 * without rows, and nothing is printed. OUT_OF_MEMORY. */
clf_status cli_kept_index_open(const char *path, bool is_file, const char *corpus, const char *model, const cli_fingerprint *now,
                               size_t width, cli_kept_index *out);
void cli_kept_index_close(cli_kept_index *index);

/* The row of the text with that hash; SIZE_MAX: none. */
size_t cli_kept_index_find(const cli_kept_index *index, const char *hash);

#endif
