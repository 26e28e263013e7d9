/* SPDX-License-Identifier: MIT */
/* The measured choices of a context: reads them at the first choice and finds the rule of the nearest measured product. */
#include "op/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "op/tuned_file.h"
#include "runtime/slot.h"

const char *const clfi_gemm_kind_names[CLF_GEMM_KIND_COUNT] = {"linear", "product", "interleaved"};

enum { MOST_RULES = 1024 };   /* up to which first uses add rules to a file */
static const double NEAR = 2; /* binary logarithm of the product of the factors between two products */

clf_gemm_kind clfi_gemm_kind_of(const clf_gemm_args *args)
{
    return args->weight ? CLF_GEMM_LINEAR : clfi_gemm_has_lanes(args) ? CLF_GEMM_INTERLEAVED : CLF_GEMM_PRODUCT;
}

void clfi_tuning_clear(clf_tuning *tuning)
{
    free(tuning->rules);
    json_decref(tuning->passed_over);
    *tuning = (clf_tuning){0};
}

/* A context's measured choices. */
typedef struct tuned {
    bool is_read, is_broken;
    clf_tuning *tuning; /* NULL: nothing was measured here */
} tuned;

static void clear_tuned(void *content)
{
    tuned *t = content;
    if (t->tuning)
        clfi_tuning_clear(t->tuning);
    free(t->tuning);
}

static const clf_slot_type tuned_slot = {"tuned choices", sizeof(tuned), clear_tuned};

clf_status clfi_tuning_read(const char *path, const clf_device_info *device, clf_tuning *out)
{
    json_t *entry = NULL;
    *out = (clf_tuning){0};
    CLF_TRY(clfi_tuned_file_find(path, device, NULL, &entry));
    if (entry && clfi_tuning_parse(NULL, entry, out) != CLF_OK)
        *out = (clf_tuning){0};
    json_decref(entry);
    return CLF_OK;
}

/* *out NULL: nothing was measured here. */
static clf_status read_tuning(const clf_context *context, clf_tuning **out)
{
    json_t *entry = NULL;
    clf_tuning *tuning = NULL;
    bool is_other = false;
    CLF_TRY(clfi_tuned_file_find(context->tuned_file, &context->device.info, &is_other, &entry));
    if (is_other)
        clfi_log(context, CLF_LOG_INFO,
                 "%s: choices for %s ignored: they were tuned with another driver than %s, or not with %u compute units",
                 context->tuned_file, context->device.info.name, context->device.info.driver_version, context->device.info.compute_units);
    if (!entry)
        return CLF_OK;
    clf_status st = clfi_alloc(1, sizeof *tuning, "tuned choices", &tuning);
    if (st == CLF_OK)
        st = clfi_tuning_parse(context, entry, tuning);
    json_decref(entry);
    if (st != CLF_OK) {
        free(tuning);
        return st;
    }
    *out = tuning;
    return CLF_OK;
}

static clf_status read_once(const clf_context *context, const clf_tuning **out)
{
    tuned *kept;
    CLF_TRY(clfi_slot_get(context, &tuned_slot, &kept));
    if (!kept->is_read) {
        kept->is_read = true;
        CLF_TRY(read_tuning(context, &kept->tuning));
        if (kept->tuning)
            clfi_log(context, CLF_LOG_INFO, "%zu tuned choices from %s", kept->tuning->count, context->tuned_file);
        if (kept->tuning && clfi_clblast_is_any(&kept->tuning->clblast))
            CLF_TRY(clfi_clblast_use(context, &kept->tuning->clblast));
    }
    *out = kept->tuning;
    return CLF_OK;
}

/* The context's choices; NULL: none. */
static const clf_tuning *tuning_of(const clf_context *context)
{
    const clf_tuning *tuning = NULL;
    tuned *kept;
    if (context->tuned_file && read_once(context, &tuning) != CLF_OK) {
        clfi_log(context, CLF_LOG_ERROR, "tuned choices are ignored: %s", clf_last_error());
        if (clfi_slot_get(context, &tuned_slot, &kept) == CLF_OK)
            kept->is_broken = true;
    }
    return tuning;
}

bool clfi_context_is_tuned(const clf_context *context)
{
    return tuning_of(context) != NULL;
}

bool clfi_tuning_is_open(const clf_context *context)
{
    tuned *kept;
    const clf_tuning *tuning = tuning_of(context);
    return context->tuned_file && clfi_slot_get(context, &tuned_slot, &kept) == CLF_OK && !kept->is_broken &&
           (!tuning || tuning->count < MOST_RULES);
}

/* Adds a rule; it replaces a rule of a first use for the same product. */
static clf_status put_rule(clf_tuning *tuning, const clf_gemm_rule *rule)
{
    clf_gemm_rule *rules;
    for (size_t i = 0; i < tuning->count; i++) {
        clf_gemm_rule *old = &tuning->rules[i];
        if (old->is_first_use && clfi_rule_is_for(old, rule)) {
            *old = *rule;
            return CLF_OK;
        }
    }
    CLF_TRY(clfi_alloc(tuning->count + 1, sizeof *rules, "tuned choices", &rules));
    if (tuning->count)
        memcpy(rules, tuning->rules, tuning->count * sizeof *rules);
    rules[tuning->count++] = *rule;
    free(tuning->rules);
    tuning->rules = rules;
    return CLF_OK;
}

static clf_status add_to_file(const clf_context *context, const clf_gemm_rule *rule)
{
    clf_tuning *tuning = NULL;
    json_t *entry = NULL;
    clf_status st;
    const int lock = clfi_tuned_file_lock(context->tuned_file);
    CLF_GOTO(read_tuning(context, &tuning));
    if (!tuning)
        CLF_GOTO(clfi_alloc(1, sizeof *tuning, "tuned choices", &tuning));
    CLF_GOTO(put_rule(tuning, rule));
    CLF_GOTO(clfi_tuning_entry(&context->device.info, tuning, &entry));
    st = clfi_tuned_file_store(context->tuned_file, &context->device.info, entry);
done:
    clfi_tuned_file_unlock(lock);
    json_decref(entry);
    if (tuning)
        clfi_tuning_clear(tuning);
    free(tuning);
    return st;
}

clf_status clfi_tuning_add(const clf_context *context, const clf_gemm_rule *rule)
{
    tuned *kept;
    CLF_TRY(clfi_slot_get(context, &tuned_slot, &kept));
    if (!kept->tuning)
        CLF_TRY(clfi_alloc(1, sizeof *kept->tuning, "tuned choices", &kept->tuning));
    CLF_TRY(put_rule(kept->tuning, rule));
    const clf_status st = add_to_file(context, rule);
    if (st != CLF_OK && st != CLF_OUT_OF_MEMORY)
        clfi_log(context, CLF_LOG_INFO, "the choice was not saved and is measured again at the next start: %s", clf_last_error());
    return st == CLF_OUT_OF_MEMORY ? st : CLF_OK;
}

clf_status clfi_tuning_first_use_text(const clf_context *context, bool *out_is_all, clf_str *out)
{
    const clf_tuning *tuning = tuning_of(context);
    size_t count = 0;
    for (size_t i = 0; tuning && i < tuning->count; i++) {
        const clf_gemm_rule *rule = &tuning->rules[i];
        if (!rule->is_first_use)
            continue;
        CLF_TRY(clfi_str_appendf(out, "%s%lld x %lld x %lld %s", count++ ? ", " : "", (long long)rule->m, (long long)rule->k,
                                 (long long)rule->n, rule->engine ? rule->engine->name : "default"));
    }
    *out_is_all = tuning && count > 0 && count == tuning->count && !clfi_clblast_is_any(&tuning->clblast);
    return CLF_OK;
}

const clf_clblast_parameters *clfi_context_clblast_parameters(const clf_context *context)
{
    return tuning_of(context) ? clfi_clblast_used(context) : NULL;
}

static double distance(int64_t a, int64_t b)
{
    return fabs(log2((double)a) - log2((double)b));
}

/* Whether no rule for its weight and batch has more rows. */
static bool is_of_most_rows(const clf_tuning *tuning, const clf_gemm_rule *rule)
{
    for (size_t i = 0; i < tuning->count; i++) {
        const clf_gemm_rule *other = &tuning->rules[i];
        if (other->m > rule->m && other->kind == rule->kind && other->precision == rule->precision && other->batch == rule->batch &&
            other->n == rule->n && other->k == rule->k)
            return false;
    }
    return true;
}

const clf_gemm_rule *clfi_tuned_rule(const clf_context *context, clf_gemm_kind kind, int64_t batch, int64_t m, int64_t n, int64_t k)
{
    const clf_tuning *tuning = tuning_of(context);
    const clf_gemm_rule *nearest = NULL;
    double least = NEAR;
    int precision = -1; /* of the rules that are used */
    if (!tuning || batch < 1 || m < 1 || n < 1 || k < 1)
        return NULL;
    for (size_t i = 0; i < tuning->count; i++)
        if ((int)tuning->rules[i].precision > precision && tuning->rules[i].precision <= context->precision)
            precision = (int)tuning->rules[i].precision;
    for (size_t i = 0; i < tuning->count; i++) {
        const clf_gemm_rule *rule = &tuning->rules[i];
        if (rule->kind != kind || (int)rule->precision != precision)
            continue;
        double apart = distance(rule->batch, batch) + distance(rule->n, n) + distance(rule->k, k);
        if (apart <= least && (kind != CLF_GEMM_LINEAR || m < rule->m || !is_of_most_rows(tuning, rule)))
            apart += distance(rule->m, m);
        if (apart <= least && (!nearest || apart < least)) {
            least = apart;
            nearest = rule;
        }
    }
    return nearest;
}
