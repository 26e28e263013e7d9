/* SPDX-License-Identifier: MIT */
/* Reads vocab.txt with its tokenizer_config.json, the older pair of files of a BERT tokenizer. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"
#include "text/tokenizer_parts.h"
#include "text/wordpiece.h"

/* Special tokens of the configuration, in the order in which they are added. */
enum { UNKNOWN, SEPARATOR, PADDING, CLASSIFICATION, MASK, SPECIAL_COUNT };

static const struct {
    const char *key, *standard;
    bool required;
} specials[SPECIAL_COUNT] = {
    [UNKNOWN] = {"unk_token", "[UNK]", true},       [SEPARATOR] = {"sep_token", "[SEP]", true}, [PADDING] = {"pad_token", "[PAD]", false},
    [CLASSIFICATION] = {"cls_token", "[CLS]", true}, [MASK] = {"mask_token", "[MASK]", false},
};

/* Reads the flags of a token written as an object; by default a special token is looked for in the raw text. */
static clf_status read_flags(const json_t *json, const char *where, bool special, clf_added_token *token)
{
    CLF_TRY(clfi_json_get_string(json, where, "content", &token->content));
    CLF_TRY(clfi_json_opt_bool(json, where, "special", special, &token->special));
    CLF_TRY(clfi_json_opt_bool(json, where, "single_word", false, &token->single_word));
    CLF_TRY(clfi_json_opt_bool(json, where, "lstrip", false, &token->lstrip));
    CLF_TRY(clfi_json_opt_bool(json, where, "rstrip", false, &token->rstrip));
    CLF_TRY(clfi_json_opt_bool(json, where, "normalized", !token->special, &token->normalized));
    token->size = strlen(token->content);
    return CLF_OK;
}

/* A special token is written as text or as an object. */
static clf_status read_special(const json_t *config, const char *where, const char *key, const char *standard, clf_added_token *token)
{
    const json_t *value = json_object_get(config, key);
    *token = (clf_added_token){.special = true};
    if (json_is_object(value))
        return read_flags(value, where, true, token);
    token->content = standard;
    if (config)
        CLF_TRY(clfi_json_opt_string(config, where, key, standard, &token->content));
    token->size = strlen(token->content);
    return CLF_OK;
}

/* Checks that the class reads vocab.txt as here: BERT's tokenizer, also under another name, or no class. */
static clf_status check_class(const json_t *config, const char *where)
{
    static const char *const stems[] = {"Bert", "DistilBert", "Electra", "MobileBert", "SqueezeBert", "ConvBert", "LayoutLM", "Lxmert",
                                        "RetriBert", "DPRContextEncoder", "DPRQuestionEncoder", "DPRReader"};
    const char *class;
    CLF_TRY(clfi_json_opt_string(config, where, "tokenizer_class", "BertTokenizer", &class));
    for (size_t i = 0; i < COUNT(stems); i++) {
        const size_t length = strlen(stems[i]);
        if (strncmp(class, stems[i], length) != 0)
            continue;
        if (strcmp(class + length, "Tokenizer") == 0 || strcmp(class + length, "TokenizerFast") == 0)
            return CLF_OK;
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: tokenizer_class \"%s\" with a vocab.txt; known is BertTokenizer and its variants", where, class);
}

/* The chains of a BERT tokenizer, as tokenizer.json would have them. */
static clf_status read_chains(const json_t *config, const char *where, clf_tokenizer *tokenizer)
{
    bool lowercase = true, apart = true, strip = true;
    if (config) {
        CLF_TRY(clfi_json_opt_bool(config, where, "do_lower_case", true, &lowercase));
        CLF_TRY(clfi_json_opt_bool(config, where, "tokenize_chinese_chars", true, &apart));
        CLF_TRY(clfi_json_opt_bool(config, where, "strip_accents", lowercase, &strip));
    }
    json_t *root = json_pack("{s:{s:s, s:b, s:b, s:b, s:b}, s:{s:s}, s:{s:s}}", "normalizer", "type", "BertNormalizer", "clean_text", 1,
                             "handle_chinese_chars", apart, "lowercase", lowercase, "strip_accents", strip, "pre_tokenizer", "type",
                             "BertPreTokenizer", "decoder", "type", "WordPiece");
    if (!root)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: tokenizer parts: not enough memory", where ? where : "vocabulary");
    const clf_status st = clfi_tokenizer_read_chains(root, "BertTokenizer", tokenizer);
    json_decref(root);
    return st;
}

/* "added_tokens_decoder": {"100": {"content": "[UNK]", ...}, ...} in order of the ids. */
typedef struct clf_listed_token {
    int64_t id;
    const json_t *json;
} clf_listed_token;

static int compare_ids(const void *a, const void *b)
{
    const clf_listed_token *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static clf_status add_listed(const json_t *decoder, const char *where, clf_listed_token *listed, clf_tokenizer *tokenizer)
{
    size_t count = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)decoder, key, value)
    {
        char *end;
        const long long id = strtoll(key, &end, 10);
        if (end == key || *end || id < 0 || id > INT32_MAX)
            CLF_FAIL(CLF_FORMAT, "%s: added_tokens_decoder: expected an id as key, found \"%s\"", where, key);
        listed[count++] = (clf_listed_token){id, value};
    }
    if (count)
        qsort(listed, count, sizeof *listed, compare_ids);
    for (size_t i = 0; i < count; i++) {
        clf_added_token token = {0};
        CLF_TRY(read_flags(listed[i].json, where, false, &token));
        if (token.size)
            CLF_TRY(clfi_tokenizer_add_token(tokenizer, &token, listed[i].id, where));
    }
    return CLF_OK;
}

static clf_status read_listed(const json_t *config, const char *where, clf_tokenizer *tokenizer)
{
    const json_t *decoder = NULL;
    clf_listed_token *listed;
    if (config)
        CLF_TRY(clfi_json_opt_object(config, where, "added_tokens_decoder", &decoder));
    if (!decoder)
        return CLF_OK;
    CLF_TRY(clfi_alloc(json_object_size(decoder), sizeof *listed, "added tokens", &listed));
    const clf_status st = add_listed(decoder, where, listed, tokenizer);
    free(listed);
    return st;
}

static clf_status create_model(const char *text, size_t size, const char *name, const char *unknown, clf_tokenizer *tokenizer)
{
    clf_vocabulary vocabulary = CLF_VOCABULARY_INIT;
    clf_wordpiece_settings settings = CLF_WORDPIECE_SETTINGS_INIT;
    settings.unknown = unknown;
    clf_status st = clfi_vocabulary_parse_lines(&vocabulary, text, size, name);
    if (st == CLF_OK) {
        st = clfi_vocabulary_index(&vocabulary, 0);
        if (st != CLF_OK)
            clfi_fail_prefix(st, "%s", name);
    }
    if (st != CLF_OK) {
        clfi_vocabulary_free(&vocabulary);
        return st;
    }
    CLF_TRY(clfi_wordpiece_create(&vocabulary, &settings, name, &tokenizer->model));
    tokenizer->kind = &clfi_wordpiece_kind;
    return CLF_OK;
}

/* Adds the special tokens. One that the model's vocabulary lacks is an error if the templates need it, else it is left out. */
static clf_status add_specials(const char *name, const clf_added_token tokens[SPECIAL_COUNT], clf_tokenizer *tokenizer)
{
    for (size_t i = 0; i < SPECIAL_COUNT; i++) {
        const int32_t id = clf_tokenizer_id(tokenizer, tokens[i].content);
        if (id < 0 && specials[i].required)
            CLF_FAIL(CLF_FORMAT, "%s: the %s \"%s\" is not in the vocabulary", name, specials[i].key, tokens[i].content);
        if (id >= 0 && clfi_vocabulary_find(&tokenizer->added.ids, tokens[i].content, tokens[i].size) < 0)
            CLF_TRY(clfi_tokenizer_add_token(tokenizer, &tokens[i], -1, name));
    }
    return CLF_OK;
}

clf_status clfi_tokenizer_from_vocabulary(const char *text, size_t size, const char *name, const char *config_text, size_t config_size,
                                          const char *config_name, clf_tokenizer **out)
{
    json_t *config = NULL;
    if (config_text)
        CLF_TRY(clfi_json_parse(config_text, config_size, config_name, &config));
    const clf_status st = clfi_tokenizer_from_vocabulary_parts(text, size, name, config, config_name, out);
    json_decref(config);
    return st;
}

clf_status clfi_tokenizer_from_vocabulary_parts(const char *text, size_t size, const char *name, const json_t *config,
                                                const char *config_name, clf_tokenizer **out)
{
    clf_status st;
    clf_tokenizer *tokenizer = NULL;
    clf_added_token tokens[SPECIAL_COUNT];
    CLF_GOTO(clfi_tokenizer_create(&tokenizer));
    if (config)
        CLF_GOTO(check_class(config, config_name));
    CLF_GOTO(read_chains(config, config_name, tokenizer));
    for (size_t i = 0; i < SPECIAL_COUNT; i++)
        CLF_GOTO(read_special(config, config_name, specials[i].key, specials[i].standard, &tokens[i]));
    CLF_GOTO(create_model(text, size, name, tokens[UNKNOWN].content, tokenizer));
    CLF_GOTO(read_listed(config, config_name, tokenizer));
    CLF_GOTO(add_specials(name, tokens, tokenizer));
    clfi_post_processor_free(&tokenizer->post_processor);
    CLF_GOTO(clfi_post_processor_bert(clf_tokenizer_id(tokenizer, tokens[CLASSIFICATION].content),
                                      clf_tokenizer_id(tokenizer, tokens[SEPARATOR].content), &tokenizer->post_processor));
    CLF_GOTO(clfi_tokenizer_finish(tokenizer, name));
    *out = tokenizer;
    tokenizer = NULL;
done:
    clf_tokenizer_destroy(tokenizer);
    return st;
}
