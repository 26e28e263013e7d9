/* SPDX-License-Identifier: MIT */
/* Options and loop shared by the commands that compute embeddings. */
#ifndef CLFI_JOBS_EMBEDDING_H
#define CLFI_JOBS_EMBEDDING_H

#include "jobs/inputs.h"
#include "jobs/session.h"

typedef struct cli_embedding {
    int pooling;   /* index into cls|max|mean|mean_sqrt_len|last|weighted_mean|model */
    int normalize; /* index into no|yes|model */
    size_t max_tokens, batch_tokens, dimensions;
    const char *prompt, *prompt_name;
} cli_embedding;

#define CLI_EMBEDDING_INIT           \
    {                                \
        .pooling = 6, .normalize = 2 \
    }

#define CLI_EMBEDDING_OPTIONS(e)                                                                                                       \
    {"pooling",                                                                                                                        \
     0,                                                                                                                                \
     "cls|max|mean|mean_sqrt_len|last|weighted_mean|model",                                                                            \
     "how token vectors become the text's vector (default: as the model says)",                                                        \
     CLI_CHOICE,                                                                                                                       \
     &(e).pooling},                                                                                                                    \
        {"normalize", 0, "no|yes|model", "divide by the L2 norm (default: as the model says)", CLI_CHOICE, &(e).normalize},            \
        {"dimensions", 0, "N", "keep the first N dimensions, then normalise (default: as the model says)", CLI_SIZE, &(e).dimensions}, \
        {"prompt-name",   0, "NAME", "name of the model's prompt to put before each text (default: its default prompt)", CLI_TEXT,     \
         &(e).prompt_name},                                                                                                            \
        {"prompt", 0, "TEXT", "put this text before each text", CLI_TEXT, &(e).prompt},                                                \
        {"max-tokens", 0, "N", "cut longer texts (default: the model's maximum)", CLI_SIZE, &(e).max_tokens},                          \
    {                                                                                                                                  \
        "batch-tokens", 0, "N", "tokens in one forward pass (default: chosen for the device)", CLI_SIZE, &(e).batch_tokens             \
    }

/* The parameters of the library's calls; the caller adds the progress. */
clf_embed_params cli_embed_params(const cli_embedding *options);

/* *out: the number of floats of an embedding with these options. */
clf_status cli_embedding_width(const cli_session *session, const cli_embedding *options, size_t *out);

/* One window's embeddings [count, width], or scores with width 1, and their texts (NULL if they come from a part file). */
typedef struct cli_embedded {
    const clf_text *texts;
    const float *rows;
    size_t count, width;
    size_t window, first; /* its index, and that of its first text among all */
} cli_embedded;

/* Receives windows in the order of the inputs. */
typedef clf_status (*cli_embedding_sink)(void *user, const cli_embedded *window);

/* The library reports to these while it works at a window: its progress, and the text that made it fail. */
typedef struct cli_window_call {
    clf_progress progress;
    void *progress_user;
    size_t *failed;
} cli_window_call;

/* The work on a window of texts: the call of the library, then what becomes of its results. */
typedef struct cli_window_work {
    clf_status (*run)(void *user, const cli_inputs *inputs, const cli_window_call *call, clf_embed_stats *stats);
    clf_status (*give)(void *user, const cli_inputs *inputs);
    const clf_model *model; /* model, unit and max_tokens: for the notice of truncated texts */
    const char *unit;
    size_t max_tokens; /* 0: the model's */
} cli_window_work;

/* Runs all inputs, window by window. Adds totals to *stats; one line on standard error counts truncated texts. */
clf_status cli_run_windows(cli_session *session, cli_inputs *inputs, const cli_window_work *work, void *user, clf_embed_stats *stats);

/* Embeds all inputs, window by window. Adds totals to *stats; one line on standard error counts truncated texts. */
clf_status cli_embed_all(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats);

void cli_add_stats(clf_embed_stats *sum, const clf_embed_stats *more);
void cli_say_truncated(const clf_model *model, const char *unit, size_t truncated, size_t max_tokens); /* max_tokens 0: the model's */

/* All embeddings and texts of the inputs in host memory: row i is rows[i * width ..], text i is bytes[ends[i-1] .. ends[i]). */
typedef struct cli_collection {
    float *rows;
    size_t count, capacity, width;
    clf_str bytes;
    size_t *ends;
    size_t end_capacity;
} cli_collection;

clf_status cli_place_rows(void *rows, const cli_embedded *window);        /* a sink: into float [all texts, width] */
clf_status cli_collect(void *collection, const cli_embedded *window);     /* a sink */
clf_text cli_collection_text(const cli_collection *collection, size_t i); /* "" where it holds no texts */
void cli_collection_free(cli_collection *collection);

/* Work of a command `MODEL_DIR [TEXT ...]` on its opened texts. */
typedef clf_status (*cli_texts_work)(void *user, cli_session *session, const char *directory, cli_inputs *inputs, clf_embed_stats *stats);

/* Runs such a command as a whole: parses the options of the table, which put the value of --file into *file, opens the texts, calls `work`
 * and closes everything. Returns the exit status. */
int cli_run_on_texts(const cli_command *command, const cli_option *table, size_t options, int argc, char **argv, const char *const *file,
                     cli_session *session, cli_texts_work work, void *user);

/* The end of such a command: reports `st` if it is a failure, closes inputs (may be NULL) and session, returns the exit status. */
int cli_embedding_end(cli_session *session, cli_inputs *inputs, const clf_embed_stats *stats, clf_status st);

#endif
