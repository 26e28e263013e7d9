/* SPDX-License-Identifier: MIT */
/* Attention weights of a model for a text or a word, with the names of rows and columns: what pictures and files are made of. */
#ifndef CLFI_CLI_ATTENTION_MAP_H
#define CLFI_CLI_ATTENTION_MAP_H

#include "cli/heatmap.h"
#include "clformer/model.h"
#include "clformer/pronounce.h"

typedef struct cli_attention_map {
    size_t heads, rows, columns;
    float *values;                       /* [heads, rows, columns] */
    char **row_labels, **column_labels;  /* queries and keys */
} cli_attention_map;

/* Of an encoder for the tokens of a text, cut after max_tokens (0: as the model says) with a notice on standard error. */
clf_status cli_attention_of_text(clf_model *model, const char *text, size_t max_tokens, int64_t layer, cli_attention_map *out);

/* Of an encoder-decoder for a word and the best phonemes that a beam of that width finds for it. Rows of CLF_PRONOUNCE_ATTENTION_CROSS are named
 * after what is chosen. */
clf_status cli_attention_of_word(clf_pronouncer *pronouncer, const char *word, int beam, clf_pronounce_attention kind, int64_t layer,
                                 cli_attention_map *out);

void cli_attention_free(cli_attention_map *map); /* a zeroed map is accepted */

/* Heat maps of the heads heads[0..count) (NULL: all) to a .png or .svg file. */
clf_status cli_attention_draw(const cli_attention_map *map, const char *title, const int64_t *heads, size_t count, const char *path);

#endif
