/* SPDX-License-Identifier: MIT */
/* Fingerprint of a file of embeddings: the file F.npy.json beside F.npy records what made the vectors. search, verify and gather read it.
 * If F.npy is a link, the fingerprint is written beside the file that the link leads to. */
#ifndef CLFI_JOBS_FINGERPRINT_H
#define CLFI_JOBS_FINGERPRINT_H

#include "jobs/embedding.h"
#include "io/json.h"
#include "io/npy.h"

/* One row per field: id, name, whether it is a number, whether vectors that differ in it must not be compared (it binds), and whether it
 * belongs to the device. Fields that only change rounding (another device) or truncate texts (max_tokens) are recorded but do not bind.
 * forced_engines: value of --engine or CLF_ENGINE. tuned: whether choices of clformer tune are used if there are any. */
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
    X(FORCED, "forced_engines", false, false, false) \
    X(TUNED, "tuned", false, false, true)            \
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
    char *field[CLI_FIELD_COUNT];    /* values as text; a prompt may be long, and need not be UTF-8; NULL: not set */
    int64_t rows;                    /* of the file */
    char data[CLFI_HASH_TEXT_BYTES]; /* hash of its elements; "" = none */
    clf_str texts;                   /* hashes of the rows' texts, one after another; empty = not recorded (only search does) */
    size_t width;                    /* of the canaries */
    float *canaries;                 /* [CLI_CANARIES, width], not quantised; NULL = none */
    float *ranges;                   /* of quantised rows: least and largest of each feature [2, width]; NULL = none; never read back */
} cli_fingerprint;

#define CLI_FINGERPRINT_INIT \
    {                        \
        .rows = 0            \
    }

/* The canaries: sentences, the same in every version, whose vectors show whether two devices compute the same. */
extern const clf_text cli_canaries[CLI_CANARIES];

const char *cli_field_name(cli_field field);

/* The fields, from the session's open model, its directory's files and the options. Release with cli_fingerprint_free, also on failure.
 * IO: also where the files are no longer those that the model was opened from. */
clf_status cli_fingerprint_take(const cli_session *session, const cli_embedding *options, const char *directory, cli_fingerprint *out);

/* The canaries' vectors by the session's model. */
clf_status cli_fingerprint_canaries(cli_session *session, const cli_embedding *options, cli_fingerprint *fingerprint);

/* Whether search wrote the fingerprint of `path`: it holds hashes of texts, or is too damaged to be parsed. IO, OUT_OF_MEMORY: it cannot be
 * read. FORMAT: it is larger than 1 GiB. */
clf_status cli_fingerprint_is_of_search(const char *path, bool *out);

/* Records that the file's rows are quantised. name: the value of --quantize. ranges: [2, width], copied; NULL: none. */
clf_status cli_fingerprint_quantized(cli_fingerprint *fingerprint, const char *name, const float *ranges);
void cli_fingerprint_free(cli_fingerprint *fingerprint);

/* Copies fields and canaries; the caller releases *out. All fields and canaries must be there. */
clf_status cli_fingerprint_copy(const cli_fingerprint *from, cli_fingerprint *out);

/* The fields and canaries as a JSON object, and back; `where` comes first in messages. A field that is not UTF-8 is written with U+FFFD for
 * its invalid bytes, and all its bytes are written as <name>_hex. The caller releases *out, after cli_fingerprint_parse also on failure. */
clf_status cli_fingerprint_json(const cli_fingerprint *fingerprint, json_t **out);
clf_status cli_fingerprint_parse(const json_t *root, const char *where, cli_fingerprint *out);

/* Checks that one run may continue or complete the work of another. INVALID_ARGUMENT names the first field that differs, as in "PATH was
 * begun with another pooling", where `that` is "PATH was begun with"; fields of the device count only `on_one_device`. */
clf_status cli_fingerprint_same_work(const char *that, const cli_fingerprint *before, const cli_fingerprint *now, bool on_one_device);

/* FORMAT: the canaries of `who` and those of `whose` ("the first shard's") differ by more than devices round differently. */
clf_status cli_fingerprint_same_canaries(const char *who, const cli_fingerprint *own, const char *whose, const cli_fingerprint *wanted);

/* Checks before the work that a fingerprint can be written beside the output `path`. NOT_FOUND, IO: the folder does not allow it, or
 * another file has the fingerprint's name. Pipes, devices and standard output get no fingerprint and pass. */
clf_status cli_fingerprint_check_place(const char *path);

/* Commits the output, and if it is a file also the fingerprint beside it, with the number of rows and the hash. Frees the writer in any
 * case. */
clf_status cli_fingerprint_commit(cli_fingerprint *fingerprint, const char *path, clf_npy_writer *writer);

/* The same for a file whose number of rows and hash are in the fingerprint already. Closes `array` in any case. */
clf_status cli_fingerprint_commit_file(const cli_fingerprint *fingerprint, const char *path, clf_atomic_file *array);

/* *out: the path of the fingerprint beside the file at `path`, which the caller frees; NULL: no file has that name, or one that is not a
 * fingerprint. jobs/npy_output.h removes the fingerprint when another array replaces the embeddings. */
clf_status cli_fingerprint_beside(const char *path, char **out);

/* Reads the fingerprint beside the .npy file `path`; *out_found false: it has none. FORMAT: it is broken, or describes another file. */
clf_status cli_fingerprint_read(const char *path, const clf_npy *npy, cli_fingerprint *out, bool *out_found);

/* The options that make the file's vectors again; out->prompt is borrowed from of_file. FORMAT: a pooling that this version does not
 * know. */
clf_status cli_fingerprint_options(const char *path, const cli_fingerprint *of_file, cli_embedding *out);

/* INVALID_ARGUMENT names the first binding field in which the two differ, with both values. */
clf_status cli_fingerprint_match(const char *path, const cli_fingerprint *of_file, const cli_fingerprint *now);

#endif
