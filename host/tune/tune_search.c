/* SPDX-License-Identifier: MIT */
/* Searches through tiles and CLBlast's parameters for the tuner. */
#include "tune/tune_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const double PROMISING = 3, COMPETITIVE = 1.3, BETTER = 0.01, WORSE = 0.05;
enum { PASSES = 2 };

clf_status clfi_tune_results_add(clfi_tune_results *results, const clfi_tune_candidate *candidate)
{
    CLF_TRY(clfi_grow(&results->items, &results->capacity, results->count + 1, sizeof *results->items, "tuning results"));
    results->items[results->count++] = *candidate;
    return CLF_OK;
}

void clfi_tune_results_free(clfi_tune_results *results)
{
    free(results->items);
    *results = (clfi_tune_results){NULL, 0, 0, false};
}

bool clfi_tune_is_table(const clfi_tune_results *results, size_t candidate, size_t product)
{
    static const clf_tile own = {{0}};
    const clfi_tune_candidate *c = &results->items[candidate];
    return candidate == 0 || (c->engine && c->status == CLF_OK && !clfi_clblast_is_any(&c->clblast) &&
                              memcmp(&c->tile, &own, sizeof own) == 0 &&
                              strcmp(c->engine->name, results->items[0].timing[product].engine) == 0);
}

/* The time of the table's choice divided by the reference's: the least of its measurements. */
static double table_ratio(const clfi_tune_results *results, size_t product)
{
    double least = NAN;
    if (results->is_reference_table)
        return 1;
    for (size_t c = 0; c < results->count; c++)
        if (clfi_tune_is_table(results, c, product))
            least = fmin(least, results->items[c].timing[product].ratio); /* fmin ignores NaN */
    return least;
}

double clfi_tune_ratio(const clfi_tune_results *results, size_t candidate, size_t product)
{
    const clfi_tune_candidate *c = &results->items[candidate];
    return c->status == CLF_OK ? c->timing[product].ratio / table_ratio(results, product) : NAN;
}

double clfi_tune_noise(const clfi_tune_results *results, size_t product)
{
    double most = 1;
    for (size_t c = 0; c < results->count; c++) {
        const double ratio = clfi_tune_is_table(results, c, product) ? clfi_tune_ratio(results, c, product) : NAN;
        most = fmax(most, fmax(ratio, 1 / ratio));
    }
    return most;
}

/* The least ratio of a product over all candidates, or those of one engine; infinity where there is none. */
static double least_ratio(const clfi_tune_results *results, const clf_engine *engine, size_t product)
{
    double least = INFINITY;
    for (size_t c = 0; c < results->count; c++)
        if (!engine || results->items[c].engine == engine)
            least = fmin(least, clfi_tune_ratio(results, c, product));
    return least;
}

bool clfi_tune_is_promising(const clfi_tune_results *results, const clf_engine *engine, size_t products)
{
    for (size_t p = 0; p < products; p++)
        if (least_ratio(results, engine, p) <= PROMISING * least_ratio(results, NULL, p))
            return true;
    return false;
}

static void begin_parameter(clfi_tune_walk *walk)
{
    const int *values = walk->engine->tiling->parameters[walk->parameter].values;
    const int best = walk->best.value[walk->parameter], now = best ? best : walk->standard->value[walk->parameter];
    walk->origin = -1;
    for (int i = 0; values[i]; i++)
        if (values[i] == now)
            walk->origin = i;
    walk->at = walk->origin;
    walk->direction = walk->origin < 0 ? 1 : -1;
    walk->is_begun = true;
    walk->is_worse = false;
}

/* False: no value of this parameter is left to try. */
static bool next_value(clfi_tune_walk *walk)
{
    const int *values = walk->engine->tiling->parameters[walk->parameter].values;
    for (;;) {
        const bool is_stuck = walk->is_worse && walk->origin >= 0;
        const int next = walk->at + walk->direction;
        walk->is_worse = false;
        if (!is_stuck && next >= 0 && values[next]) {
            walk->at = next;
            return true;
        }
        if (walk->direction > 0)
            return false;
        walk->direction = 1;
        walk->at = walk->origin;
    }
}

bool clfi_tune_walk_next(clfi_tune_walk *walk, clf_tile *out)
{
    const clf_tiling *tiling = walk->engine->tiling;
    while (tiling && walk->pass < PASSES) {
        if (walk->parameter == tiling->count) {
            walk->parameter = 0;
            walk->pass = walk->has_improved ? walk->pass + 1 : PASSES;
            walk->has_improved = false;
            continue;
        }
        if (!walk->is_begun)
            begin_parameter(walk);
        if (!next_value(walk)) {
            walk->is_begun = false;
            walk->parameter++;
            continue;
        }
        *out = walk->best;
        out->value[walk->parameter] = tiling->parameters[walk->parameter].values[walk->at];
        return true;
    }
    return false;
}

/* Mean logarithm of the ratio over the products on which this engine is close to the best. On the others it will not be chosen anyway. */
static double score(const clfi_tune_results *results, size_t candidate, size_t products)
{
    double sum = 0;
    size_t count = 0;
    for (size_t p = 0; p < products; p++) {
        const double ratio = clfi_tune_ratio(results, candidate, p);
        if (isnan(ratio) || least_ratio(results, results->items[candidate].engine, p) > COMPETITIVE * least_ratio(results, NULL, p))
            continue;
        sum += log(ratio);
        count++;
    }
    return count ? sum / (double)count : NAN;
}

void clfi_tune_walk_learn(clfi_tune_walk *walk, const clfi_tune_results *results, size_t candidate, size_t products)
{
    const double found = score(results, candidate, products);
    walk->is_worse = isnan(found) || (!isnan(walk->best_score) && found > walk->best_score + WORSE);
    if (isnan(found) || (!isnan(walk->best_score) && found > walk->best_score - BETTER))
        return;
    walk->has_improved = !isnan(walk->best_score);
    walk->best_score = found;
    walk->best = results->items[candidate].tile;
}

/* Sets for small to large work-groups, so that some fit each device; parameters in CLBlast's order. */
static const unsigned short xgemm_sets[][16] = {
    /* GEMMK KREG KWG KWI MDIMA MDIMC MWG NDIMB NDIMC NWG SA SB STRM STRN VWM VWN */
    {0, 1, 16, 2, 8, 8, 32, 8, 8, 32, 0, 0, 0, 0, 1, 1},   {0, 1, 32, 2, 8, 8, 64, 8, 8, 64, 0, 0, 0, 0, 4, 4},
    {0, 1, 32, 2, 8, 8, 64, 8, 8, 64, 1, 1, 0, 0, 2, 2},   {0, 1, 32, 2, 16, 16, 64, 16, 16, 64, 1, 1, 0, 0, 4, 4},
    {0, 1, 32, 2, 16, 16, 128, 8, 8, 64, 1, 1, 0, 0, 4, 2}, {0, 1, 16, 2, 16, 16, 128, 16, 16, 128, 1, 1, 0, 0, 4, 4},
    {0, 1, 32, 2, 16, 16, 64, 16, 16, 128, 0, 0, 0, 0, 2, 4}, {0, 1, 16, 2, 8, 8, 32, 8, 8, 64, 0, 0, 0, 0, 4, 8},
};
static const unsigned short direct_sets[][10] = {
    /* KWID MDIMAD MDIMCD NDIMBD NDIMCD PADA PADB VWMD VWND WGD */
    {2, 8, 8, 8, 8, 1, 1, 1, 1, 8},     {2, 8, 8, 8, 8, 1, 1, 2, 2, 16}, {2, 8, 8, 8, 8, 1, 1, 4, 4, 32},
    {2, 16, 16, 16, 16, 1, 1, 2, 2, 32}, {8, 8, 8, 8, 8, 0, 0, 4, 4, 32}, {2, 16, 16, 16, 16, 1, 1, 4, 4, 64},
    {2, 16, 8, 8, 16, 1, 1, 2, 2, 32},
};
static const size_t indirect_sizes[] = {64, 256, 1024};

static void set(clf_clblast_parameters *out, int kernel, const unsigned short *values)
{
    out->is_set[kernel] = true;
    for (size_t i = 0; i < clfi_clblast_kernels[kernel].count; i++)
        out->value[kernel][i] = values[i];
}

/* Each set changes the parameters of one kernel. */
bool clfi_tune_clblast_set(size_t index, clf_clblast_parameters *out)
{
    memset(out, 0, sizeof *out);
    if (index < COUNT(xgemm_sets)) {
        set(out, CLFI_CLBLAST_XGEMM, xgemm_sets[index]);
        return true;
    }
    index -= COUNT(xgemm_sets);
    if (index < COUNT(direct_sets)) {
        set(out, CLFI_CLBLAST_XGEMM_DIRECT, direct_sets[index]);
        return true;
    }
    index -= COUNT(direct_sets);
    if (index >= COUNT(indirect_sizes))
        return false;
    out->is_set[CLFI_CLBLAST_ROUTINE] = true;
    out->value[CLFI_CLBLAST_ROUTINE][0] = indirect_sizes[index];
    return true;
}
