/* SPDX-License-Identifier: MIT */
/* Finds stored tensors by the role of a weight, and the rows of a role in fused tensors. */
#include "model/weight_lookup.h"

#include <stdio.h>
#include <string.h>

void clfi_weight_full_name(const char *prefix, const clf_weight_name *row, int64_t layer, const char *suffix,
                           char out[CLFI_WEIGHT_NAME_BYTES])
{
    const bool is_absolute = row->pattern[0] == '/';
    const char *before = is_absolute ? "" : prefix, *pattern = row->pattern + is_absolute, *at = strstr(pattern, "%d");
    const size_t length = strlen(pattern);
    const char last = length ? pattern[length - 1] : '\0';
    const int body = (int)(last == '*' || last == '!' ? length - 1 : length);
    if (row->stored == CLF_STORED_GAMMA)
        suffix = strcmp(suffix, "weight") == 0 ? "gamma" : "beta";
    const char *point = last == '*' || last == '!' ? "" : ".", *end = last == '!' ? "" : suffix;
    if (at)
        snprintf(out, CLFI_WEIGHT_NAME_BYTES, "%s%.*s%lld%.*s%s%s", before, (int)(at - pattern), pattern, (long long)layer,
                 body - (int)(at - pattern) - 2, at + 2, point, end);
    else
        snprintf(out, CLFI_WEIGHT_NAME_BYTES, "%s%.*s%s%s", before, body, pattern, point, end);
}

bool clfi_weight_has(const clf_weight_lookup *lookup, const clf_weight_name *row, int64_t layer, const char *suffix)
{
    char name[CLFI_WEIGHT_NAME_BYTES];
    clfi_weight_full_name(lookup->prefix, row, layer, suffix, name);
    return lookup->has(lookup->user, name);
}

static bool holds(const clf_weight_name *row, clf_weight_role role)
{
    if (row->role == role)
        return true;
    for (int i = 0; row->role == CLF_WEIGHT_FUSED && i < CLFI_MOST_FUSED; i++)
        if (row->parts[i] == role)
            return true;
    return false;
}

const clf_weight_name *clfi_weight_find(const clf_weight_lookup *lookup, const clf_weight_name *rows, clf_weight_role role, int64_t layer)
{
    const clf_weight_name *first = NULL;
    for (; rows && rows->role != CLF_WEIGHT_END; rows++) {
        if (!holds(rows, role))
            continue;
        if (clfi_weight_has(lookup, rows, layer, "weight"))
            return rows;
        first = first ? first : rows;
    }
    return first;
}

int64_t clfi_weight_rows(const clf_stack_config *config, int64_t layer, clf_weight_role role)
{
    const clf_attention_shape *shape = clfi_stack_attention(config, layer);
    switch (role) {
    case CLF_WEIGHT_QUERY:
    case CLF_WEIGHT_SOURCE_QUERY:
        return shape->heads * shape->head_size;
    case CLF_WEIGHT_KEY:
    case CLF_WEIGHT_VALUE:
    case CLF_WEIGHT_SOURCE_KEY:
    case CLF_WEIGHT_SOURCE_VALUE:
        return shape->key_heads * shape->head_size;
    case CLF_WEIGHT_FFN_IN:
    case CLF_WEIGHT_FFN_GATE:
        return config->hidden_width;
    default:
        return config->width;
    }
}

int64_t clfi_weight_columns(const clf_stack_config *config, int64_t layer, clf_weight_role role)
{
    const clf_attention_shape *shape = clfi_stack_attention(config, layer);
    if (role == CLF_WEIGHT_OUTPUT || role == CLF_WEIGHT_SOURCE_OUTPUT)
        return shape->heads * shape->head_size;
    return role == CLF_WEIGHT_FFN_OUT ? config->hidden_width : config->width;
}

clf_weight_part clfi_weight_part(const clf_stack_config *config, int64_t layer, const clf_weight_name *row, clf_weight_role role)
{
    const int64_t count = clfi_weight_rows(config, layer, role);
    clf_weight_part p = {row, 0, 0, count};
    if (row->role != CLF_WEIGHT_FUSED)
        p.stored = count;
    for (int i = 0; row->role == CLF_WEIGHT_FUSED && i < CLFI_MOST_FUSED && row->parts[i] != CLF_WEIGHT_END; i++) {
        if (row->parts[i] == role)
            p.first = p.stored;
        p.stored += clfi_weight_rows(config, layer, row->parts[i]);
    }
    return p;
}

const char *clfi_weight_prefix(const clf_weight_lookup *lookup, const clf_name_map *names)
{
    const clf_weight_name *probe = names->encoder ? names->encoder : names->decoder;
    clf_weight_lookup tried = *lookup;
    for (const char *const *prefix = names->prefixes; prefix && *prefix; prefix++) {
        tried.prefix = *prefix;
        if (clfi_weight_has(&tried, probe, 0, "weight"))
            return *prefix;
    }
    return names->prefixes ? names->prefixes[0] : "";
}
