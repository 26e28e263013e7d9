/* SPDX-License-Identifier: MIT */
/* The table of transformers' tokenizer classes, and the changes that each makes. */
#include "text/tokenizer_class.h"

#include <string.h>

#include "io/json.h"
#include "text/tokenizer_make.h"
#include "text/tokenizer_parts.h"

enum { NAMES_MOST = 6 };

struct clf_tokenizer_class {
    const char *names[NAMES_MOST]; /* of the class, and of the model types that have it */
    bool has_cases;                /* do_lower_case and strip_accents override the normalizer's flags */
    bool has_characters;           /* so does tokenize_chinese_chars */
    bool has_offsets;              /* trim_offsets and add_prefix_space override the post-processor's */
    bool has_ends, adds_bos;       /* add_bos_token (default: adds_bos) and add_eos_token replace the post-processor */
    const char *bos, *eos;         /* with has_ends: tokens where the configuration has no key for them */
};

static const clf_tokenizer_class plain = {.names = {""}};
static const clf_tokenizer_class classes[] = {
    {.names = {"BertTokenizer", "bert"}, .has_cases = true, .has_characters = true},
    {.names = {"DistilBertTokenizer", "distilbert"}, .has_cases = true, .has_characters = true},
    {.names = {"ElectraTokenizer", "MobileBertTokenizer"}, .has_cases = true, .has_characters = true},
    {.names = {"MPNetTokenizer", "mpnet"}, .has_cases = true},
    {.names = {"RobertaTokenizer", "roberta", "BartTokenizer", "bart"}, .has_offsets = true},
    {.names = {"LlamaTokenizer", "llama", "mistral", "phi3"}, .has_ends = true, .adds_bos = true, .bos = "<s>", .eos = "</s>"},
    {.names = {"CodeLlamaTokenizer"}, .has_ends = true, .adds_bos = true, .bos = "<s>", .eos = "</s>"},
    {.names = {"GemmaTokenizer", "gemma", "gemma2", "gemma3_text", "gemma3"},
     .has_ends = true,
     .adds_bos = true,
     .bos = "<bos>",
     .eos = "<eos>"},
    {.names = {"CohereTokenizer"}, .has_ends = true, .adds_bos = true, .bos = "<BOS_TOKEN>", .eos = "<|END_OF_TURN_TOKEN|>"},
    {.names = {"GPTNeoXTokenizer"}, .has_ends = true, .bos = "<|endoftext|>", .eos = "<|endoftext|>"},
};

static void copy_name(const json_t *config, const char *key, char name[CLFI_TOKENIZER_CLASS_BYTES])
{
    const char *value = json_string_value(json_object_get(config, key));
    const size_t size = value ? strlen(value) : 0, end = strlen("Fast");
    const size_t kept = size > end && strcmp(value + size - end, "Fast") == 0 ? size - end : size;
    if (kept > 0 && kept < CLFI_TOKENIZER_CLASS_BYTES) {
        memcpy(name, value, kept);
        name[kept] = '\0';
    }
}

clf_status clfi_tokenizer_class_name(const char *directory, const json_t *config, char name[CLFI_TOKENIZER_CLASS_BYTES])
{
    json_t *model;
    name[0] = '\0';
    copy_name(config, "tokenizer_class", name);
    if (name[0])
        return CLF_OK;
    CLF_TRY(clfi_json_read_in(directory, "config.json", NULL, &model));
    copy_name(model, "tokenizer_class", name);
    if (!name[0])
        copy_name(model, "model_type", name);
    json_decref(model);
    return CLF_OK;
}

const clf_tokenizer_class *clfi_tokenizer_class_find(const char *name)
{
    for (size_t i = 0; i < COUNT(classes); i++)
        for (size_t k = 0; k < NAMES_MOST && classes[i].names[k]; k++)
            if (strcmp(classes[i].names[k], name) == 0)
                return &classes[i];
    return &plain;
}

static bool is_type(const json_t *part, const char *type)
{
    const char *found = json_string_value(json_object_get(part, "type"));
    return found && strcmp(found, type) == 0;
}

/* Sets part[part_key] to the configuration's flag `key` (absent: `standard`), if the part has part_key. */
static clf_status replace(const json_t *config, const char *name, const char *key, bool standard, json_t *part, const char *part_key)
{
    bool value;
    CLF_TRY(clfi_json_opt_bool(config, name, key, standard, &value));
    return json_object_get(part, part_key) ? clfi_make_set(part, part_key, json_boolean(value)) : CLF_OK;
}

static clf_status edit_normalizer(const clf_tokenizer_class *class, const json_t *config, const char *name, json_t *normalizer)
{
    const json_t *accents = json_object_get(config, "strip_accents");
    bool strips;
    CLF_TRY(clfi_json_opt_bool(config, name, "strip_accents", false, &strips)); /* null: as lowercase */
    CLF_TRY(clfi_make_set(normalizer, "strip_accents", json_is_boolean(accents) ? json_boolean(strips) : json_null()));
    CLF_TRY(replace(config, name, "do_lower_case", true, normalizer, "lowercase"));
    return class->has_characters ? replace(config, name, "tokenize_chinese_chars", true, normalizer, "handle_chinese_chars") : CLF_OK;
}

static clf_status set_standard(const char *key, const char *content, json_t *config)
{
    return json_object_get(config, key) ? CLF_OK : clfi_make_set(config, key, json_string(content));
}

clf_status clfi_tokenizer_class_edit(const clf_tokenizer_class *class, json_t *config, const char *name, json_t *root)
{
    json_t *normalizer = json_object_get(root, "normalizer"), *pre = json_object_get(root, "pre_tokenizer"),
           *post = json_object_get(root, "post_processor");
    const json_t *space = json_object_get(config, "add_prefix_space"), *trim = json_object_get(config, "trim_offsets");
    const bool has_space = space && !json_is_null(space), has_trim = trim && !json_is_null(trim);
    if (class->has_cases && is_type(normalizer, "BertNormalizer"))
        CLF_TRY(edit_normalizer(class, config, name, normalizer));
    if (has_space && is_type(pre, "ByteLevel"))
        CLF_TRY(replace(config, name, "add_prefix_space", false, pre, "add_prefix_space"));
    if (has_space && class->has_offsets)
        CLF_TRY(replace(config, name, "add_prefix_space", false, post, "add_prefix_space"));
    if (has_trim && class->has_offsets)
        CLF_TRY(replace(config, name, "trim_offsets", true, post, "trim_offsets"));
    if (!class->has_ends)
        return CLF_OK;
    CLF_TRY(set_standard("bos_token", class->bos, config));
    return set_standard("eos_token", class->eos, config);
}

/* *out: the id of the role's token if the flag says that texts get it, else -1. */
static clf_status read_end(const json_t *config, const char *name, const char *flag, bool standard, clf_token_role role,
                           const clf_tokenizer *tokenizer, int32_t *out)
{
    bool is_added;
    const char *key = clfi_token_role_keys[role], *token = clfi_named_content(json_object_get(config, key));
    CLF_TRY(clfi_json_opt_bool(config, name, flag, standard, &is_added));
    *out = is_added ? clf_tokenizer_role(tokenizer, role) : -1;
    if (is_added && *out < 0)
        CLF_FAIL(CLF_FORMAT, "%s: %s is true: expected a token of the vocabulary as %s, found %.80s", name, flag, key,
                 token ? token : "none");
    return CLF_OK;
}

clf_status clfi_tokenizer_class_put_ends(const clf_tokenizer_class *class, const json_t *config, const char *name, clf_tokenizer *tokenizer)
{
    int32_t bos, eos;
    if (!class->has_ends)
        return CLF_OK;
    CLF_TRY(read_end(config, name, "add_bos_token", class->adds_bos, CLF_TOKEN_BOS, tokenizer, &bos));
    CLF_TRY(read_end(config, name, "add_eos_token", false, CLF_TOKEN_EOS, tokenizer, &eos));
    clfi_post_processor_free(&tokenizer->post_processor);
    return clfi_post_processor_around(bos, eos, &tokenizer->post_processor);
}
