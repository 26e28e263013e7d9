/* SPDX-License-Identifier: MIT */
/* Reads and writes measured choices as JSON, the entry of one device. Every value that is read is checked.
 *
 *     "gemm": [{"kind": "linear", "precision": "highest", "batch": 1, "m": 128, "n": 384, "k": 384,
 *               "engine": "packed", "tile": {"rows": 6}}, ...],
 *     "clblast": {"Xgemm": {"MWG": 64, ...}}
 * engine "default" is the choice of the table; "first_use": true marks a rule that was measured when a model was first loaded. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "op/tuned.h"

enum { MAX_RULES = 4096 };
static const char where[] = "tuned choices";

static clf_status parse_kind(const json_t *json, clf_gemm_kind *out)
{
    const char *name;
    CLF_TRY(clfi_json_get_string(json, where, "kind", &name));
    for (int i = 0; i < CLF_GEMM_KIND_COUNT; i++) {
        if (strcmp(name, clfi_gemm_kind_names[i]) == 0) {
            *out = (clf_gemm_kind)i;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_FORMAT, "%s: kind \"%s\": expected linear, product or interleaved", where, name);
}

/* Absent: highest. */
static clf_status parse_precision(const json_t *json, clf_precision *out)
{
    const char *name;
    CLF_TRY(clfi_json_opt_string(json, where, "precision", clf_precision_name(CLF_PRECISION_HIGHEST), &name));
    for (int i = CLF_PRECISION_HIGHEST; i <= CLF_PRECISION_MEDIUM; i++) {
        if (strcmp(name, clf_precision_name((clf_precision)i)) == 0) {
            *out = (clf_precision)i;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_FORMAT, "%s: precision \"%s\": expected highest, high or medium", where, name);
}

/* *is_known false: the engine has no such parameter or value, or the tile does not fit. */
static clf_status parse_tile(const clf_context *context, const json_t *json, clf_gemm_rule *rule, bool *is_known)
{
    const json_t *tile, *value;
    const char *key;
    CLF_TRY(clfi_json_opt_object(json, where, "tile", &tile));
    if (tile && !rule->engine)
        CLF_FAIL(CLF_FORMAT, "%s: a tile for the default engine", where);
    json_object_foreach((json_t *)tile, key, value)
    {
        int64_t number;
        CLF_TRY(clfi_json_get_int(tile, where, key, 1, INT_MAX, &number));
        *is_known = *is_known && clfi_engine_tile_set(rule->engine, key, number, &rule->tile) == CLF_OK;
    }
    *is_known = *is_known && (!context || !rule->engine || clfi_engine_tile_fits(context, rule->engine, &rule->tile));
    return CLF_OK;
}

static clf_status parse_rule(const clf_context *context, const json_t *json, clf_gemm_rule *out, bool *is_known)
{
    clf_gemm_rule rule = {0};
    const char *engine;
    *is_known = true;
    CLF_TRY(parse_kind(json, &rule.kind));
    CLF_TRY(parse_precision(json, &rule.precision));
    CLF_TRY(clfi_json_get_int(json, where, "batch", 1, INT_MAX, &rule.batch));
    CLF_TRY(clfi_json_get_int(json, where, "m", 1, INT_MAX, &rule.m));
    CLF_TRY(clfi_json_get_int(json, where, "n", 1, INT_MAX, &rule.n));
    CLF_TRY(clfi_json_get_int(json, where, "k", 1, INT_MAX, &rule.k));
    CLF_TRY(clfi_json_get_string(json, where, "engine", &engine));
    CLF_TRY(clfi_json_opt_bool(json, where, "first_use", false, &rule.is_first_use));
    if (strcmp(engine, "default") != 0) {
        rule.engine = clfi_engine_find(CLF_OP_GEMM, engine);
        *is_known = rule.engine != NULL;
    }
    if (*is_known)
        CLF_TRY(parse_tile(context, json, &rule, is_known));
    *out = rule;
    return CLF_OK;
}

static clf_status pass_over(clf_tuning *tuning, json_t *rule)
{
    if (!tuning->passed_over)
        tuning->passed_over = json_array();
    if (json_array_append(tuning->passed_over, rule) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: rules that are passed over: not enough memory", where);
    return CLF_OK;
}

static clf_status parse_rules(const clf_context *context, const json_t *entry, clf_tuning *tuning)
{
    const json_t *rules;
    CLF_TRY(clfi_json_get_array(entry, where, "gemm", &rules));
    const size_t count = json_array_size(rules);
    if (count > MAX_RULES)
        CLF_FAIL(CLF_FORMAT, "%s: %zu rules, at most %d", where, count, MAX_RULES);
    CLF_TRY(clfi_alloc(count, sizeof *tuning->rules, where, &tuning->rules));
    for (size_t i = 0; i < count; i++) {
        bool is_known;
        json_t *rule = json_array_get(rules, i);
        CLF_TRY(parse_rule(context, rule, &tuning->rules[tuning->count], &is_known));
        if (!is_known)
            CLF_TRY(pass_over(tuning, rule));
        tuning->count += is_known;
    }
    if (context && tuning->count < count)
        clfi_log(context, CLF_LOG_INFO, "%zu of %zu tuned choices are ignored: unknown engine or tile, or one that does not fit",
                 count - tuning->count, count);
    return CLF_OK;
}

static clf_status parse_clblast(const clf_context *context, const json_t *entry, clf_clblast_parameters *out)
{
    const json_t *kernels, *kernel, *value;
    const char *name;
    CLF_TRY(clfi_json_opt_object(entry, where, "clblast", &kernels));
    json_object_foreach((json_t *)kernels, name, value)
    {
        int at = 0;
        while (at < CLFI_CLBLAST_KERNELS && strcmp(clfi_clblast_kernels[at].name, name) != 0)
            at++;
        if (at == CLFI_CLBLAST_KERNELS)
            CLF_FAIL(CLF_FORMAT, "%s: CLBlast kernel \"%s\" is unknown", where, name);
        CLF_TRY(clfi_json_get_object(kernels, where, name, &kernel));
        if (json_object_size(kernel) != clfi_clblast_kernels[at].count)
            CLF_FAIL(CLF_FORMAT, "%s: CLBlast's %s: expected %zu parameters, found %zu", where, name, clfi_clblast_kernels[at].count,
                     json_object_size(kernel));
        for (size_t i = 0; i < clfi_clblast_kernels[at].count; i++) {
            int64_t number;
            CLF_TRY(clfi_json_get_int(kernel, where, clfi_clblast_kernels[at].parameters[i], 0, INT_MAX, &number));
            out->value[at][i] = (size_t)number;
        }
        out->is_set[at] = true;
    }
    if (context && clfi_clblast_check(context, out) != CLF_OK)
        return clfi_fail_prefix(CLF_FORMAT, "%s", where);
    return CLF_OK;
}

clf_status clfi_tuning_parse(const clf_context *context, const json_t *entry, clf_tuning *out)
{
    clf_tuning tuning = {0};
    clf_status st = parse_rules(context, entry, &tuning);
    if (st == CLF_OK)
        st = parse_clblast(context, entry, &tuning.clblast);
    if (st != CLF_OK) {
        clfi_tuning_clear(&tuning);
        return st;
    }
    *out = tuning;
    return CLF_OK;
}

static json_t *rule_json(const clf_gemm_rule *rule)
{
    const clf_engine *engine = rule->engine;
    json_t *tile = json_object();
    for (size_t i = 0; engine && engine->tiling && i < engine->tiling->count; i++)
        if (rule->tile.value[i] && json_object_set_new(tile, engine->tiling->parameters[i].name, json_integer(rule->tile.value[i])) != 0) {
            json_decref(tile);
            return NULL;
        }
    json_t *json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "kind", clfi_gemm_kind_names[rule->kind], "precision",
                             clf_precision_name(rule->precision), "batch", (json_int_t)rule->batch, "m", (json_int_t)rule->m, "n",
                             (json_int_t)rule->n, "k", (json_int_t)rule->k, "engine", engine ? engine->name : "default");
    if (json && ((json_object_size(tile) > 0 && json_object_set(json, "tile", tile) != 0) ||
                 (rule->is_first_use && json_object_set_new(json, "first_use", json_true()) != 0))) {
        json_decref(json);
        json = NULL;
    }
    json_decref(tile);
    return json;
}

static json_t *clblast_json(const clf_clblast_parameters *parameters)
{
    json_t *kernels = json_object();
    bool is_whole = kernels != NULL;
    for (int at = 0; at < CLFI_CLBLAST_KERNELS; at++) {
        if (!parameters->is_set[at])
            continue;
        json_t *kernel = json_object();
        for (size_t i = 0; i < clfi_clblast_kernels[at].count; i++)
            is_whole = is_whole && json_object_set_new(kernel, clfi_clblast_kernels[at].parameters[i],
                                                       json_integer((json_int_t)parameters->value[at][i])) == 0;
        is_whole = json_object_set_new(kernels, clfi_clblast_kernels[at].name, kernel) == 0 && is_whole;
    }
    if (is_whole)
        return kernels;
    json_decref(kernels);
    return NULL;
}

bool clfi_rule_is_for(const clf_gemm_rule *a, const clf_gemm_rule *b)
{
    return a->kind == b->kind && a->precision == b->precision && a->batch == b->batch && a->m == b->m && a->n == b->n && a->k == b->k;
}

static bool has_rule_for(const clf_tuning *tuning, const clf_gemm_rule *rule)
{
    for (size_t i = 0; i < tuning->count; i++)
        if (clfi_rule_is_for(&tuning->rules[i], rule))
            return true;
    return false;
}

/* Appends passed-over rules up to the largest size of a file. False: not enough memory. */
static bool append_passed_over(const clf_tuning *tuning, json_t *rules)
{
    size_t i;
    json_t *json;
    json_array_foreach(tuning->passed_over, i, json)
    {
        clf_gemm_rule rule;
        bool is_known;
        const bool stays = parse_rule(NULL, json, &rule, &is_known) == CLF_OK && !has_rule_for(tuning, &rule);
        if (stays && json_array_size(rules) < MAX_RULES && json_array_append(rules, json) != 0)
            return false;
    }
    return true;
}

clf_status clfi_tuning_entry(const clf_device_info *device, const clf_tuning *tuning, json_t **out)
{
    json_t *rules = json_array();
    bool is_whole = rules != NULL;
    for (size_t i = 0; i < tuning->count; i++)
        is_whole = is_whole && json_array_append_new(rules, rule_json(&tuning->rules[i])) == 0;
    is_whole = is_whole && append_passed_over(tuning, rules);
    json_t *entry = NULL;
    if (is_whole) /* "o" takes its reference over, whether or not the rest can be packed */
        entry = json_pack("{s:s, s:s, s:s, s:I, s:s, s:O, s:o}", "name", device->name, "platform", device->platform_name, "driver",
                          device->driver_version, "compute_units", (json_int_t)device->compute_units, "library", clf_version(), "gemm",
                          rules, "clblast", clblast_json(&tuning->clblast));
    json_decref(rules);
    if (!entry)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "tuned choices of %s as JSON: not enough memory", device->name);
    *out = entry;
    return CLF_OK;
}

clf_status clfi_tuning_keep_others(clf_tuning *tuning, const clf_tuning *old, size_t *out_dropped)
{
    clf_gemm_rule *rules;
    const bool same_clblast = clfi_clblast_is_same(&tuning->clblast, &old->clblast);
    *out_dropped = 0;
    CLF_TRY(clfi_alloc(tuning->count + old->count, sizeof *rules, where, &rules));
    if (tuning->count)
        memcpy(rules, tuning->rules, tuning->count * sizeof *rules);
    free(tuning->rules);
    tuning->rules = rules;
    for (size_t i = 0; i < old->count && tuning->count < MAX_RULES; i++) {
        const clf_gemm_rule *rule = &old->rules[i];
        if (has_rule_for(tuning, rule))
            continue;
        if (!same_clblast && rule->engine && strcmp(rule->engine->name, "clblast") == 0)
            ++*out_dropped;
        else
            tuning->rules[tuning->count++] = *rule;
    }
    size_t i;
    json_t *rule;
    json_array_foreach(old->passed_over, i, rule) CLF_TRY(pass_over(tuning, rule));
    return CLF_OK;
}
