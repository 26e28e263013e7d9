/* SPDX-License-Identifier: MIT */
/* Reads config_sentence_transformers.json. */
#include "model/sentence_settings.h"

#include <string.h>

#include "io/json.h"
#include "model/labels.h"
#include "model/model_config.h"

static const char file[] = CLFI_SENTENCE_SETTINGS;

static clf_status read_type(const json_t *json, bool *is_cross_encoder)
{
    static const char embedder[] = "SentenceTransformer", cross_encoder[] = "CrossEncoder";
    const char *type;
    if (json_is_null(json_object_get(json, "model_type"))) /* null is neither type, and sentence-transformers then ignores modules.json */
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type is null: expected \"%s\" or \"%s\" (or remove the key)", file, embedder, cross_encoder);
    CLF_TRY(clfi_json_opt_string(json, file, "model_type", embedder, &type));
    *is_cross_encoder = strcmp(type, cross_encoder) == 0;
    if (!*is_cross_encoder && strcmp(type, embedder) != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected \"%s\" or \"%s\"", file, type, embedder, cross_encoder);
    return CLF_OK;
}

clf_status clfi_sentence_settings_parse(const json_t *json, int64_t labels, clf_sentence_settings *out)
{
    clf_sentence_settings settings = {.truncate_dim = 0};
    CLF_TRY(read_type(json, &settings.is_cross_encoder));
    if (settings.is_cross_encoder && labels == 1)
        CLF_TRY(clfi_score_function_check(json, file, "activation_fn"));
    if (!settings.is_cross_encoder)
        CLF_TRY(clfi_json_opt_int(json, file, "truncate_dim", 1, CLFI_CONFIG_LARGEST, 0, &settings.truncate_dim));
    CLF_TRY(clfi_prompts_read(json, file, &settings.prompts));
    *out = settings;
    return CLF_OK;
}

clf_status clfi_sentence_settings_read(const char *directory, int64_t labels, clf_sentence_settings *out)
{
    json_t *json;
    *out = (clf_sentence_settings){.truncate_dim = 0};
    CLF_TRY(clfi_json_read_in(directory, file, NULL, &json));
    const clf_status st = json ? clfi_sentence_settings_parse(json, labels, out) : CLF_OK;
    json_decref(json);
    return st;
}

void clfi_sentence_settings_free(clf_sentence_settings *settings)
{
    clfi_prompts_free(&settings->prompts);
}
