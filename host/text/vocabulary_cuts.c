/* SPDX-License-Identifier: MIT */
/* The table of named pre-tokenizers. Several names stand for one cut: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp
 * (llm_tokenizer_bpe, and the names in llama_vocab::impl::load). */
#include "text/vocabulary_cuts.h"

#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

#define SPLIT(regex) "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"" regex "\"},\"behavior\":\"Isolated\",\"invert\":false}"
#define BYTES(use_regex) "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":" use_regex "}"
#define PRE(parts) "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" parts "]},\"decoder\":{\"type\":\"ByteLevel\"}}"
#define WORDS(digits)                                                                                                           \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|" digits "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|" \
    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define GPT2_WORDS "'s|'t|'re|'ve|'m|'ll|'d| ?\\\\p{L}+| ?\\\\p{N}+| ?[^\\\\s\\\\p{L}\\\\p{N}]+|\\\\s+(?!\\\\S)"

static const char cut_default[] = PRE(SPLIT("[\\\\p{P}\\\\$\\\\+<=>\\\\^~\\\\|]+") "," SPLIT(GPT2_WORDS) "," SPLIT("\\\\p{N}+") "," SPLIT(
    "[0-9][0-9][0-9]") "," BYTES("false"));
static const char cut_gpt2[] = PRE(BYTES("true"));
static const char cut_thousands[] = PRE(SPLIT(WORDS("\\\\p{N}{1,3}")) "," BYTES("false"));
static const char cut_digits[] = PRE(SPLIT(WORDS("\\\\p{N}")) "," BYTES("false"));
static const char cut_gpt2_digits[] = PRE("{\"type\":\"Digits\",\"individual_digits\":true}," BYTES("true"));
static const char cut_falcon[] =
    PRE(SPLIT("[\\\\p{P}\\\\$\\\\+<=>\\\\^~\\\\|`]+") "," SPLIT(GPT2_WORDS) "," SPLIT("[0-9][0-9][0-9]") "," BYTES("false"));
static const char cut_marks[] =
    PRE(SPLIT("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?[\\\\p{L}\\\\p{M}]+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{M}\\\\p{N}]+"
              "[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+") "," BYTES("false"));
static const char cut_coder[] = PRE(SPLIT("[\\r\\n]") "," SPLIT("\\\\s?\\\\p{L}+") "," SPLIT("\\\\s?\\\\p{P}+") "," SPLIT(
    "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+") "," SPLIT("\\\\p{N}") "," BYTES("false"));

/* Of names for the same cut, the one that files are written with comes first. */
static const clf_vocabulary_cut rows[] = {
    {CLFI_VOCABULARY_CUT_DEFAULT, cut_default, false, false},
    {"gpt-2", cut_gpt2, false, false},
    {"llama-bpe", cut_thousands, true, true},
    {"qwen2", cut_digits, false, false},
    {"smollm", cut_gpt2_digits, false, false},
    {"falcon", cut_falcon, false, false},
    {"qwen35", cut_marks, false, false},
    {"deepseek-coder", cut_coder, false, false},
    {"llama3", cut_thousands, true, true},
    {"llama-v3", cut_thousands, true, true},
    {"falcon3", cut_thousands, true, true},
    {"falcon-h1", cut_thousands, true, true},
    {"pixtral", cut_thousands, true, true},
    {"midm-2.0", cut_thousands, true, true},
    {"lfm2", cut_thousands, true, true},
    {"jina-v5-nano", cut_thousands, true, true},
    {"glm4", cut_thousands, true, false},
    {"glm5", cut_thousands, true, false},
    {"dbrx", cut_thousands, false, false},
    {"smaug-bpe", cut_thousands, false, false},
    {"chatglm-bpe", cut_thousands, false, false},
    {"deepseek-r1-qwen", cut_digits, false, false},
    {"f2llmv2", cut_digits, false, false},
    {"grok-2", cut_digits, false, false},
    {"hunyuan", cut_digits, false, false},
    {"kormo", cut_digits, false, false},
    {"megrez", cut_digits, false, false},
    {"solar-open", cut_digits, false, false},
    {"stablelm2", cut_digits, false, false},
    {"a.x-4.0", cut_gpt2, false, false},
    {"exaone4", cut_gpt2, false, false},
    {"gigachat", cut_gpt2, false, false},
    {"granite-docling", cut_gpt2, false, false},
    {"jais", cut_gpt2, false, false},
    {"jina-de", cut_gpt2, false, false},
    {"jina-es", cut_gpt2, false, false},
    {"jina-v1-en", cut_gpt2, false, false},
    {"jina-v2-code", cut_gpt2, false, false},
    {"jina-v2-de", cut_gpt2, false, false},
    {"jina-v2-es", cut_gpt2, false, false},
    {"mellum", cut_gpt2, false, false},
    {"modern-bert", cut_gpt2, false, false},
    {"mpt", cut_gpt2, false, false},
    {"olmo", cut_gpt2, false, false},
    {"phi-2", cut_gpt2, false, false},
    {"roberta-bpe", cut_gpt2, false, false},
    {"trillion", cut_gpt2, false, false},
    {"codeshell", cut_gpt2_digits, false, false},
    {"command-r", cut_gpt2_digits, false, false},
    {"exaone", cut_gpt2_digits, false, false},
    {"mellum2", cut_gpt2_digits, false, false},
    {"minerva-7b", cut_gpt2_digits, false, false},
    {"refact", cut_gpt2_digits, false, false},
    {"starcoder", cut_gpt2_digits, false, false},
};

const clf_vocabulary_cut *clfi_vocabulary_cut_find(const char *name)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const clf_vocabulary_cut *clfi_vocabulary_cut_at(size_t index)
{
    return index < COUNT(rows) ? &rows[index] : NULL;
}

clf_status clfi_vocabulary_cut_names(clf_str *out)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        CLF_TRY(clfi_str_appendf(out, "%s%s", i ? ", " : "", rows[i].name));
    return CLF_OK;
}

/* A list of its parts, without what does not decide where text is cut, and with what is left out. NULL: not enough memory, or none. */
static json_t *plain_parts(const json_t *pre_tokenizer)
{
    const json_t *parts = json_object_get(pre_tokenizer, "pretokenizers");
    json_t *list = parts ? clfi_json_copy(parts) : json_pack("[o]", clfi_json_copy(pre_tokenizer));
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *part = json_array_get(list, i);
        const char *type = json_string_value(json_object_get(part, "type"));
        json_object_del(part, "trim_offsets");
        if (type && strcmp(type, "ByteLevel") == 0 && !json_object_get(part, "use_regex"))
            json_object_set_new(part, "use_regex", json_true());
    }
    return list;
}

const char *clfi_vocabulary_cut_name(const json_t *pre_tokenizer, bool ignore_merges)
{
    const char *name = NULL;
    json_t *wanted = json_is_object(pre_tokenizer) ? plain_parts(pre_tokenizer) : NULL;
    for (size_t i = 0; wanted && !name && i < COUNT(rows); i++) {
        json_t *root = NULL;
        if (clfi_json_parse_strict(rows[i].parts, strlen(rows[i].parts), rows[i].name, &root) != CLF_OK)
            break;
        json_t *parts = plain_parts(json_object_get(root, "pre_tokenizer"));
        if (json_equal(wanted, parts) && rows[i].ignore_merges == ignore_merges)
            name = rows[i].name;
        json_decref(parts);
        json_decref(root);
    }
    json_decref(wanted);
    return name;
}
