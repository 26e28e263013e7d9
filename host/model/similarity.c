/* SPDX-License-Identifier: MIT */
/* Reads similarity_fn_name, by which a model's embeddings are compared. */
#include "model/similarity.h"

#include <string.h>

#include "base/file.h"
#include "io/json.h"
#include "model/sentence_settings.h"

clf_status clfi_similarity_parse(const json_t *json, clf_similarity *out)
{
    static const char file[] = CLFI_SENTENCE_SETTINGS, key[] = "similarity_fn_name";
    static const char *const names[] = {[CLF_SIMILARITY_COSINE] = "cosine", [CLF_SIMILARITY_DOT] = "dot"};
    const char *name;
    CLF_TRY(clfi_json_opt_string(json, file, key, names[0], &name));
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (clf_similarity)i;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\": expected \"%s\" or \"%s\"", file, key, name, names[0], names[1]);
}

clf_status clfi_similarity_read(const char *directory, clf_similarity *out)
{
    json_t *json;
    *out = CLF_SIMILARITY_COSINE;
    CLF_TRY(clfi_json_read_in(directory, CLFI_SENTENCE_SETTINGS, NULL, &json));
    const clf_status st = json ? clfi_similarity_parse(json, out) : CLF_OK;
    json_decref(json);
    return st;
}
