/* SPDX-License-Identifier: MIT */
/* Fingerprint of a file of embeddings: the file F.npy.json beside F.npy says what made the vectors. search, verify and gather read it. If
 * F.npy is a link, the fingerprint lies beside the file that the link leads to. */
#ifndef CLFI_JOBS_FINGERPRINT_H
#define CLFI_JOBS_FINGERPRINT_H

#include "jobs/embedding.h"
#include "io/json.h"
#include "io/npy.h"

/* One row per field: id, name, whether it is a number, whether vectors that differ in it must not be compared, and whether it is the
 * device's. A field that only rounds differently (another device) or shortens (max_tokens) is told and binds nobody. */
#define CLI_FINGERPRINT_FIELDS(X)                    \
    X(MODEL, "model", false, true, false)            \
    X(TOKENIZER, "tokenizer", false, true, false)    \
    X(POOLING, "pooling", false, true, false)        \
    X(NORMALIZE, "normalize", false, true, false)    \
    X(DIMENSIONS, "dimensions", true, true, false)   \
    X(PROMPT, "prompt", false, true, false)          \
    X(QUANTIZED, "quantization", false, true, false) \
    X(MAX_TOKENS, "max_tokens", true, false, false)  \
    X(PRECISION, "precision", false, false, false)   \
    X(WEIGHTS, "weights", false, false, false)       \
    X(ENGINE, "engine", false, false, true)          \
    X(DEVICE, "device", false, false, true)          \
    X(DRIVER, "driver", false, false, true)          \
    X(VERSION, "version", false, false, false)

typedef enum cli_field {
#define X(id, name, is_number, binds, of_device) CLI_FIELD_##id,
    CLI_FINGERPRINT_FIELDS(X)
#undef X
        CLI_FIELD_COUNT
} cli_field;

enum { CLI_CANARIES = 3 };

typedef struct cli_fingerprint {
    char *field[CLI_FIELD_COUNT];    /* whole, as bytes: a prompt may be long, and need not be UTF-8; NULL: not taken */
    int64_t rows;                    /* of the file */
    char data[CLFI_HASH_TEXT_BYTES]; /* hash of its elements; "" = none */
    clf_str texts;                   /* of the file: the hash of each row's text, one after another; empty = not told */
    size_t width;                    /* of the canaries */
    float *canaries;                 /* [CLI_CANARIES, width], not quantised; NULL = none */
    float *ranges;                   /* of quantised rows: least and largest of each feature [2, width]; NULL = none */
} cli_fingerprint;

#define CLI_FINGERPRINT_INIT \
    {                        \
        .rows = 0            \
    }

/* The sentences, the same in every version. */
extern const clf_text cli_canaries[CLI_CANARIES];

const char *cli_field_name(cli_field field);

/* The fields, from the session's open model, its directory's files and the options. Release with cli_fingerprint_free, also on failure.
 * IO: also where the files are no longer those that the model was opened from. */
clf_status cli_fingerprint_take(const cli_session *session, const cli_embedding *options, const char *directory, cli_fingerprint *out);

/* The canaries' vectors by the session's model. */
clf_status cli_fingerprint_canaries(cli_session *session, const cli_embedding *options, cli_fingerprint *fingerprint);

/* Whether the fingerprint of `path` is one that search wrote: it tells the texts' hashes, or is too damaged to tell. IO, OUT_OF_MEMORY: it
 * cannot be read. */
clf_status cli_fingerprint_is_of_search(const char *path, bool *out);

/* Says that the file's rows are quantised, by the name of --quantize, with copies of the ranges [2, width] (NULL: none). */
clf_status cli_fingerprint_quantized(cli_fingerprint *fingerprint, const char *name, const float *ranges);
void cli_fingerprint_free(cli_fingerprint *fingerprint);

/* Fields and canaries, to be released on their own. */
clf_status cli_fingerprint_copy(const cli_fingerprint *from, cli_fingerprint *out);

/* The fields and canaries as a JSON object, and back; `where` comes first in messages. A field that is no UTF-8 stands there with U+FFFD
 * for what is none, and its bytes beside it as <name>_hex. */
clf_status cli_fingerprint_json(const cli_fingerprint *fingerprint, json_t **out);
clf_status cli_fingerprint_parse(const json_t *root, const char *where, cli_fingerprint *out);

/* Checks that one run may continue or complete the work of another. INVALID_ARGUMENT names the first field that differs, as in "PATH was
 * begun with another pooling", where `that` is "PATH was begun with"; fields of the device count only `on_one_device`. */
clf_status cli_fingerprint_same_work(const char *that, const cli_fingerprint *before, const cli_fingerprint *now, bool on_one_device);

/* FORMAT: `who`'s device computes something else than that of `whose` ("the first shard's"). What devices round differently passes. */
clf_status cli_fingerprint_same_canaries(const char *who, const cli_fingerprint *own, const char *whose, const cli_fingerprint *wanted);

/* Before the work: whether a fingerprint can stand beside what will be written at `path`. IO, NOT_FOUND: not, because of the
 * folder, or because something there is not a fingerprint. */
clf_status cli_fingerprint_check_place(const char *path);

/* Commits the writer, which it frees in any case, and where the output is a file its fingerprint beside it, with rows and hash. */
clf_status cli_fingerprint_commit(cli_fingerprint *fingerprint, const char *path, clf_npy_writer *writer);

/* The same for a file whose rows and hash the fingerprint tells already. Closes `array` in any case. */
clf_status cli_fingerprint_commit_file(const cli_fingerprint *fingerprint, const char *path, clf_atomic_file *array);

/* The name of the fingerprint beside the file at `path`, which an array that is nobody's embeddings takes away with it (jobs/npy_output.h);
 * NULL: there is none, or something else by that name. The caller frees it. */
clf_status cli_fingerprint_beside(const char *path, char **out);

/* The fingerprint beside the .npy file `path`; *out_found false: it has none. FORMAT: broken, or of another file than this one. */
clf_status cli_fingerprint_read(const char *path, const clf_npy *npy, cli_fingerprint *out, bool *out_found);

/* The options by which the file's vectors are made again. FORMAT: a pooling that this version does not know. */
clf_status cli_fingerprint_options(const char *path, const cli_fingerprint *of_file, cli_embedding *out);

/* INVALID_ARGUMENT names the first binding field in which the two differ, with both values. */
clf_status cli_fingerprint_match(const char *path, const cli_fingerprint *of_file, const cli_fingerprint *now);

#endif
