/* SPDX-License-Identifier: MIT */
/* Attention weights of a model or a NumPy file, with labels for rows and columns, and heat maps of them. For clformer attention and
 * clformer pronounce. */
#ifndef CLFI_CLI_ATTENTION_MAP_H
#define CLFI_CLI_ATTENTION_MAP_H

#include "cli/heatmap.h"
#include "clformer/model.h"
#include "clformer/pronounce.h"

/* Owns all but `what`; release with cli_attention_free. */
typedef struct cli_attention_map {
    size_t heads, rows, columns;
    float *values;                      /* [heads, rows, columns] */
    char **row_labels, **column_labels; /* queries [rows] and keys [columns] */
    const char *what;                   /* for the title, a literal: "attention weights" */
    int64_t layer, layers;              /* index of the layer; number of layers, 0: not known */
    char **names;                       /* [heads], of the matrices; NULL: "head 0" and so on */
} cli_attention_map;

typedef struct cli_attention_picture {
    /* source: path of the model or file, whose last part begins the title; text: the subtitle; NULL: none */
    const char *source, *text;
    const char *title; /* "": none; NULL: made from source, map->what and the layer */
    cli_heatmap_scale scale;
    cli_heatmap_format format;
    const int64_t *heads; /* [count] indices of the matrices to draw; NULL: all */
    size_t count;
} cli_attention_picture;

/* Computes the weights of an encoder's layer for the tokens of a text. A text of more than max_tokens tokens (0: the model's maximum) is
 * truncated, with a notice on standard error. INVALID_ARGUMENT: the text has no tokens, or the model no such layer. UNSUPPORTED: a model
 * without encoder. */
clf_status cli_attention_of_text(clf_session *session, const char *text, size_t max_tokens, int64_t layer, cli_attention_map *out);

/* Computes the weights of an encoder-decoder's layer for a word and its best phonemes, found by a search of `beam` hypotheses. The row
 * labels of CLF_PRONOUNCE_ATTENTION_CROSS are the phonemes that are chosen there. INVALID_ARGUMENT: a word that the model cannot read, a
 * layer outside the stack. */
clf_status cli_attention_of_word(clf_pronouncer *pronouncer, const char *word, int beam, clf_pronounce_attention kind, int64_t layer,
                                 cli_attention_map *out);

/* Reads the weights of a NumPy file [Q,K], [H,Q,K], [N,Q,K] or [N,H,Q,K]. `heads` and `batch` choose indices of H and N as
 * cli_read_numbers reads them. A file of rank 3 takes one of the two options, and its matrices are named after it ("head 0", "batch 0";
 * without either, "matrix 0"). labels: a text file with a line for each query and then one for each key, or a single list if there are as
 * many queries as keys (NULL: indices are the labels). FORMAT: another rank, an empty array, a weight that is not finite, another number of
 * labels. INVALID_ARGUMENT: an option for an axis that the file lacks, or an index outside it. UNSUPPORTED: too many queries or keys. */
clf_status cli_attention_of_file(const char *path, const char *batch, const char *heads, const char *labels, cli_attention_map *out);

/* Reads numbers below `limit`, in the order given: "0-11", "3", "0,2,5-7"; NULL or "all": all. *out: the caller frees it.
 * INVALID_ARGUMENT names the option. */
clf_status cli_read_numbers(const char *option, const char *text, int64_t limit, int64_t **out, size_t *count);

void cli_attention_free(cli_attention_map *map); /* a zeroed map is accepted */

/* Draws heat maps of the chosen matrices for `path`; *out and statuses as cli_heatmap_stage. */
clf_status cli_attention_stage(const cli_attention_map *map, const cli_attention_picture *picture, const char *path, clf_atomic_file *out);

/* Draws the same and commits the file. */
clf_status cli_attention_draw(const cli_attention_map *map, const cli_attention_picture *picture, const char *path);

#endif
