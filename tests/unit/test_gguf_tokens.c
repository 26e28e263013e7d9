/* SPDX-License-Identifier: MIT */
/* Tokenizers of GGUF files: what keys, texts of tokens and names of pre-tokenizers say together. */
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "io/gguf_token_texts.h"
#include "support/difficult_texts.h"
#include "support/gguf_image.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary_cuts.h"

/* --- pre-tokenizers by name --- */

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define REST "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BEFORE "[^\\r\\n\\p{L}\\p{N}]?"
#define CASED(short) BEFORE UPPER "*" LOWER "+" short "|" BEFORE UPPER "+" LOWER "*" short "|"
#define SIGNS "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+"
#define HAN_KANA "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"

/* The expressions of llama.cpp, applied one after another to what is between the matches of those before, and the names that have them.
 * Some of its expressions differ from tokenizer.json's: it writes out the letters of SHORT and knows the case of ASCII letters alone. Here
 * stands what tokenizer.json has: U+017F, a long s, counts as one of SHORT, and a capital with an accent as a capital. */
static const struct {
    const char *expressions[8];
    const char *names[24]; /* behind one: '!' a word that is a token is not divided, '+' a bos token by default */
} groups[] = {
    {{"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}, {"default"}},
    {{GPT2},
     {"gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum", "modern-bert", "jina-v1-en",
      "jina-v2-code", "roberta-bpe", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4"}},
    {{"\\p{N}", GPT2}, {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"}},
    {{SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST},
     {"llama-bpe!+", "llama3!+", "llama-v3!+", "falcon3!+", "falcon-h1!+", "pixtral!+", "midm-2.0!+", "lfm2!+", "jina-v5-nano!+", "glm4!",
      "glm5!", "dbrx", "smaug-bpe", "chatglm-bpe"}},
    {{SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST},
     {"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "stablelm2", "hunyuan", "solar-open", "megrez", "grok-2"}},
    {{"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"}, {"falcon"}},
    {{SHORT "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" REST}, {"qwen35"}},
    {{"[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", "\\p{N}"}, {"deepseek-coder"}},
    {{CASED("") "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" REST}, {"tekken!+"}},
    {{CASED(SHORT "?") "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" REST},
     {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2", "granite-embed-multi-97m!"}},
    /* with (?=...) in other words, so that it is not the expression that is known and answered in linear time */
    {{"\\d{1,3}(?=(?:\\d\\d\\d)*\\b)", CASED(SHORT "?") "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" REST}, {"tiny_aya", "cohere2moe"}},
    {{"[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-"
      "\u312f]+|" HAN_KANA,
      CASED(SHORT "?") "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" REST},
     {"youtu!"}},
    {{"\\p{N}{1,3}", HAN_KANA, SIGNS "[\r\n]*|" REST}, {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}},
    {{"\\p{N}{1,3}", HAN_KANA, SIGNS "|[\r\n]|\\s+(?!\\S)|\\s+", "\\p{N}"}, {"spark2_5"}},
    {{"[\r\n]",
      "\\s?["
      "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377"
      "\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556"
      "\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15"
      "\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe"
      "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113"
      "\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184"
      "\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e"
      "\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
      "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
      "]+",
      "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", "\\s+$", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
      "\\p{N}+"},
     {"deepseek-llm"}},
    {{" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"}, {"bloom", "poro-chat", "gpt3-finnish"}},
    {{" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+", "\\p{N}"}, {"viking"}},
    {{SHORT "|" BEFORE "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|"
            "\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}"},
     {"jais-2"}},
    {{"'(?i:[sdmt]|ll|ve|re)|" BEFORE "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
     {"bailingmoe", "bailingmoe2", "llada-moe"}},
    {{SHORT "|" BEFORE "\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" REST}, {"seed-coder"}},
    {{BEFORE "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST}, {"ufakzeka"}},
    {{"[^\\n]+|[\\n]+", SHORT "|" BEFORE "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST}, {"laguna"}},
    {{SHORT "|" BEFORE "(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
     {"exaone-moe"}},
    {{"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]", GPT2},
     {"chameleon+"}},
    {{"\\p{N}{1,3}", SHORT "|" BEFORE "\\p{L}+|\\p{N}+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" REST}, {"minicpm5!"}},
};

static clf_chain read_chain(json_t *pre_tokenizer)
{
    clf_chain chain = {0};
    CHECK_OK(clfi_chain_read(pre_tokenizer, "test", &clfi_pre_tokenizers, &chain));
    json_decref(pre_tokenizer);
    return chain;
}

static clf_chain chain_of_expressions(const char *const *expressions)
{
    json_t *parts = json_array();
    for (size_t i = 0; expressions[i]; i++)
        json_array_append_new(
            parts, json_pack("{s:s, s:{s:s}, s:s}", "type", "Split", "pattern", "Regex", expressions[i], "behavior", "Isolated"));
    json_array_append_new(parts, json_pack("{s:s, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0, "use_regex", 0));
    return read_chain(json_pack("{s:s, s:o}", "type", "Sequence", "pretokenizers", parts));
}

static clf_chain chain_of_name(const char *parts)
{
    json_t *root = json_loads(parts, 0, NULL);
    json_t *pre_tokenizer = json_incref(json_object_get(root, "pre_tokenizer"));
    json_decref(root);
    return read_chain(pre_tokenizer);
}

static void cut(const clf_chain *chain, const clf_str *text, clf_text_workspace *work)
{
    clfi_text_workspace_begin(work, text->length, false);
    work->pieces[0].count = 0;
    CHECK_OK(clfi_aligned_append_given(&work->text[0], text->data, text->length, 0));
    CHECK_OK(clfi_piece_append(&work->pieces[0], 0, text->length, -1));
    CHECK_OK(clfi_pre_tokenize(chain, work));
}

static bool are_same(const clf_text_workspace *a, const clf_text_workspace *b)
{
    const clf_piece_list *x = &a->pieces[0], *y = &b->pieces[0];
    for (size_t i = 0; i < x->count && i < y->count; i++)
        if (x->pieces[i].start != y->pieces[i].start || x->pieces[i].end != y->pieces[i].end)
            return false;
    return x->count == y->count && strcmp(clfi_str_text(&a->text[0].text), clfi_str_text(&b->text[0].text)) == 0;
}

static void check_name(const char *marked, const char *const *expressions, const clf_str *texts)
{
    char name[64];
    const size_t length = strcspn(marked, "!+");
    snprintf(name, sizeof name, "%.*s", (int)length, marked);
    const clf_vocabulary_cut *row = clfi_vocabulary_cut_find(name);
    CHECK(row, "%s is not known", name);
    CHECK(row->ignore_merges == (strchr(marked, '!') != NULL) && row->add_bos == (strchr(marked, '+') != NULL), "%s: other settings", name);
    clf_chain built = chain_of_name(row->parts), wanted = chain_of_expressions(expressions);
    clf_text_workspace got = {.repaired = CLF_STR_INIT}, want = {.repaired = CLF_STR_INIT};
    for (size_t i = 0; i < DIFFICULT_TEXTS; i++) {
        if (!texts[i].length || clfi_utf8_check((const unsigned char *)texts[i].data, texts[i].length) != texts[i].length)
            continue;
        cut(&built, &texts[i], &got);
        cut(&wanted, &texts[i], &want);
        CHECK(are_same(&got, &want), "%s: text %zu is cut otherwise: \"%s\"", name, i, texts[i].data);
    }
    clfi_text_workspace_free(&got);
    clfi_text_workspace_free(&want);
    clfi_chain_free(&built);
    clfi_chain_free(&wanted);
}

static void names(void **state)
{
    static clf_str texts[DIFFICULT_TEXTS];
    size_t count = 0;
    (void)state;
    read_difficult_texts(texts);
    for (size_t g = 0; g < COUNT(groups); g++)
        for (size_t i = 0; i < COUNT(groups[g].names) && groups[g].names[i]; i++, count++)
            check_name(groups[g].names[i], groups[g].expressions, texts);
    CHECK(clfi_vocabulary_cut_at(count - 1) && !clfi_vocabulary_cut_at(count), "other names than the %zu of the test are known", count);
    free_difficult_texts(texts);
}

/* Names that llama.cpp knows and whose way to split is not supported: refused, never split as another. */
static void refused_names(void **state)
{
    static const char *const refused[] = {
        "gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace", "superbpe", "kimi-k2", "afmoe", "k2-horizon", "", "GPT-2",
        "qwen2 "};
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        const clf_text token = {"a", 1};
        clf_vocabulary_spec spec = CLF_VOCABULARY_SPEC_INIT;
        clf_tokenizer *tokenizer;
        spec.model = "gpt2";
        spec.pre = refused[i];
        spec.tokens = &token;
        spec.token_count = 1;
        CHECK(clf_tokenizer_from_vocabulary(&spec, "x.gguf", &tokenizer) == CLF_UNSUPPORTED, "\"%s\" is cut", refused[i]);
        CHECK(strstr(clf_last_error(), refused[i]), "\"%s\": %s", refused[i], clf_last_error());
    }
}

/* The number of pieces that the named pre-tokenizer makes of a text. */
static size_t count_pieces(const char *name, const clf_str *text)
{
    clf_chain chain = chain_of_name(clfi_vocabulary_cut_find(name)->parts);
    clf_text_workspace work = {.repaired = CLF_STR_INIT};
    cut(&chain, text, &work);
    const size_t count = work.pieces[0].count;
    clfi_text_workspace_free(&work);
    clfi_chain_free(&chain);
    return count;
}

/* Long runs of one sort of character. The work on a text is bounded (text/regex.c): a pattern whose work grows with its square fails. */
static void long_runs(void **state)
{
    enum { RUN = 1 << 19 };
    static const char *const units[] = {"7", " ", "A", "a", "\n", ".", "\u4e00", "\u0301", "a "};
    (void)state;
    for (size_t u = 0; u < COUNT(units); u++) {
        clf_str text = CLF_STR_INIT;
        for (size_t i = 0; i < RUN; i++)
            CHECK_OK(clfi_str_append_text(&text, units[u]));
        const char *done = NULL; /* names with the same parts mostly follow one another */
        for (size_t i = 0; clfi_vocabulary_cut_at(i); i++) {
            const clf_vocabulary_cut *row = clfi_vocabulary_cut_at(i);
            CHECK(row->parts == done || count_pieces(row->name, &text) >= 1, "%s: nothing", row->name);
            done = row->parts;
        }
        if (u == 0) {
            CHECK(count_pieces("tiny_aya", &text) == (RUN + 2) / 3, "digits in threes");
            CHECK_OK(clfi_str_append_text(&text, "x"));
            CHECK(count_pieces("tiny_aya", &text) == (RUN + 2) / 3 + 1, "digits before a letter");
        }
        clfi_str_free(&text);
    }
}

/* --- files --- */

enum { MOST = 24 };

/* Tokens "a", "b", ... of a file with a type behind their text where that is not 1: "<x>|#3". Merges follow the tokens: "a b|+". */
typedef struct made_file {
    const char *name;
    const char *model, *pre, *keys; /* keys: "key=number ..." of ids, "key=true", or "general.name=text"; pre NULL: none */
    const char *tokens[MOST];
} made_file;

static void put_value(image *f, const char *key, const char *value)
{
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        put_key(f, key, 7);
        put(f, value[0] == 't', 1);
    } else if (strncmp(key, "general.", 8) == 0) {
        put_string(f, key, value);
    } else {
        put_uint(f, key, (uint32_t)strtoul(value, NULL, 10));
    }
}

static void make_file(const made_file *file, image *f)
{
    char keys[512];
    uint64_t values = file->pre ? 7 : 6, count = 0, merges = 0;
    const bool is_llama = strcmp(file->model, "llama") == 0;
    snprintf(keys, sizeof keys, "%s", file->keys);
    for (const char *at = file->keys; *at; at++)
        values += *at == '=';
    while (count < MOST && file->tokens[count] && !strstr(file->tokens[count], "|+"))
        count++;
    while (count + merges < MOST && file->tokens[count + merges])
        merges++;
    begin(f, 0, values);
    put_string(f, "tokenizer.ggml.model", file->model);
    if (file->pre)
        put_string(f, "tokenizer.ggml.pre", file->pre);
    put_key(f, "tokenizer.ggml.tokens", 9);
    put(f, 8, 4);
    put(f, count, 8);
    for (size_t i = 0; i < count; i++) {
        const char *type = strstr(file->tokens[i], "|#");
        const size_t size = type ? (size_t)(type - file->tokens[i]) : strlen(file->tokens[i]);
        put(f, size, 8);
        put_bytes(f, file->tokens[i], size);
    }
    put_key(f, "tokenizer.ggml.token_type", 9);
    put(f, 5, 4);
    put(f, count, 8);
    for (size_t i = 0; i < count; i++) {
        const char *type = strstr(file->tokens[i], "|#");
        put(f, type ? (uint64_t)(type[2] - '0') : 1, 4);
    }
    put_key(f, "tokenizer.ggml.scores", 9);
    put(f, 6, 4);
    put(f, count, 8);
    for (size_t i = 0; i < count; i++)
        put(f, 0, 4);
    put_key(f, "tokenizer.ggml.merges", 9);
    put(f, 8, 4);
    put(f, merges, 8);
    for (size_t i = count; i < count + merges; i++) {
        put(f, strlen(file->tokens[i]) - 2, 8);
        put_bytes(f, file->tokens[i], strlen(file->tokens[i]) - 2);
    }
    put_string(f, "general.architecture", is_llama ? "llama" : "qwen2");
    for (char *key = strtok(keys, " "); key; key = strtok(NULL, " ")) {
        char full[96], *value = strchr(key, '=');
        *value++ = '\0';
        snprintf(full, sizeof full, "%s%s", strchr(key, '.') ? "" : "tokenizer.ggml.", key);
        put_value(f, full, value);
    }
    put_data(f, 32, 0);
}

static clf_gguf *open_made(const made_file *file)
{
    static image f;
    clf_gguf *gguf;
    make_file(file, &f);
    CHECK_OK(clfi_gguf_parse(f.bytes, f.size, "made.gguf", &gguf));
    return gguf;
}

static void list_ids(const int32_t *ids, size_t count, char out[128])
{
    out[0] = '\0';
    for (size_t i = 0, used = 0; i < count; i++)
        used += (size_t)snprintf(out + used, 128 - used, "%s%d", i ? " " : "", (int)ids[i]);
}

/* Which tokens end a text: wanted ids, those of keys first. */
static void end_tokens(void **state)
{
    static const struct {
        made_file file;
        const char *want;
    } rows[] = {
        {{"by text beside the key's", "gpt2", "gpt-2", "eos_token_id=1", {"a", "<|endoftext|>|#3", "<|im_start|>|#3", "<|im_end|>|#3"}},
         "1 3"},
        {{"no key", "gpt2", "gpt-2", "", {"a", "<|im_end|>|#3", "<|eot_id|>|#3", "<|eom_id|>|#3"}}, "1 2 3"},
        {{"all keys", "gpt2", "gpt-2", "eos_token_id=2 eot_token_id=1 eom_token_id=0", {"a|#3", "b|#3", "c|#3", "d|#3"}}, "2 1 0"},
        {{"one token in two keys", "gpt2", "gpt-2", "eos_token_id=1 eot_token_id=1", {"a", "b|#3"}}, "1"},
        {{"SentencePiece's number", "llama", NULL, "", {"<u>|#2", "<b>|#3", "<e>|#3"}}, "2"},
        {{"the same for none", "llama", NULL, "eos_token_id=4294967295", {"<u>|#2", "<b>|#3", "<e>|#3"}}, "2"},
        {{"too few tokens for it", "llama", NULL, "", {"<u>|#2", "<b>|#3"}}, ""},
        {{"no such token", "gpt2", "gpt-2", "eos_token_id=4294967295", {"a", "b|#3"}}, ""},
        {{"every text of a turn's end",
          "gpt2",
          "gpt-2",
          "",
          {"<|eot_id|>|#3", "<|im_end|>|#3", "<|end|>|#3", "<end_of_turn>|#3", "<|endoftext|>|#3", "</s>|#3", "<|eom_id|>|#3", "<EOT>|#3",
           "_<EOT>|#3", "[EOT]|#3", "[EOS]|#3", "<|end_of_text|>|#3", "<end_of_utterance>|#3", "<eos>|#3", "<turn|>|#3",
           "<\uff5cend\u2581of\u2581sentence\uff5c>|#3", "[e~[|#3", "<|return|>|#3"}},
         "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"},
        {{"whatever its type", "gpt2", "gpt-2", "", {"<|im_end|>", "<|im_end|>x|#3", " <|im_end|>|#3", "<|im_end|"}}, "0"},
        {{"filling in the middle",
          "gpt2",
          "gpt-2",
          "eos_token_id=0",
          {"a|#3", "<|fim_prefix|>|#3", "<|fim_suffix|>|#3", "<|fim_middle|>|#3", "<|fim_pad|>|#3", "<|repo_name|>|#3", "<|file_sep|>|#3"}},
         "0 4 5 6"},
        {{"of several pads the first", "gpt2", "gpt-2", "", {"a", "[PAD]|#3", "<PAD>|#3"}}, "1"},
        {{"a pad by its key", "gpt2", "gpt-2", "fim_pad_token_id=0", {"a|#3", "[PAD]|#3", "<PAD>|#3"}}, "0"},
        {{"channels", "gpt2", "gpt-2", "eos_token_id=0", {"<|return|>|#3", "<|call|>|#3", "<|end|>|#3", "<|channel|>|#3"}}, "0 1"},
        {{"other channels", "gpt2", "gpt-2", "", {"<|flush|>|#3", "<|calls|>|#3", "<|end|>|#3"}}, "0 1"},
        {{"one channel's alone", "gpt2", "gpt-2", "", {"<|return|>|#3", "<|flush|>|#3", "<|end|>|#3"}}, "0 1 2"},
        {{"a channel's by a key", "gpt2", "gpt-2", "eot_token_id=0 fim_pad_token_id=1", {"<|start|>|#3", "<|message|>"}}, "0 1"},
        {{"</s> of text", "gpt2", "gpt-2", "", {"<eos>|#3", "<|tool_response>|#3", "</s>"}}, "0 1"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_gguf *gguf = open_made(&rows[i].file);
        int32_t *ids;
        size_t count;
        char got[128];
        CHECK_OK(clfi_gguf_end_tokens(gguf, &ids, &count));
        list_ids(ids, count, got);
        CHECK(strcmp(got, rows[i].want) == 0, "%s: %s end a text, want %s", rows[i].file.name, got, rows[i].want);
        free(ids);
        clfi_gguf_close(gguf);
    }
}

/* An end outside the vocabulary would never end a text. */
static void no_such_end(void **state)
{
    static const char *const keys[] = {"eos_token_id=2", "eot_token_id=2", "eom_token_id=7"};
    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        const made_file file = {keys[i], "gpt2", "gpt-2", keys[i], {"a", "b|#3"}};
        clf_gguf *gguf = open_made(&file);
        int32_t *ids = NULL;
        size_t count;
        CHECK_FAILS(clfi_gguf_end_tokens(gguf, &ids, &count), CLF_FORMAT, "expected one of the 2 tokens");
        clfi_gguf_close(gguf);
    }
}

static clf_tokenizer *open_tokenizer(const made_file *file)
{
    clf_gguf *gguf = open_made(file);
    clf_tokenizer *tokenizer;
    CHECK_OK(clfi_tokenizer_of_gguf(gguf, &tokenizer));
    clfi_gguf_close(gguf);
    return tokenizer;
}

static void encode(const clf_tokenizer *tokenizer, const char *text, char out[128])
{
    clf_encoding *encoding;
    CHECK_OK(clf_encoding_create(&encoding));
    CHECK_OK(clf_tokenizer_encode(tokenizer, &(clf_text){text, strlen(text)}, NULL, NULL, encoding));
    list_ids(encoding->ids, encoding->length, out);
    clf_encoding_destroy(encoding);
}

#define BYTES3 "a", "b", "\u0120", "\u010a" /* 0 to 3: a, b, space, line end */

/* Tokens of texts. */
static void encoded(void **state)
{
    static const struct {
        made_file file;
        const char *text, *want;
    } rows[] = {
        {{"a bos token by the pre-tokenizer", "gpt2", "llama-bpe", "bos_token_id=4", {BYTES3, "<s>|#3"}}, "a", "4 0"},
        {{"no bos token by the pre-tokenizer", "gpt2", "dbrx", "bos_token_id=4", {BYTES3, "<s>|#3"}}, "a", "0"},
        {{"the key goes before it", "gpt2", "llama-bpe", "bos_token_id=4 add_bos_token=false", {BYTES3, "<s>|#3"}}, "a", "0"},
        {{"and the other way", "gpt2", "gpt-2", "bos_token_id=4 add_bos_token=true", {BYTES3, "<s>|#3"}}, "a", "4 0"},
        {{"no bos token by the key", "gpt2", "llama-bpe", "add_bos_token=false", {BYTES3}}, "a", "0"},
        {{"SentencePiece's numbers", "llama", NULL, "", {"<unk>|#2", "<s>|#3", "</s>|#3", "\u2581", "a"}}, "a", "1 3 4"},
        {{"the same for none", "llama", NULL, "bos_token_id=4294967295", {"<unk>|#2", "<s>|#3", "</s>|#3", "\u2581", "a"}}, "a", "1 3 4"},
        {{"no space before", "llama", NULL, "add_space_prefix=false", {"<unk>|#2", "<s>|#3", "</s>|#3", "\u2581", "a"}}, "a", "1 4"},
        {{"an end of any type is found", "gpt2", "gpt-2", "", {BYTES3, "<|im_end|>"}}, "a<|im_end|>b", "0 4 1"},
        {{"unlike another text", "gpt2", "gpt-2", "", {BYTES3, "<|im_|>"}}, "a<|im_|>b", "0 1"},
        {{"the model's name", "gpt2", "gpt-2", "general.name=My-PHI-3-x", {BYTES3, "<|end|>|#3", "<x>|#4", "<s>|#3"}},
         "a <|end|> \n\t b <x>\nb<s> a",
         "0 2 4 1 2 5 1 6 2 0"},
        {{"its other spelling", "gpt2", "gpt-2", "general.name=phi3", {BYTES3, "<|end|>|#3", "<|endoftext|>|#3", "<unk>|#2"}},
         "<|end|>\na<|endoftext|>\na<unk> b",
         "4 0 5 3 0 6 2 1"},
        {{"white space of ASCII alone", "gpt2", "gpt-2", "general.name=phi3", {BYTES3, "<|end|>|#3", "\u00c2", "\u0142"}},
         "<|end|>\u00a0a<|end|> \u00a0",
         "4 5 6 0 4 5 6"},
        {{"another name", "gpt2", "gpt-2", "general.name=phi-2", {BYTES3, "<|end|>|#3"}}, "a<|end|>\na", "0 4 3 0"},
        {{"a mask", "gpt2", "jina-v2-de", "", {BYTES3, "<mask>|#3", "<x>|#3"}}, "a \n<mask> a <x>", "0 4 2 0 2 5"},
        {{"another mask", "gpt2", "modern-bert", "general.name=ModernBERT", {BYTES3, "[MASK]|#3"}}, "a [MASK] a", "0 2 4 2 0"},
        {{"the same by name", "gpt2", "gpt-2", "general.name=modern-bert-x", {BYTES3, "[MASK]|#3"}}, "a [MASK] a", "0 4 2 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        clf_tokenizer *tokenizer = open_tokenizer(&rows[i].file);
        char got[128];
        encode(tokenizer, rows[i].text, got);
        CHECK(strcmp(got, rows[i].want) == 0, "%s: %s, want %s", rows[i].file.name, got, rows[i].want);
        CHECK(tokenizer->assumes_cut == (!rows[i].file.pre && strcmp(rows[i].file.model, "gpt2") == 0), "%s: assumes", rows[i].file.name);
        clf_tokenizer_destroy(tokenizer);
    }
    const made_file file = {"no pre-tokenizer", "gpt2", NULL, "", {BYTES3}};
    clf_tokenizer *tokenizer = open_tokenizer(&file);
    CHECK(tokenizer->assumes_cut, "a file without a pre-tokenizer is not told");
    clf_tokenizer_destroy(tokenizer);
}

/* llama.cpp would put token 11 before texts. */
static void no_bos(void **state)
{
    static const char *const keys[] = {"", "bos_token_id=4294967295", "add_bos_token=true"};
    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        const made_file file = {keys[i], "gpt2", "llama-bpe", keys[i], {BYTES3}};
        clf_gguf *gguf = open_made(&file);
        clf_tokenizer *tokenizer = NULL;
        CHECK_FAILS(clfi_tokenizer_of_gguf(gguf, &tokenizer), CLF_FORMAT, "texts get a bos token, and none is named");
        clfi_gguf_close(gguf);
    }
}

/* Bytes become the characters that they make as soon as those are whole. Only what is not UTF-8 becomes U+FFFD. */
static void decoded_bytes(void **state)
{
    static const made_file file = {"bytes",
                                   "llama",
                                   NULL,
                                   "",
                                   {"<unk>|#2", "<s>|#3", "</s>|#3", "a", "<0xC3>|#6", "<0xA9>|#6", "<0xF0>|#6", "<0x9F>|#6", "<0x41>|#6"}};
    static const struct {
        int32_t id;
        const char *text;
    } rows[] = {{4, ""}, {5, "\u00e9"}, {8, "A"}, {6, ""}, {7, ""}, {3, "\ufffda"}, {7, "\ufffd"}, {6, ""}};
    clf_tokenizer *tokenizer = open_tokenizer(&file);
    clf_token_decoder *decoder;
    clf_text text;
    (void)state;
    CHECK_OK(clf_token_decoder_create(tokenizer, 0, &decoder));
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_OK(clf_token_decoder_push(decoder, rows[i].id, &text));
        CHECK(text.size == strlen(rows[i].text) && memcmp(text.data, rows[i].text, text.size) == 0, "token %zu: \"%.*s\", want \"%s\"", i,
              (int)text.size, text.data, rows[i].text);
    }
    CHECK_OK(clf_token_decoder_finish(decoder, &text));
    CHECK(text.size == 3 && memcmp(text.data, "\ufffd", 3) == 0, "the end: \"%.*s\"", (int)text.size, text.data);
    clf_token_decoder_destroy(decoder);
    clf_tokenizer_destroy(tokenizer);
}

/* Roles by their keys, as chat templates name them. */
static void roles(void **state)
{
    static const made_file file = {
        "roles",
        "gpt2",
        "gpt-2",
        "bos_token_id=0 eos_token_id=1 unknown_token_id=2 seperator_token_id=3 padding_token_id=4 cls_token_id=5 "
        "mask_token_id=6",
        {"a", "b", "c", "d", "e", "f", "g"}};
    static const clf_token_role wanted[] = {CLF_TOKEN_BOS, CLF_TOKEN_EOS, CLF_TOKEN_UNK, CLF_TOKEN_SEP,
                                            CLF_TOKEN_PAD, CLF_TOKEN_CLS, CLF_TOKEN_MASK};
    (void)state;
    clf_tokenizer *tokenizer = open_tokenizer(&file);
    for (size_t i = 0; i < COUNT(wanted); i++)
        CHECK(clf_tokenizer_role(tokenizer, wanted[i]) == (int32_t)i, "role %zu: %d", i, (int)clf_tokenizer_role(tokenizer, wanted[i]));
    clf_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),      cmocka_unit_test(refused_names), cmocka_unit_test(long_runs),
                                       cmocka_unit_test(end_tokens), cmocka_unit_test(no_such_end),   cmocka_unit_test(encoded),
                                       cmocka_unit_test(no_bos),     cmocka_unit_test(decoded_bytes), cmocka_unit_test(roles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
