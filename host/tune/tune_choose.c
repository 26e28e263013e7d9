/* SPDX-License-Identifier: MIT */
/* Chooses engines from the tuner's measurements. */
#include "tune/tune_choose.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

static const double CLEARLY = 0.97;   /* a choice with a ratio below this replaces the table's, if its repetitions agree */
static const double CONFIRMED = 0.99; /* such a choice stays if its ratio in the check is below this */

static bool is_same_weight(const clfi_tune_product *a, const clfi_tune_product *b)
{
    return a->kind == CLF_GEMM_LINEAR && b->kind == CLF_GEMM_LINEAR && a->n == b->n && a->k == b->k;
}

static const clf_engine *engine_of(const clfi_tune_candidate *candidate, size_t product)
{
    return clfi_engine_find(CLF_OP_GEMM, candidate->timing[product].engine);
}

/* How a weight is packed: its form, and for panels their width. */
typedef struct packing {
    clf_gemm_form form;
    int vectors; /* 0: the engine's choice for n */
} packing;

static bool packing_of(const clfi_tune_candidate *candidate, size_t product, packing *out)
{
    const clf_engine *engine = engine_of(candidate, product);
    if (!engine)
        return false;
    *out = (packing){engine->gemm->form, 0};
    const char *parameter = clfi_gemm_form_info(out->form)->tile_parameter;
    for (size_t i = 0; parameter && engine->tiling && i < engine->tiling->count; i++)
        if (strcmp(engine->tiling->parameters[i].name, parameter) == 0)
            out->vectors = candidate->tile.value[i];
    return true;
}

/* Whether a candidate may be used together with `clblast`, the chosen set of parameters (NULL: CLBlast's own). */
static bool is_allowed(const clfi_tune_candidate *candidate, const clf_clblast_parameters *clblast)
{
    if (!clfi_clblast_is_any(&candidate->clblast))
        return !clblast || !candidate->engine || strcmp(candidate->engine->name, "clblast") != 0;
    return clblast && clfi_clblast_is_same(clblast, &candidate->clblast);
}

/* The fastest candidate for a product among those of a packing (NULL: any); 0, the table's choice, when there is none. */
static size_t fastest(const clfi_tune_results *results, const clf_clblast_parameters *clblast, size_t product, const packing *wanted)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t c = 1; c < results->count; c++) {
        const clfi_tune_candidate *one = &results->items[c];
        const double ratio = clfi_tune_ratio(results, c, product);
        packing has;
        if (isnan(ratio) || ratio >= least || !one->engine || !is_allowed(one, clblast) || clfi_tune_is_table(results, c, product))
            continue;
        if (wanted && (!packing_of(one, product, &has) || has.form != wanted->form || has.vectors != wanted->vectors))
            continue;
        least = ratio;
        best = c;
    }
    return best;
}

/* Limit of the logarithm of a ratio: only below it the ratio counts as a gain. */
static double gain_limit(const clfi_tune_results *results, size_t product)
{
    return log(CLEARLY) - log(clfi_tune_noise(results, product));
}

/* Sum of the logarithms of ratios if the weight of product `first` is packed as `wanted`, over all products with that weight; infinity if
 * one of them has no such candidate. *out_limit: the sum of their gain limits. */
static double cost_of(const clfi_tune_results *results, const clfi_tune_products *products, const clf_clblast_parameters *clblast,
                      size_t first, const packing *wanted, double *out_limit)
{
    double sum = 0;
    *out_limit = 0;
    for (size_t p = 0; p < products->count; p++) {
        if (!is_same_weight(&products->items[first], &products->items[p]))
            continue;
        const size_t c = fastest(results, clblast, p, wanted);
        sum += c ? log(clfi_tune_ratio(results, c, p)) : INFINITY;
        *out_limit += gain_limit(results, p);
    }
    return sum;
}

static void set_rule(clf_gemm_rule *rule, const clfi_tune_candidate *candidate)
{
    rule->engine = candidate->engine;
    rule->tile = candidate->tile;
}

/* Sets the rules of all products with the weight of product `first`. Another packing than the table's must gain over all of them together;
 * within the table's packing each product decides by itself. */
static void choose_weight(const clfi_tune_results *results, const clfi_tune_products *products, const clf_clblast_parameters *clblast,
                          size_t first, clf_gemm_rule *rules)
{
    packing own = {CLFI_GEMM_ROWS, 0}, best, has;
    double limit;
    packing_of(&results->items[0], first, &own);
    best = own;
    double least = cost_of(results, products, clblast, first, &own, &limit);
    least = fmin(least, 0); /* the table's choice is always there */
    for (size_t c = 1; c < results->count; c++) {
        if (isnan(clfi_tune_ratio(results, c, first)) || !packing_of(&results->items[c], first, &has))
            continue;
        const double cost = cost_of(results, products, clblast, first, &has, &limit);
        if (cost < least + limit) {
            least = cost;
            best = has;
        }
    }
    const bool is_own = best.form == own.form && best.vectors == own.vectors;
    for (size_t p = 0; p < products->count; p++) {
        if (!is_same_weight(&products->items[first], &products->items[p]))
            continue;
        const size_t c = fastest(results, clblast, p, &best);
        if (c && (!is_own || log(clfi_tune_ratio(results, c, p)) < gain_limit(results, p)))
            set_rule(&rules[p], &results->items[c]);
    }
}

static void choose_rules(const clfi_tune_results *results, const clfi_tune_products *products, const clf_clblast_parameters *clblast,
                         clf_gemm_rule *rules)
{
    for (size_t p = 0; p < products->count; p++) {
        const clfi_tune_product *product = &products->items[p];
        rules[p] = (clf_gemm_rule){.kind = product->kind, .batch = product->batch, .m = product->m, .n = product->n, .k = product->k};
    }
    for (size_t p = 0; p < products->count; p++) {
        size_t first = 0;
        if (products->items[p].kind == CLF_GEMM_LINEAR) {
            while (!is_same_weight(&products->items[first], &products->items[p]))
                first++;
            if (first == p)
                choose_weight(results, products, clblast, p, rules);
        } else {
            const size_t c = fastest(results, clblast, p, NULL);
            if (c && log(clfi_tune_ratio(results, c, p)) < gain_limit(results, p))
                set_rule(&rules[p], &results->items[c]);
        }
    }
}

/* Sum of the logarithms of ratios over all products, each with its best engine, if CLBlast runs with that set. */
static double portfolio(const clfi_tune_results *results, size_t products, const clf_clblast_parameters *clblast)
{
    double sum = 0;
    for (size_t p = 0; p < products; p++) {
        const size_t c = fastest(results, clblast, p, NULL);
        sum += c ? fmin(log(clfi_tune_ratio(results, c, p)), 0) : 0;
    }
    return sum;
}

clf_status clfi_tune_choose(const clfi_tune_results *results, const clfi_tune_products *products, clf_tuning *out)
{
    clf_gemm_rule *rules;
    const clf_clblast_parameters *clblast = NULL;
    double least = portfolio(results, products->count, NULL) + (double)products->count * log(CLEARLY) / 4;
    CLF_TRY(clfi_alloc(products->count, sizeof *rules, "rules", &rules));
    for (size_t c = 1; c < results->count; c++) {
        const clfi_tune_candidate *one = &results->items[c];
        if (one->status != CLF_OK || !clfi_clblast_is_any(&one->clblast))
            continue;
        const double sum = portfolio(results, products->count, &one->clblast);
        if (sum < least) {
            least = sum;
            clblast = &one->clblast;
        }
    }
    choose_rules(results, products, clblast, rules);
    *out = (clf_tuning){.rules = rules, .count = products->count};
    if (clblast)
        out->clblast = *clblast;
    return CLF_OK;
}

/* Whether the rules of a product, or of all products with its weight, were faster in the check. */
static bool is_confirmed(const clfi_tune_results *results, size_t check, const clfi_tune_products *products, size_t product)
{
    double sum = 0;
    for (size_t p = 0; p < products->count; p++) {
        if (p != product && !is_same_weight(&products->items[product], &products->items[p]))
            continue;
        sum += log(clfi_tune_ratio(results, check, p)) + log(clfi_tune_noise(results, p) / CONFIRMED); /* NaN is no confirmation */
    }
    return sum < 0;
}

void clfi_tune_confirm(const clfi_tune_results *results, size_t check, const clfi_tune_products *products, clf_tuning *tuning)
{
    bool is_clblast_used = false;
    for (size_t p = 0; p < tuning->count; p++) {
        if (!is_confirmed(results, check, products, p)) {
            tuning->rules[p].engine = NULL;
            memset(&tuning->rules[p].tile, 0, sizeof tuning->rules[p].tile);
        }
        is_clblast_used = is_clblast_used || (tuning->rules[p].engine && strcmp(tuning->rules[p].engine->name, "clblast") == 0);
    }
    if (!is_clblast_used)
        memset(&tuning->clblast, 0, sizeof tuning->clblast);
}
