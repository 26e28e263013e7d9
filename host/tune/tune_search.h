/* SPDX-License-Identifier: MIT */
/* The tuner's candidates: which to measure next, given what was measured. */
#ifndef CLFI_TUNE_TUNE_SEARCH_H
#define CLFI_TUNE_TUNE_SEARCH_H

#include "tune/tune_child.h"

/* Candidates in the order they were measured; the first is the table's own choice. */
typedef struct clfi_tune_results {
    clfi_tune_candidate *items;
    size_t count, capacity;
    bool is_reference_table; /* what all run beside is the table's choice itself */
} clfi_tune_results;

clf_status clfi_tune_results_add(clfi_tune_results *results, const clfi_tune_candidate *candidate); /* OUT_OF_MEMORY */
void clfi_tune_results_free(clfi_tune_results *results);

/* Whether a candidate is what the table chooses for a product anyway. */
bool clfi_tune_is_table(const clfi_tune_results *results, size_t candidate, size_t product);

/* A candidate's time on a product by that of the table's choice; NaN where one of them does not apply or was lost. */
double clfi_tune_ratio(const clfi_tune_results *results, size_t candidate, size_t product);

/* The largest factor, at least 1, by which measurements of the table's choice on a product differ from what they should agree with: a gain
 * has to be larger than that. */
double clfi_tune_noise(const clfi_tune_results *results, size_t product);

/* Searches one engine's tiles by coordinate descent: a line search from the best so far along each parameter, down and then up, as long as
 * that does not make it clearly slower. Where this found something, it runs a second time. */
typedef struct clfi_tune_walk {
    const clf_engine *engine;
    const clf_tile *standard;
    clf_tile best;
    double best_score; /* NaN: nothing was measured */
    size_t parameter;
    int origin, at, direction; /* places among the parameter's values; origin -1: the engine chooses by the case, so all are tried */
    bool is_begun, is_worse;   /* this parameter; the last step */
    bool has_improved;         /* in this pass */
    int pass;
} clfi_tune_walk;

/* The next tile; false: this engine's search has ended. */
bool clfi_tune_walk_next(clfi_tune_walk *walk, clf_tile *out);

/* Takes the newest result of the walk's engine into account. */
void clfi_tune_walk_learn(clfi_tune_walk *walk, const clfi_tune_results *results, size_t candidate, size_t products);

/* Whether an engine comes near the best anywhere: what is three times slower on every product is not searched further. */
bool clfi_tune_is_promising(const clfi_tune_results *results, const clf_engine *engine, size_t products);

/* The index-th set of CLBlast's parameters to try; false past the last. */
bool clfi_tune_clblast_set(size_t index, clf_clblast_parameters *out);

#endif
