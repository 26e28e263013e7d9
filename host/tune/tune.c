/* SPDX-License-Identifier: MIT */
/* Tunes a device for clformer tune. Measures all engines with their standard tiles and the earlier choices, then other tiles and CLBlast's
 * parameters while time is left. Then it chooses, and measures the choices together. */
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "op/tuned_file.h"
#include "tune/tune_choose.h"

enum { MAX_WALKS = 16, CHECKS = 2 };
static const double PRODUCT_NS = 1.2e8; /* time for a product; less if the minutes do not suffice for standard tiles and earlier choices */

/* The parameters of CLBlast that a rule was chosen with. NULL: the rule names another engine, or CLBlast's own parameters. */
static const clf_clblast_parameters *kept_parameters(const clf_tuning *kept, const clf_gemm_rule *rule)
{
    const bool has_set = strcmp(rule->engine->name, "clblast") == 0 && clfi_clblast_is_any(&kept->clblast);
    return has_set ? &kept->clblast : NULL;
}

static bool is_same_choice(const clf_gemm_rule *a, const clf_gemm_rule *b)
{
    return a->engine == b->engine && memcmp(&a->tile, &b->tile, sizeof a->tile) == 0;
}

static bool is_wanted(const clfi_tune_products *products, clf_precision precision, const clf_gemm_rule *rule)
{
    for (size_t i = 0; i < products->count; i++) {
        const clfi_tune_product *p = &products->items[i];
        const clf_gemm_rule wanted = {.kind = p->kind, .precision = precision, .batch = p->batch, .m = p->m, .n = p->n, .k = p->k};
        if (clfi_rule_is_for(rule, &wanted))
            return true;
    }
    return false;
}

static bool is_candidate(const clf_tuning *tuning, const clf_gemm_rule *rule)
{
    static const clf_tile own = {{0}};
    return rule->engine && (memcmp(&rule->tile, &own, sizeof own) != 0 || kept_parameters(tuning, rule));
}

/* Reads the choices that a file has for these products, device, driver and precision. *out has each engine and tile once; only these count
 * in its rules. Engines with standard tiles are left out, because they are measured anyway. */
static clf_status read_kept(const char *file, const clf_device_info *device, const clfi_tune_products *products, clf_precision precision,
                            clf_tuning *out)
{
    clf_tuning tuning;
    size_t count = 0;
    CLF_TRY(clfi_tuning_read(file, device, &tuning));
    for (size_t i = 0; i < tuning.count; i++) {
        const clf_gemm_rule *rule = &tuning.rules[i];
        bool is_new = is_wanted(products, precision, rule) && is_candidate(&tuning, rule);
        for (size_t c = 0; c < count; c++)
            is_new = is_new && !is_same_choice(&tuning.rules[c], rule);
        if (is_new)
            tuning.rules[count++] = *rule;
    }
    tuning.count = count;
    *out = tuning;
    return CLF_OK;
}

typedef struct tuner {
    const clfi_tune_params *params;
    const clfi_tune_products *products;
    clfi_tune_device device;
    clf_tuning kept;       /* earlier choices, each once */
    const char *reference; /* engines that candidates alternate with; never CLBlast: a candidate's parameters hold for the process */
    char *folder, *file;   /* temporary: choices that candidates run with */
    uint64_t start_ns;
    double product_ns; /* time to measure one candidate on one product */
    clfi_tune_results results;
} tuner;

static bool is_over(const tuner *t)
{
    return (double)(clfi_now_ns() - t->start_ns) > t->params->minutes * 60e9;
}

static bool is_stopped(const tuner *t)
{
    return t->params->stop && *t->params->stop;
}

static clf_status write_choices(const tuner *t, const clf_tuning *tuning)
{
    json_t *entry;
    CLF_TRY(clfi_tuning_entry(&t->device.info, tuning, &entry));
    const clf_status st = clfi_tuned_file_store(t->file, &t->device.info, entry);
    json_decref(entry);
    return st;
}

/* Measures with these choices in use (NULL: none) and keeps the result. */
static clf_status measure(tuner *t, clfi_tune_candidate *candidate, const clf_tuning *tuning)
{
    if (is_stopped(t))
        CLF_FAIL(CLF_DEVICE, "interrupted");
    if (tuning)
        CLF_TRY(write_choices(t, tuning));
    const clfi_tune_conditions conditions = {.selector = t->params->device,
                                             .tuned_file = tuning ? t->file : "",
                                             .precision = t->params->precision,
                                             .reference_engines = t->reference,
                                             .products = t->products,
                                             .product_ns = t->product_ns,
                                             .patience = {t->params->candidate_seconds, t->params->stop}};
    clfi_tune_measure(&conditions, candidate);
    if (is_stopped(t))
        CLF_FAIL(CLF_DEVICE, "interrupted");
    CLF_TRY(clfi_tune_results_add(&t->results, candidate));
    if (t->params->say)
        t->params->say(t->params->user, candidate, t->products);
    return CLF_OK;
}

static clf_status measure_engine(tuner *t, const clf_engine *engine, const clf_tile *tile, const clf_clblast_parameters *clblast)
{
    clfi_tune_candidate candidate = {.engine = engine, .tile = *tile};
    clf_tuning tuning = {0};
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_str_append_text(&text, "gemm=");
    if (st == CLF_OK)
        st = clfi_engine_choice_text(engine, tile, &text);
    if (st == CLF_OK)
        snprintf(candidate.engines, sizeof candidate.engines, "%s", clfi_str_text(&text));
    clfi_str_free(&text);
    CLF_TRY(st);
    if (clblast)
        candidate.clblast = tuning.clblast = *clblast;
    return measure(t, &candidate, clblast ? &tuning : NULL);
}

/* Measures the untuned choice, which the others are compared with, then each engine with its standard tile. */
static clf_status measure_engines(tuner *t)
{
    static const clf_tile own = {{0}};
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    clfi_tune_candidate untuned = {.engine = NULL};
    CLF_TRY(measure(t, &untuned, NULL));
    if (t->results.items[0].status != CLF_OK)
        CLF_FAIL(CLF_DEVICE, "the untuned choice cannot be measured (slow devices need a larger --limit): %s", t->results.items[0].reason);
    for (size_t e = 0; e < table->count; e++)
        CLF_TRY(measure_engine(t, &table->engines[e], &own, NULL));
    return CLF_OK;
}

/* Measures the earlier choices again, so that a short search loses no gain of a longer one. */
static clf_status measure_kept(tuner *t)
{
    for (size_t i = 0; i < t->kept.count; i++) {
        const clf_gemm_rule *rule = &t->kept.rules[i];
        CLF_TRY(measure_engine(t, rule->engine, &rule->tile, kept_parameters(&t->kept, rule)));
    }
    return CLF_OK;
}

/* Makes one step of an engine's search. *ended: the search is over and no step was made. */
static clf_status step_walk(tuner *t, clfi_tune_walk *walk, bool *ended)
{
    clf_tile tile;
    *ended = !clfi_tune_is_promising(&t->results, walk->engine, t->products->count) || !clfi_tune_walk_next(walk, &tile);
    if (*ended)
        return CLF_OK;
    CLF_TRY(measure_engine(t, walk->engine, &tile, NULL));
    clfi_tune_walk_learn(walk, &t->results, t->results.count - 1, t->products->count);
    return CLF_OK;
}

static clf_status step_clblast(tuner *t, size_t *index, bool *ended)
{
    static const clf_tile none = {{0}};
    const clf_engine *engine = clfi_engine_find(CLF_OP_GEMM, "clblast");
    clf_clblast_parameters set;
    *ended = !engine || !clfi_tune_is_promising(&t->results, engine, t->products->count) || !clfi_tune_clblast_set((*index)++, &set);
    return *ended ? CLF_OK : measure_engine(t, engine, &none, &set);
}

/* All searches take turns, so that little time is shared fairly. */
static clf_status search(tuner *t)
{
    const clf_engine_table *table = &clfi_engine_tables[CLF_OP_GEMM];
    clfi_tune_walk walks[MAX_WALKS] = {0};
    bool ended[MAX_WALKS + 1] = {false};
    size_t count = 0, set = 0;
    for (size_t e = 0; e < table->count && count < MAX_WALKS && e < COUNT(t->device.standard); e++)
        walks[count++] = (clfi_tune_walk){.engine = &table->engines[e], .standard = &t->device.standard[e], .best_score = NAN};
    for (size_t c = 1; c < t->results.count; c++)
        for (size_t w = 0; w < count; w++)
            if (walks[w].engine == t->results.items[c].engine)
                clfi_tune_walk_learn(&walks[w], &t->results, c, t->products->count);
    for (bool any = true; any;) {
        any = false;
        for (size_t w = 0; w <= count && !is_over(t); w++) {
            if (!ended[w])
                CLF_TRY(w < count ? step_walk(t, &walks[w], &ended[w]) : step_clblast(t, &set, &ended[w]));
            any = any || !ended[w];
        }
        if (is_over(t))
            return CLF_OK;
    }
    return CLF_OK;
}

/* Measures all choices together, as contexts will use them, and takes back those that are not faster than the untuned choice: the
 * smallest of many measurements is often luck. */
static clf_status check_choices(tuner *t, clf_tuning *tuning)
{
    for (int i = 0; i < CHECKS; i++) {
        clfi_tune_candidate chosen = {.engine = NULL};
        bool is_any = false;
        for (size_t p = 0; p < tuning->count; p++)
            is_any = is_any || tuning->rules[p].engine;
        if (!is_any)
            return CLF_OK;
        CLF_TRY(measure(t, &chosen, tuning));
        clfi_tune_confirm(&t->results, t->results.count - 1, t->products, tuning);
    }
    return CLF_OK;
}

static clf_status tune(tuner *t, clfi_tune_report *report)
{
    const clfi_patience patience = {t->params->candidate_seconds, t->params->stop};
    CLF_TRY(clfi_tune_describe(t->params->device, &patience, &t->device));
    t->reference = t->device.is_cpu ? "" : "gemm=tiled";
    t->results.is_reference_table = t->device.is_cpu;
    if (t->params->kept_file)
        CLF_TRY(read_kept(t->params->kept_file, &t->device.info, t->products, t->params->precision, &t->kept));
    const size_t first = 1 + clfi_engine_tables[CLF_OP_GEMM].count + t->kept.count;
    const double share = t->params->minutes * 60e9 / (double)(t->products->count * first);
    t->product_ns = share < PRODUCT_NS ? share : PRODUCT_NS;
    CLF_TRY(measure_engines(t));
    CLF_TRY(measure_kept(t));
    CLF_TRY(search(t));
    CLF_TRY(clfi_tune_choose(&t->results, t->products, &report->tuning));
    for (size_t p = 0; p < report->tuning.count; p++)
        report->tuning.rules[p].precision = t->params->precision;
    CLF_TRY(check_choices(t, &report->tuning));
    const clfi_tune_candidate *last = &t->results.items[t->results.count - 1];
    for (size_t p = 0; p < t->products->count; p++) {
        report->before[p] = t->results.items[0].timing[p];
        report->after[p] = report->tuning.rules[p].engine ? last->timing[p] : report->before[p];
        report->after[p].ratio = report->tuning.rules[p].engine ? clfi_tune_ratio(&t->results, t->results.count - 1, p) : 1;
    }
    for (size_t p = 0; p < t->products->count; p++)
        report->noise = fmax(report->noise, clfi_tune_noise(&t->results, p));
    for (size_t c = 0; c < t->results.count; c++) {
        const clf_status st = t->results.items[c].status;
        report->compared += st == CLF_OK;
        report->lost += st != CLF_OK && st != CLF_UNSUPPORTED;
    }
    return CLF_OK;
}

clf_status clfi_tune(const clfi_tune_params *params, const clfi_tune_products *products, clfi_tune_report *out)
{
    tuner t = {.params = params, .products = products, .start_ns = clfi_now_ns()};
    clfi_tune_report report = {.compared = 0};
    CLF_TRY(clfi_temporary_directory("clformer-tune", &t.folder));
    clf_status st = clfi_path_join(t.folder, "tuned.json", &t.file);
    if (st == CLF_OK) {
        st = tune(&t, &report);
        unlink(t.file);
    }
    rmdir(t.folder);
    free(t.folder);
    free(t.file);
    clfi_tune_results_free(&t.results);
    clfi_tuning_clear(&t.kept);
    report.device = t.device.info;
    t.device.info = (clf_device_info){.name = NULL};
    clfi_tune_device_free(&t.device);
    if (st != CLF_OK) {
        clfi_tune_report_free(&report);
        return st;
    }
    *out = report;
    return CLF_OK;
}

void clfi_tune_report_free(clfi_tune_report *report)
{
    clfi_tune_device device = {.info = report->device};
    clfi_tune_device_free(&device);
    clfi_tuning_clear(&report->tuning);
    *report = (clfi_tune_report){.compared = 0};
}
