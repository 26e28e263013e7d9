/* SPDX-License-Identifier: MIT */
/* The table of named pre-tokenizers, from https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (llm_tokenizer_bpe, and the
 * names in llama_vocab::impl::load). Several names may split texts in the same way. */
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

#define HAN_KANA "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
#define HAN_HANGUL "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

/* Words that end before a capital. llama.cpp looks only at the case of ASCII letters; these patterns are those of tokenizer.json. */
#define UPPER "[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define LOWER "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define CASED_WORDS(short, digits)                                                                               \
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?" UPPER "*" LOWER "+" short "|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?" UPPER "+" LOWER \
                                                               "*" short "|" digits "| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|" SPACES

/* Words with their marks, and names after an ASCII sign. */
#define SIGN_WORDS                                                       \
    "[!\\\"#$%&'()*+,\\\\-./:;<=>?@\\\\[\\\\\\\\\\\\]^_`{|}~][A-Za-z]+|" \
    "[^\\r\\n\\\\p{L}\\\\p{P}\\\\p{S}]?[\\\\p{L}\\\\p{M}]+| ?[\\\\p{P}\\\\p{S}]+"

/* The cased letters of deepseek-llm's tokenizer.json. */
#define CASED_LETTERS                                                                                                             \
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377"         \
    "\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5"  \
    "\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d"       \
    "\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4"         \
    "\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d"  \
    "\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"    \
    "\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06"        \
    "\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2" \
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"

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
    HAN_HANGUL) "," SPLIT("\\\\p{N}") "," BYTES("false"));

static const char cut_tekken[] = PRE(SPLIT(CASED_WORDS("", "\\\\p{N}")) "," BYTES("false"));
static const char cut_gpt4o[] = PRE(SPLIT(CASED_WORDS(SHORT "?", "\\\\p{N}{1,3}")) "," BYTES("false"));
static const char cut_aya[] =
    PRE(SPLIT("\\\\d{1,3}(?=(?:\\\\d{3})*\\\\b)") "," SPLIT(CASED_WORDS(SHORT "?", "\\\\p{N}{1,3}")) "," BYTES("false"));
static const char cut_youtu[] =
    PRE(SPLIT("[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|["
              "\u3105-\u312f]+|" HAN_KANA) "," SPLIT(CASED_WORDS(SHORT "?", "\\\\p{N}")) "," BYTES("false"));
static const char cut_deepseek_v3[] =
    PRE(SPLIT("\\\\p{N}{1,3}") "," SPLIT(HAN_KANA) "," SPLIT(SIGN_WORDS "[\\r\\n]*|" SPACES) "," BYTES("false"));
static const char cut_spark[] = PRE(SPLIT("\\\\p{N}{1,3}") "," SPLIT(HAN_KANA) "," SPLIT(
    SIGN_WORDS "|[\\r\\n]|\\\\s+(?!\\\\S)|\\\\s+") "," SPLIT("\\\\p{N}") "," BYTES("false"));
static const char cut_deepseek_llm[] = PRE(SPLIT("[\\r\\n]") "," SPLIT("\\\\s?[" CASED_LETTERS "]+") "," SPLIT(
    "\\\\s?[!-/"
    ":-~\uff01-\uff0f\uff1a-\uff5e\u2018-"
    "\u201f\u3000-\u3002]+") "," SPLIT("\\\\s+$") "," SPLIT(HAN_HANGUL) "," SPLIT("\\\\p{N}+") "," BYTES("false"));
static const char cut_stops[] = PRE(SPLIT(" ?[^(\\\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+") "," BYTES("false"));
static const char cut_stops_digits[] =
    PRE(SPLIT(" ?[^(\\\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+") "," SPLIT("\\\\p{N}") "," BYTES("false"));
/* The lookbehind before \s*[\r\n]+ saves time: a long run of white space, which is split into parts, is searched for line ends only once,
 * at its start. */
static const char cut_jais2[] =
    PRE(SPLIT("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| "
              "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|(?<![^\\\\S\\\\r\\\\n])\\\\s*[\\\\r\\\\n]+|"
              "\\\\s{512}(?!\\\\S)|\\\\s{256}(?!\\\\S)|\\\\s{128}(?!\\\\S)|\\\\s{64}(?!\\\\S)|\\\\s{32}(?!\\\\S)|\\\\s{16}(?!\\\\S)|\\\\s{"
              "8}(?!\\\\S)|\\\\s{4}(?!\\\\S)|\\\\s{1,2}(?!\\\\S)|\\\\s{1}") "," BYTES("false"));
static const char cut_bailing[] =
    PRE(SPLIT("'(?i:[sdmt]|ll|ve|re)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?+\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]++[\\\\r\\\\n]*|"
              "\\\\s*[\\\\r\\\\n]|\\\\s+(?!\\\\S)|\\\\s+") "," BYTES("false"));
static const char cut_seed[] =
    PRE(SPLIT(SHORT "|[^\\r\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1}| ?[^\\\\s\\\\p{L}\\\\p{N}\\r\\n]+|" SPACES) "," BYTES("false"));
static const char cut_ufakzeka[] =
    PRE(SPLIT("[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|" SPACES) "," BYTES("false"));
static const char cut_lines[] = PRE(SPLIT("[^\\\\n]+|[\\\\n]+") "," SPLIT(WORDS("\\\\p{N}")) "," BYTES("false"));
static const char cut_exaone_moe[] =
    PRE(SPLIT(SHORT "|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?(?:\\\\p{L}\\\\p{M}*(?: \\\\p{L}\\\\p{M}*)*)+|\\\\p{N}|"
                    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]?|\\\\s*[\\\\r\\\\n]|\\\\s+(?!\\\\S)|\\\\s+") "," BYTES("false"));
static const char cut_chameleon[] = PRE(SPLIT("<sentinel:[0-9]+>") "," SPLIT("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z") "," SPLIT(
    "([\\\\t\\\\n]|    |  )") "," SPLIT("\\\\p{N}") "," SPLIT("[\\\\p{P}!-/:-@\\\\[-`{-~]") "," SPLIT(GPT2_WORDS) "," BYTES("false"));
static const char cut_minicpm[] = PRE(SPLIT("\\\\p{N}{1,3}") "," SPLIT(WORDS("\\\\p{N}+")) "," BYTES("false"));

/* The first of several names for a way to split texts is the one written to files. */
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
    {"tekken", cut_tekken, true, true},
    {"gpt-4o", cut_gpt4o, false, false},
    {"llama4", cut_gpt4o, false, false},
    {"kanana2", cut_gpt4o, false, false},
    {"talkie", cut_gpt4o, false, false},
    {"minimax-m2", cut_gpt4o, false, false},
    {"granite-embed-multi-97m", cut_gpt4o, true, false},
    {"tiny_aya", cut_aya, false, false},
    {"cohere2moe", cut_aya, false, false},
    {"youtu", cut_youtu, true, false},
    {"deepseek-v3", cut_deepseek_v3, false, false},
    {"hunyuan-dense", cut_deepseek_v3, false, false},
    {"joyai-llm", cut_deepseek_v3, false, false},
    {"hy_v4", cut_deepseek_v3, false, false},
    {"spark2_5", cut_spark, false, false},
    {"deepseek-llm", cut_deepseek_llm, false, false},
    {"bloom", cut_stops, false, false},
    {"poro-chat", cut_stops, false, false},
    {"gpt3-finnish", cut_stops, false, false},
    {"viking", cut_stops_digits, false, false},
    {"jais-2", cut_jais2, false, false},
    {"bailingmoe", cut_bailing, false, false},
    {"bailingmoe2", cut_bailing, false, false},
    {"llada-moe", cut_bailing, false, false},
    {"seed-coder", cut_seed, false, false},
    {"ufakzeka", cut_ufakzeka, false, false},
    {"laguna", cut_lines, false, false},
    {"exaone-moe", cut_exaone_moe, false, false},
    {"chameleon", cut_chameleon, false, true},
    {"minicpm5", cut_minicpm, true, false},
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

/* The parts of a pre-tokenizer as a new list for comparison: without trim_offsets, which does not decide where text is split, and with the
 * default of use_regex. NULL: not enough memory, or no pre-tokenizer. */
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
