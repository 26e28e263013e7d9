/* SPDX-License-Identifier: MIT */
/* Table of tokenizer models, and the vocabulary that several of them write alike. */
#include "text/token_model.h"

#include <string.h>

#include "io/json.h"

static const clf_part_kind *const rows[] = {&clfi_wordpiece_kind.part, &clfi_bpe_kind.part, &clfi_unigram_kind.part};
const clf_part_table clfi_token_models = {rows, COUNT(rows), NULL};

clf_status clfi_token_model_read_vocabulary(const json_t *json, const char *where, clf_vocabulary *vocabulary)
{
    const char *token;
    json_t *value;
    json_object_foreach((json_t *)json, token, value)
    {
        if (!json_is_integer(value)) {
            char found[CLFI_JSON_FOUND_BYTES];
            CLF_FAIL(CLF_FORMAT, "%s: vocab: \"%s\": expected an integer id, found %s", where, token, clfi_json_found(value, found));
        }
        const clf_status st = clfi_vocabulary_add(vocabulary, token, strlen(token), json_integer_value(value));
        if (st != CLF_OK)
            return clfi_fail_prefix(st, "%s: vocab", where);
    }
    const clf_status st = clfi_vocabulary_index(vocabulary, 0);
    return st == CLF_OK ? CLF_OK : clfi_fail_prefix(st, "%s", where);
}
