/* SPDX-License-Identifier: MIT */
/* Writes a directory's configuration, tokenizer and weights as a GGUF file. */
#include "model/gguf_export.h"

#include <stdlib.h>

#include "base/file.h"
#include "io/gguf_keys.h"
#include "io/json.h"
#include "model/chat_template.h"
#include "model/generation_config.h"
#include "model/model_checkpoint.h"
#include "model/sampling_settings.h"
#include "model/sentence_settings.h"
#include "model/tied_tables.h"
#include "text/tokenizer_gguf_put.h"

enum { ALIGNMENT = 32 };

/* Refuses rules of generation that a GGUF file cannot hold. */
static clf_status check_rules(const clf_generation_config *rules)
{
    if (rules->banned_first_count || rules->forced_end_count || rules->min_length || rules->min_new || rules->no_repeat_ngram)
        CLF_FAIL(CLF_UNSUPPORTED, "generation_config.json: GGUF cannot store its rules about allowed tokens");
    return CLF_OK;
}

/* transformers' penalty looks at the whole text. Readers take a window of 64 tokens if the file does not say so. */
static clf_status put_penalty(const clf_generation_config *rules, clf_gguf_values *values)
{
    CLF_TRY(clfi_gguf_put_number(values, CLFI_GGUF_REPEAT_PENALTY, (double)rules->repeat_penalty));
    return clfi_gguf_put_signed(values, CLFI_GGUF_REPEAT_WINDOW, -1);
}

/* Sampling settings, under llama.cpp's names. Those that have no name there are left out, as by its own converter. */
static clf_status put_sampling(const char *directory, clf_gguf_values *values)
{
    static const struct {
        const char *key, *stored;
        bool is_whole;
    } rows[] = {{"temperature", CLFI_GGUF_SAMPLING "temp", false},
                {"top_k", CLFI_GGUF_SAMPLING "top_k", true},
                {"top_p", CLFI_GGUF_SAMPLING "top_p", false},
                {"min_p", CLFI_GGUF_SAMPLING "min_p", false}};
    json_t *settings;
    CLF_TRY(clfi_sampling_settings(directory, &settings));
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < COUNT(rows); i++) {
        const json_t *value = json_object_get(settings, rows[i].key);
        const double number = json_number_value(value);
        if (!json_is_number(value) || (rows[i].is_whole && !(number >= 0 && number <= INT32_MAX)))
            continue;
        st = rows[i].is_whole ? clfi_gguf_put_signed(values, rows[i].stored, (int32_t)number)
                              : clfi_gguf_put_number(values, rows[i].stored, number);
    }
    json_decref(settings);
    return st;
}

/* A model without a chat template can still continue texts. */
static clf_status put_template(const char *directory, clf_gguf_values *values)
{
    char *text = NULL;
    clf_status st = clfi_chat_template_read(directory, &text);
    if (st == CLF_NOT_FOUND)
        return CLF_OK;
    if (st == CLF_OK)
        st = clfi_gguf_put_text(values, "tokenizer.chat_template", text);
    free(text);
    return st;
}

static clf_status put_tokenizer(const char *directory, const json_t *config, const clf_network_config *network, clf_gguf_values *values,
                                clf_tokenizer_put_notes *out)
{
    clf_generation_config rules;
    int64_t bos;
    CLF_TRY(clfi_json_opt_int(config, CLFI_MODEL_CONFIG, "bos_token_id", 0, INT32_MAX, -1, &bos));
    CLF_TRY(clfi_generation_config_read(directory, config, &rules));
    clf_status st = check_rules(&rules);
    if (st == CLF_OK && rules.repeat_penalty != 1.0f)
        st = put_penalty(&rules, values);
    if (st == CLF_OK)
        st = put_sampling(directory, values);
    if (st == CLF_OK && rules.banned_count)
        st = clfi_gguf_put_ints(values, CLFI_GGUF_TOKEN_SUPPRESSED, rules.banned, rules.banned_count);
    if (st == CLF_OK)
        st = clfi_tokenizer_put_gguf(directory, (size_t)network->target.vocabulary, (int32_t)bos, rules.ends, rules.end_count, values, out);
    clfi_generation_config_free(&rules);
    return st == CLF_OK ? put_template(directory, values) : st;
}

/* Refuses decoders with modules.json, which make embeddings. */
static clf_status check_modules(const char *directory)
{
    char *path;
    CLF_TRY(clfi_file_find(directory, CLFI_SENTENCE_MODULES, &path));
    const bool is_there = path != NULL;
    free(path);
    if (is_there)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: a model of embeddings (" CLFI_SENTENCE_MODULES ") cannot be written as GGUF", directory);
    return CLF_OK;
}

static clf_status export(const char *directory, clf_checkpoint *checkpoint, const clf_gguf_file_type *type, const char *path,
                         const clf_gguf_progress *progress, clf_gguf_exported *out)
{
    const json_t *config = clfi_checkpoint_config(checkpoint);
    const clf_gguf_architecture *architecture;
    const clf_family *family;
    clf_network_config network;
    clf_gguf_tensors *tensors = NULL;
    clf_gguf_values values = CLF_GGUF_VALUES_INIT;
    clf_gguf_source source = {.name = directory, .alignment = ALIGNMENT, .values = &values, .progress = progress};
    clf_status st;
    CLF_TRY(clfi_gguf_architecture_find(config, CLFI_MODEL_CONFIG, &architecture));
    CLF_TRY(clfi_family_find(config, CLF_TASK_GENERATE, &family));
    CLF_TRY(family->read_config(config, &network));
    CLF_GOTO(clfi_gguf_put_network(architecture, &network, config, &values, &out->positions));
    CLF_GOTO(clfi_checkpoint_load(checkpoint));
    CLF_GOTO(clfi_biases_check(checkpoint, family->names, family->biases, &network));
    clfi_tie_generator(checkpoint, family->names, &network);
    CLF_GOTO(clfi_gguf_tensors_create(checkpoint, architecture, family, &network, &tensors));
    CLF_GOTO(put_tokenizer(directory, config, &network, &values, &out->tokenizer));
    clfi_gguf_tensors_describe(tensors, &source);
    CLF_GOTO(clfi_gguf_write(&source, type, path, &out->tensors));
done:
    clfi_gguf_tensors_destroy(tensors);
    clfi_gguf_values_free(&values);
    return st;
}

clf_status clfi_gguf_export(const char *directory, const clf_gguf_file_type *type, const char *path, const clf_gguf_progress *progress,
                            clf_gguf_exported *out)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(check_modules(directory));
    CLF_TRY(clfi_model_checkpoint_open(directory, &checkpoint));
    const clf_status st = export(directory, checkpoint, type, path, progress, out);
    clfi_checkpoint_close(checkpoint);
    return st;
}
