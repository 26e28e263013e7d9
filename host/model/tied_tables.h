/* SPDX-License-Identifier: MIT */
/* Tables that a file may leave out: those of tokens that a model shares, and positions that can be computed. */
#ifndef CLFI_MODEL_TIED_TABLES_H
#define CLFI_MODEL_TIED_TABLES_H

#include "io/checkpoint.h"
#include "model/name_map.h"
#include "nn/network.h"

/* Decides as transformers 5 does whether a generator that the configuration ties (tie_word_embeddings) is tied. It is tied where the loaded
 * checkpoint stores no matrix for it, or one with the bits of the table. A stored matrix that differs is the generator's. */
void clfi_tie_generator(clf_checkpoint *checkpoint, const clf_name_map *names, clf_network_config *config);

/* Marian's positions are sinusoids that are computed, unless the loaded checkpoint stores a table of them: transformers takes that,
 * whatever it holds. */
void clfi_take_positions(clf_checkpoint *checkpoint, const clf_name_map *names, clf_network_config *config);

/* Whether a tensor has the bits of another one that `is_taken` has for a table of tokens or a generator. */
bool clfi_is_copy_of_table(const clf_checkpoint *checkpoint, const clf_name_map *names, const char *prefix, const char *name,
                           bool (*is_taken)(const void *user, const char *name), const void *user);

#endif
