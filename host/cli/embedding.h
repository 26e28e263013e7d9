/* SPDX-License-Identifier: MIT */
/* Options and loop that the commands over embeddings share. */
#ifndef CLFI_CLI_EMBEDDING_H
#define CLFI_CLI_EMBEDDING_H

#include "cli/inputs.h"
#include "cli/session.h"

typedef struct cli_embedding {
    int pooling;   /* index into cls|max|mean|mean_sqrt_len|model */
    int normalize; /* index into no|yes|model */
    size_t max_tokens, batch_tokens;
} cli_embedding;

#define CLI_EMBEDDING_INIT {.pooling = 4, .normalize = 2}

#define CLI_EMBEDDING_OPTIONS(e)                                                                                      \
    {"pooling", 0, "cls|max|mean|mean_sqrt_len|model", "how tokens become a text's vector (default: as the model says)", \
     CLI_CHOICE, &(e).pooling},                                                                                          \
    {"normalize", 0, "no|yes|model", "divide by the L2 norm (default: as the model says)", CLI_CHOICE, &(e).normalize},  \
    {"max-tokens", 0, "N", "cut longer texts (default: the model's maximum)", CLI_SIZE, &(e).max_tokens},                \
    {"batch-tokens", 0, "N", "tokens in one forward pass (default: suited to the device)", CLI_SIZE, &(e).batch_tokens}

/* Receives `count` embeddings of `width` floats, in the order of the inputs, with their texts. */
typedef clf_status (*cli_embedding_sink)(void *user, const clf_text *texts, size_t count, const float *rows, size_t width);

/* Embeds every input window by window; totals are added to *stats; one notice on standard error tells of truncated texts. */
clf_status cli_embed_all(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats);

/* All embeddings and texts of the inputs in host memory: row i is rows[i * width ..], text i is bytes[ends[i-1] .. ends[i]). */
typedef struct cli_collection {
    float *rows;
    size_t count, capacity, width;
    clf_str bytes;
    size_t *ends;
    size_t end_capacity;
} cli_collection;

clf_status cli_collect(void *collection, const clf_text *texts, size_t count, const float *rows, size_t width); /* a sink */
void cli_collection_free(cli_collection *collection);

/* The end of such a command: reports `st` if it is a failure, closes inputs (may be NULL) and session, returns the exit status. */
int cli_embedding_end(cli_session *session, cli_inputs *inputs, const clf_embed_stats *stats, clf_status st);

#endif
