/* SPDX-License-Identifier: MIT */
/* similarity_fn_name. */
#include "model/similarity.h"

#include <string.h>

#include "base/file.h"
#include "model/sentence_config.h"

clf_status clfi_similarity_read(const char *directory, clf_similarity *out)
{
    static const char file[] = "config_sentence_transformers.json", key[] = "similarity_fn_name";
    static const char *const names[] = {[CLF_SIMILARITY_COSINE] = "cosine", [CLF_SIMILARITY_DOT] = "dot"};
    const char *name;
    json_t *json;
    size_t i = 0;
    *out = CLF_SIMILARITY_COSINE;
    if (!clfi_directory_exists(directory))
        return CLF_OK;
    CLF_TRY(clfi_sentence_file_read(directory, file, &json));
    clf_status st = json ? clfi_json_opt_string(json, file, key, names[0], &name) : CLF_OK;
    while (json && st == CLF_OK && i < COUNT(names) && strcmp(names[i], name) != 0)
        i++;
    if (st == CLF_OK && i == COUNT(names))
        st = clfi_fail(CLF_UNSUPPORTED, "%s: %s \"%s\": expected \"%s\" or \"%s\"", file, key, name, names[0], names[1]);
    else
        *out = (clf_similarity)i;
    json_decref(json);
    return st;
}
