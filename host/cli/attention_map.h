/* SPDX-License-Identifier: MIT */
/* Attention weights of a model for a text or a word, with the names of rows and columns: what pictures and files are made of. */
#ifndef CLFI_CLI_ATTENTION_MAP_H
#define CLFI_CLI_ATTENTION_MAP_H

#include "cli/heatmap.h"
#include "clformer/model.h"
#include "clformer/pronounce.h"

typedef struct cli_attention_map {
    size_t heads, rows, columns;
    float *values;                      /* [heads, rows, columns] */
    char **row_labels, **column_labels; /* queries and keys */
    const char *what;                   /* "attention weights" */
    int64_t layer, layers;              /* which of how many; layers 0: not known */
    char **names;                       /* [heads]; NULL: "head 0" and so on */
} cli_attention_map;

typedef struct cli_attention_picture {
    /* for the title: the model or file of the weights, and their text; a directory is named by its last part; text NULL: none */
    const char *source, *text;
    const char *title; /* instead; "": none; NULL: made from those */
    cli_heatmap_scale scale;
    cli_heatmap_format format;
    const int64_t *heads; /* [count]: those drawn; NULL: all */
    size_t count;
} cli_attention_picture;

/* Weights of an encoder for the tokens of a text, cut after max_tokens (0: as the model says) with a notice on standard error. */
clf_status cli_attention_of_text(clf_session *session, const char *text, size_t max_tokens, int64_t layer, cli_attention_map *out);

/* Weights of an encoder-decoder for a word and the best phonemes that a beam of that width finds for it. Rows of
 * CLF_PRONOUNCE_ATTENTION_CROSS are named after what is chosen. */
clf_status cli_attention_of_word(clf_pronouncer *pronouncer, const char *word, int beam, clf_pronounce_attention kind, int64_t layer,
                                 cli_attention_map *out);

/* Weights of a NumPy file [Q,K], [H,Q,K], [N,Q,K] or [N,H,Q,K]. `heads` and `batch` choose indices of H and N as cli_read_numbers reads
 * them; a file of rank 3 takes one of the two. The matrices are named after it ("head 0", "batch 0"; without either, "matrix 0"). labels:
 * a text file with a line for each query and then one for each key, or for each key alone where they are as many (NULL: their index).
 * FORMAT: another rank, another number of labels; INVALID_ARGUMENT: a batch of a file that has none. */
clf_status cli_attention_of_file(const char *path, const char *batch, const char *heads, const char *labels, cli_attention_map *out);

/* "0-11", "3", "0,2,5-7": numbers below `limit`, in the order given; NULL or "all": all. *out: freed by the caller. INVALID_ARGUMENT names
 * the option. */
clf_status cli_read_numbers(const char *option, const char *text, int64_t limit, int64_t **out, size_t *count);

void cli_attention_free(cli_attention_map *map); /* a zeroed map is accepted */

/* Heat maps, as by cli_heatmap_stage. */
clf_status cli_attention_stage(const cli_attention_map *map, const cli_attention_picture *picture, const char *path, clf_atomic_file *out);

/* The same, committed. */
clf_status cli_attention_draw(const cli_attention_map *map, const cli_attention_picture *picture, const char *path);

#endif
