/* SPDX-License-Identifier: MIT */
/* Keeps the corpus of a search in memory: its embeddings, its texts, and where each text comes from. */
#ifndef CLFI_JOBS_CORPUS_H
#define CLFI_JOBS_CORPUS_H

#include "jobs/embedding.h"

typedef struct cli_corpus {
    cli_collection rows; /* embeddings [rows.count, width] and texts, each only where they are known to this process */
    size_t texts;        /* number of texts, in the order of the files */
    cli_place *places;   /* of each text */
    size_t place_capacity;
    clf_str fields;     /* of each text that is a member of a JSON object: the object's other members as strict JSON */
    size_t *field_ends; /* text i has fields[field_ends[i-1] .. field_ends[i]) */
    size_t field_capacity;
} cli_corpus;

/* Adds a text that the inputs have read, with its place and fields. OUT_OF_MEMORY. */
clf_status cli_corpus_add(cli_corpus *corpus, const cli_met_text *met);

/* cli_corpus_add as a callback for `meets` of cli_inputs: takes every text. */
clf_status cli_corpus_meet(void *corpus, const cli_met_text *met, bool *out_taken);

/* A cli_embedding_sink that adds embeddings only; their texts have been added before. */
clf_status cli_corpus_collect(void *corpus, const cli_embedded *window);

/* The other members of text i's object as a JSON object; data NULL: it has none. */
clf_text cli_corpus_fields(const cli_corpus *corpus, size_t i);

/* The same as a JSON value, which the caller releases; *out NULL: it has none. OUT_OF_MEMORY. */
clf_status cli_corpus_parse_fields(const cli_corpus *corpus, size_t i, json_t **out);

void cli_corpus_free(cli_corpus *corpus);

#endif
