/* SPDX-License-Identifier: MIT */
/* Reads chains; a Sequence inside a Sequence becomes part of one flat list. */
#include "text/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "io/json.h"

static void destroy_part(const clf_part *part)
{
    if (part->kind->destroy)
        part->kind->destroy(part->settings);
    else
        free(part->settings);
}

void clfi_chain_free(clf_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        destroy_part(&chain->parts[i]);
    free(chain->parts);
    *chain = (clf_chain){0};
}

const clf_part_kind *clfi_part_find(const clf_part_table *table, const char *type)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i]->type, type) == 0)
            return table->rows[i];
    return NULL;
}

clf_status clfi_part_unknown(const clf_part_table *table, const char *where, const char *type)
{
    clf_str names = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < table->count; i++)
        st = clfi_str_appendf(&names, "%s%s", i ? ", " : "", table->rows[i]->type);
    if (st == CLF_OK && table->members)
        st = clfi_str_append_text(&names, ", Sequence");
    if (st == CLF_OK)
        st =
            clfi_fail(CLF_UNSUPPORTED, "%s: type \"%s\"; known %s %s", where, type, table->count > 1 ? "are" : "is", clfi_str_text(&names));
    clfi_str_free(&names);
    return st;
}

static clf_status add_part(clf_chain *chain, const clf_part_kind *kind, const json_t *json, const char *where)
{
    if (chain->count == CLFI_CHAIN_PARTS_MAX)
        CLF_FAIL(CLF_FORMAT, "%s: more than %d parts", where, CLFI_CHAIN_PARTS_MAX);
    CLF_TRY(clfi_grow(&chain->parts, &chain->capacity, chain->count + 1, sizeof *chain->parts, "tokenizer parts"));
    void *settings = NULL;
    if (kind->read)
        CLF_TRY(kind->read(json, where, &settings));
    chain->parts[chain->count++] = (clf_part){kind, settings};
    return CLF_OK;
}

/* The recursion is bounded: the JSON parser limits how deep objects are nested. */
clf_status clfi_chain_read(const json_t *json, const char *where, const clf_part_table *table, clf_chain *chain)
{
    const char *type;
    if (!json)
        return CLF_OK;
    CLF_TRY(clfi_json_get_string(json, where, "type", &type));
    if (strcmp(type, "Sequence") != 0) {
        const clf_part_kind *kind = clfi_part_find(table, type);
        return kind ? add_part(chain, kind, json, where) : clfi_part_unknown(table, where, type);
    }
    const json_t *members;
    CLF_TRY(clfi_json_get_array(json, where, table->members, &members));
    for (size_t i = 0; i < json_array_size(members); i++)
        CLF_TRY(clfi_chain_read(json_array_get(members, i), where, table, chain));
    return CLF_OK;
}
