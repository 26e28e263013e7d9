/* SPDX-License-Identifier: MIT */
/* Decides about tables that a file may leave out: token embedding tables that a model shares, and positions that can be computed. */
#ifndef CLFI_MODEL_TIED_TABLES_H
#define CLFI_MODEL_TIED_TABLES_H

#include "io/checkpoint.h"
#include "model/name_map.h"
#include "nn/network.h"

/* Decides as transformers 5 does whether a generator that the configuration ties (tie_word_embeddings) is tied. It is tied where the loaded
 * checkpoint stores no matrix for it, or one with the bits of the table. A stored matrix that differs is the generator's. */
void clfi_tie_generator(clf_checkpoint *checkpoint, const clf_name_map *names, clf_network_config *config);

/* Decides whether Marian's sinusoidal positions are computed. If the loaded checkpoint stores a table of them, transformers uses it,
 * whatever it holds; so does this. */
void clfi_take_positions(clf_checkpoint *checkpoint, const clf_name_map *names, clf_network_config *config);

/* Whether a tensor has the same bits as a token embedding table or a generator's matrix that was loaded (is_taken). */
bool clfi_is_copy_of_table(const clf_checkpoint *checkpoint, const clf_name_map *names, const char *prefix, const char *name,
                           bool (*is_taken)(const void *user, const char *name), const void *user);

#endif
