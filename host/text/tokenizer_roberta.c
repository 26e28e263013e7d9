/* SPDX-License-Identifier: MIT */
/* Reads RoBERTa's vocab.json and merges.txt. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/json.h"
#include "text/tokenizer_files.h"
#include "text/tokenizer_make.h"
#include "text/tokenizer_parts.h"
#include "text/tokenizer_slow.h"
#include "text/vocabulary.h"

static const char *const standard[CLF_TOKEN_ROLE_COUNT] = {
    [CLF_TOKEN_BOS] = "<s>",   [CLF_TOKEN_EOS] = "</s>", [CLF_TOKEN_UNK] = "<unk>",   [CLF_TOKEN_SEP] = "</s>",
    [CLF_TOKEN_PAD] = "<pad>", [CLF_TOKEN_CLS] = "<s>",  [CLF_TOKEN_MASK] = "<mask>",
};

static const char *name_of(const json_t *config, clf_token_role role)
{
    const char *given = clfi_named_content(json_object_get(config, clfi_token_role_keys[role]));
    return given ? given : standard[role];
}

/* Reads one merge "a b" from each line; lines with "#version" at their start are skipped. */
static clf_status list_merges(const char *text, size_t text_size, const char *name, json_t *list)
{
    size_t line = 0;
    for (const char *at = text, *end; at < text + text_size; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        const size_t size = (size_t)(end - at) - (end > at && end[-1] == '\r');
        const char *space = memchr(at, ' ', size);
        line++;
        if (*end == '\0' && end < text + text_size)
            CLF_FAIL(CLF_FORMAT, "%s: line %zu: expected text, found a NUL", name, line);
        if (size == 0 || strncmp(at, "#version", strlen("#version")) == 0)
            continue;
        if (!space || space == at || space + 1 == at + size || memchr(space + 1, ' ', size - (size_t)(space + 1 - at)))
            CLF_FAIL(CLF_FORMAT, "%s: line %zu: expected two tokens with a space between", name, line);
        CLF_TRY(clfi_make_append(list, json_stringn(at, size)));
    }
    return CLF_OK;
}

static clf_status read_merges(const char *directory, json_t *model)
{
    clf_status st;
    char *path = NULL;
    clf_str text = CLF_STR_INIT;
    json_t *list = json_array();
    CLF_GOTO(clfi_make_set(model, "merges", list));
    CLF_GOTO(clfi_path_join(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_MERGES], &path));
    CLF_GOTO(clfi_text_read(path, CLFI_MODEL_FILE_BYTES, &text));
    st = list_merges(clfi_str_text(&text), text.length, path, list);
done:
    clfi_str_free(&text);
    free(path);
    return st;
}

/* Adds the tokens of the roles. A role that the configuration gives as an object is added later, with that object's flags. */
static clf_status add_specials(const json_t *vocab, const json_t *config, json_t *root)
{
    json_t *list = json_array();
    CLF_TRY(clfi_make_set(root, "added_tokens", list));
    for (size_t i = 0; i < CLF_TOKEN_ROLE_COUNT; i++) {
        const char *name = name_of(config, (clf_token_role)i);
        const json_t *id = json_object_get(vocab, name);
        if (json_is_integer(id) && !json_is_object(json_object_get(config, clfi_token_role_keys[i])))
            CLF_TRY(clfi_make_added(list, name, json_integer_value(id), true, i == CLF_TOKEN_MASK));
    }
    return CLF_OK;
}

static clf_status make(const char *directory, json_t *vocab, const char *path, const json_t *config, json_t *root)
{
    const char *cls = name_of(config, CLF_TOKEN_CLS), *sep = name_of(config, CLF_TOKEN_SEP);
    int64_t cls_id, sep_id;
    bool adds_space;
    CLF_TRY(clfi_json_opt_bool(config, clfi_tokenizer_files[CLF_TOKENIZER_FILE_CONFIG], "add_prefix_space", false, &adds_space));
    CLF_TRY(clfi_json_get_int(vocab, path, cls, 0, CLFI_VOCABULARY_MAX_ID, &cls_id));
    CLF_TRY(clfi_json_get_int(vocab, path, sep, 0, CLFI_VOCABULARY_MAX_ID, &sep_id));
    json_t *model = json_pack("{s:s, s:O}", "type", "BPE", "vocab", vocab);
    CLF_TRY(clfi_make_set(root, "model", model));
    CLF_TRY(read_merges(directory, model));
    CLF_TRY(clfi_make_set(
        root, "pre_tokenizer",
        json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", adds_space, "trim_offsets", 1, "use_regex", 1)));
    CLF_TRY(clfi_make_set(
        root, "decoder", json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 1, "trim_offsets", 1, "use_regex", 1)));
    CLF_TRY(clfi_make_set(root, "post_processor",
                          json_pack("{s:s, s:[s, I], s:[s, I], s:b, s:b}", "type", "RobertaProcessing", "sep", sep, (json_int_t)sep_id,
                                    "cls", cls, (json_int_t)cls_id, "trim_offsets", 1, "add_prefix_space", adds_space)));
    return add_specials(vocab, config, root);
}

clf_status clfi_tokenizer_make_roberta(const char *directory, const json_t *config, json_t *root)
{
    clf_status st;
    char *path = NULL;
    json_t *vocab = NULL, *none = json_object();
    CLF_GOTO(none ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "%s: tokenizer: not enough memory", directory));
    CLF_GOTO(clfi_path_join(directory, clfi_tokenizer_files[CLF_TOKENIZER_FILE_VOCAB_JSON], &path));
    CLF_GOTO(clfi_json_read(path, CLFI_MODEL_FILE_BYTES, &vocab));
    st = make(directory, vocab, path, config ? config : none, root);
done:
    json_decref(vocab);
    json_decref(none);
    free(path);
    return st;
}
