/* SPDX-License-Identifier: MIT */
/* Writes and reads the fields of a result row beside its times. */
#include "bench/row_facts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"
#include "io/json.h"

enum { WHERE_BYTES = 320 };

const clfi_row_fact clfi_row_fact_list[] = {
#define CLFI_ROW_FACT(member, group, kind, unknown, better, title) \
    {#member, group, title, CLFI_FACT_##kind, CLFI_FACT_##unknown, CLFI_FACT_##better, offsetof(clfi_row_facts, member)},
    CLFI_ROW_FACTS(CLFI_ROW_FACT)
#undef CLFI_ROW_FACT
};
const size_t clfi_row_fact_count = COUNT(clfi_row_fact_list);

void clfi_row_facts_clear(clfi_row_facts *facts)
{
    for (size_t i = 0; i < clfi_row_fact_count; i++)
        *clfi_row_fact_value(facts, &clfi_row_fact_list[i]) = clfi_row_fact_list[i].unknown == CLFI_FACT_ZERO ? 0 : NAN;
}

bool clfi_row_fact_is_known(const clfi_row_facts *facts, const clfi_row_fact *fact)
{
    bool any = fact->unknown != CLFI_FACT_ZERO;
    for (size_t i = 0; !any && i < clfi_row_fact_count; i++)
        any = clfi_row_fact_list[i].unknown == CLFI_FACT_ZERO && clfi_row_fact_get(facts, &clfi_row_fact_list[i]) > 0;
    return any && isfinite(clfi_row_fact_get(facts, fact));
}

/* The object that holds the group of the fact, made if it is missing; NULL: not enough memory. */
static json_t *group_of(json_t *object, const clfi_row_fact *fact)
{
    if (!fact->group[0])
        return object;
    json_t *group = json_object_get(object, fact->group);
    if (!group && json_object_set_new(object, fact->group, json_object()) == 0)
        group = json_object_get(object, fact->group);
    return group;
}

clf_status clfi_row_facts_write(const clfi_row_facts *facts, bool is_measured, json_t *object)
{
    for (size_t i = 0; i < clfi_row_fact_count; i++) {
        const clfi_row_fact *fact = &clfi_row_fact_list[i];
        const double value = clfi_row_fact_get(facts, fact);
        const bool is_known = isfinite(value);
        if (!is_known && (fact->unknown == CLFI_FACT_ABSENT || (fact->unknown == CLFI_FACT_UNMEASURED && !is_measured)))
            continue;
        json_t *number = !is_known ? json_null() : fact->kind == CLFI_FACT_BYTES ? json_integer((json_int_t)value) : json_real(value);
        if (json_object_set_new(group_of(object, fact), fact->key, number) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "%s of a result: not enough memory", fact->key);
    }
    return CLF_OK;
}

clf_status clfi_row_facts_read(const json_t *object, const char *where, double most, clfi_row_facts *out)
{
    clfi_row_facts_clear(out);
    for (size_t i = 0; i < clfi_row_fact_count; i++) {
        const clfi_row_fact *fact = &clfi_row_fact_list[i];
        double *value = clfi_row_fact_value(out, fact);
        char inner[WHERE_BYTES];
        const json_t *group = object;
        int64_t bytes = 0;
        snprintf(inner, sizeof inner, "%s%s%s", where, fact->group[0] ? "." : "", fact->group);
        if (fact->group[0])
            CLF_TRY(clfi_json_opt_object(object, where, fact->group, &group));
        if (!group)
            continue;
        if (fact->kind == CLFI_FACT_BYTES) {
            CLF_TRY(clfi_json_opt_int(group, inner, fact->key, 0, INT64_MAX, 0, &bytes));
            *value = (double)bytes;
        } else {
            CLF_TRY(clfi_json_opt_number(group, inner, fact->key, fact->kind == CLFI_FACT_COSINE ? -most : 0, most, NAN, value));
        }
    }
    return CLF_OK;
}
