/* SPDX-License-Identifier: MIT */
/* Chooses the tuner's next candidates from the results so far. */
#ifndef CLFI_TUNE_TUNE_SEARCH_H
#define CLFI_TUNE_TUNE_SEARCH_H

#include "tune/tune_child.h"

/* Candidates in the order they were measured; the first is the table's own choice. */
typedef struct clfi_tune_results {
    clfi_tune_candidate *items;
    size_t count, capacity;
    bool is_reference_table; /* the reference that candidates alternate with is the table's choice itself */
} clfi_tune_results;

clf_status clfi_tune_results_add(clfi_tune_results *results, const clfi_tune_candidate *candidate); /* OUT_OF_MEMORY */
void clfi_tune_results_free(clfi_tune_results *results);

/* Whether a candidate is what the table chooses for a product anyway. */
bool clfi_tune_is_table(const clfi_tune_results *results, size_t candidate, size_t product);

/* A candidate's time on a product divided by that of the table's choice; NaN if one of them does not apply or was lost. */
double clfi_tune_ratio(const clfi_tune_results *results, size_t candidate, size_t product);

/* The largest factor, at least 1, by which repeated measurements of the table's choice on a product differ. A gain must be larger. */
double clfi_tune_noise(const clfi_tune_results *results, size_t product);

/* Searches one engine's tiles by coordinate descent: a line search along each parameter from the best tile so far, down and then up, until
 * the engine gets clearly slower. If the first pass over all parameters has found a better tile, a second one follows. */
typedef struct clfi_tune_walk {
    const clf_engine *engine;
    const clf_tile *standard;
    clf_tile best;
    double best_score; /* NaN: nothing was measured */
    size_t parameter;
    int origin, at, direction; /* indices of the parameter's values; origin -1: the engine chooses by the case, so all are tried */
    bool is_begun, is_worse;   /* this parameter is begun; the last step was clearly slower */
    bool has_improved;         /* this pass has found a better tile */
    int pass;
} clfi_tune_walk;

/* The next tile; false: this engine's search has ended. */
bool clfi_tune_walk_next(clfi_tune_walk *walk, clf_tile *out);

/* Takes the newest result of the walk's engine into account. */
void clfi_tune_walk_learn(clfi_tune_walk *walk, const clfi_tune_results *results, size_t candidate, size_t products);

/* Whether an engine comes near the best one on some product. An engine that is three times slower on all is not searched further. */
bool clfi_tune_is_promising(const clfi_tune_results *results, const clf_engine *engine, size_t products);

/* The index-th set of CLBlast's parameters to try; false past the last. */
bool clfi_tune_clblast_set(size_t index, clf_clblast_parameters *out);

#endif
