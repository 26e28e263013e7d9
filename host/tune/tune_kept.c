/* SPDX-License-Identifier: MIT */
/* Candidates out of a file of choices. */
#include "tune/tune_kept.h"

#include <string.h>

const clf_clblast_parameters *clfi_tune_kept_parameters(const clf_tuning *kept, const clf_gemm_rule *rule)
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
    return rule->engine && (memcmp(&rule->tile, &own, sizeof own) != 0 || clfi_tune_kept_parameters(tuning, rule));
}

clf_status clfi_tune_kept_read(const char *file, const clf_device_info *device, const clfi_tune_products *products, clf_precision precision,
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
