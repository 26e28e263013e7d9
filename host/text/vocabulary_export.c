/* SPDX-License-Identifier: MIT */
/* Converts tokenizer.json to a clf_vocabulary_spec, and checks the result on a text. */
#include "text/vocabulary_export.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary_cuts.h"
#include "text/vocabulary_spec.h"

static const char file_name[] = "tokenizer.json";
static const char space[] = "\u2581"; /* SentencePiece's sign for a space */

void clfi_vocabulary_export_free(clf_vocabulary_export *export)
{
    free(export->tokens);
    free(export->merges);
    free(export->scores);
    free(export->types);
    clfi_str_free(&export->texts);
    json_decref(export->root);
    clf_tokenizer_destroy(export->tokenizer);
    *export = (clf_vocabulary_export)CLF_VOCABULARY_EXPORT_INIT;
}

static bool is_type(const json_t *part, const char *type)
{
    const char *found = json_string_value(json_object_get(part, "type"));
    return found && strcmp(found, type) == 0;
}

static bool is_text(const json_t *part, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(part, key));
    return found && strcmp(found, text) == 0;
}

/* The number of parts of a chain: those of a Sequence, or the single one that it is. */
static size_t part_count(const json_t *chain, const char *key)
{
    return is_type(chain, "Sequence") ? json_array_size(json_object_get(chain, key)) : json_is_object(chain);
}

static const json_t *part_at(const json_t *chain, const char *key, size_t i)
{
    return is_type(chain, "Sequence") ? json_array_get(json_object_get(chain, key), i) : chain;
}

static clf_status fail_part(const char *part, const char *expected)
{
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s cannot be stored in GGUF: expected %s", file_name, part, expected);
}

/* Whether the normalizers replace spaces by SentencePiece's sign for them. *out: they also put one before the text. */
static bool are_spaces(const json_t *normalizer, bool *out)
{
    const size_t count = part_count(normalizer, "normalizers");
    const json_t *last = count ? part_at(normalizer, "normalizers", count - 1) : NULL;
    const json_t *first = count > 1 ? part_at(normalizer, "normalizers", 0) : NULL;
    *out = first != NULL;
    return count >= 1 && count <= 2 && is_type(last, "Replace") && is_text(json_object_get(last, "pattern"), "String", " ") &&
           is_text(last, "content", space) && (!first || (is_type(first, "Prepend") && is_text(first, "prepend", space)));
}

/* Whether a Metaspace pre-tokenizer that does not split replaces the spaces. *out: it also puts one before the text. */
static bool is_metaspace(const json_t *part, bool *out)
{
    const json_t *prefix = json_object_get(part, "add_prefix_space");
    *out = !is_text(part, "prepend_scheme", "never") && !json_is_false(prefix);
    return is_type(part, "Metaspace") && is_text(part, "replacement", space) && json_is_false(json_object_get(part, "split"));
}

static clf_status take_llama(const json_t *root, clf_vocabulary_export *out)
{
    const json_t *normalizer = json_object_get(root, "normalizer"), *pre = json_object_get(root, "pre_tokenizer");
    bool prefix;
    if (json_is_object(normalizer) ? !are_spaces(normalizer, &prefix) : !is_metaspace(pre, &prefix))
        return fail_part("normalizer", "spaces replaced by U+2581, with or without one put before the text");
    out->spec.model = "llama";
    out->spec.add_space_prefix = prefix;
    return CLF_OK;
}

static clf_status take_gpt2(const json_t *root, bool ignore_merges, clf_vocabulary_export *out)
{
    const json_t *normalizer = json_object_get(root, "normalizer");
    out->spec.model = "gpt2";
    out->spec.pre = clfi_vocabulary_cut_name(json_object_get(root, "pre_tokenizer"), ignore_merges);
    if (!out->spec.pre) {
        clf_str names = CLF_STR_INIT;
        clf_status st = clfi_vocabulary_cut_names(&names);
        if (st == CLF_OK)
            st = fail_part("pre_tokenizer", clfi_str_text(&names));
        clfi_str_free(&names);
        return st;
    }
    /* Qwen composes texts (NFC) first, which readers of GGUF files leave to their callers. */
    if (json_is_object(normalizer) && !(is_type(normalizer, "NFC") && strcmp(out->spec.pre, "qwen2") == 0))
        return fail_part("normalizer", "none, or qwen2's NFC");
    out->leaves_nfc = json_is_object(normalizer);
    return CLF_OK;
}

static clf_status take_model(const json_t *root, clf_vocabulary_export *out)
{
    const json_t *model;
    bool byte_fallback, ignore_merges;
    const char *type;
    CLF_TRY(clfi_json_get_object(root, file_name, "model", &model));
    CLF_TRY(clfi_json_opt_string(model, file_name, "type", "BPE", &type));
    if (strcmp(type, "BPE") != 0) {
        char part[96];
        snprintf(part, sizeof part, "model %.60s", type);
        return fail_part(part, "BPE, of bytes or with byte fallback");
    }
    CLF_TRY(clfi_json_opt_bool(model, file_name, "byte_fallback", false, &byte_fallback));
    CLF_TRY(clfi_json_opt_bool(model, file_name, "ignore_merges", false, &ignore_merges));
    return byte_fallback ? take_llama(root, out) : take_gpt2(root, ignore_merges, out);
}

static int32_t type_of(const clf_vocabulary_export *e, int32_t id, const char *text)
{
    const clf_tokenizer *t = e->tokenizer;
    if (strcmp(e->spec.model, "llama") == 0) {
        if (id == e->spec.unknown)
            return CLF_TOKEN_UNKNOWN;
        if (strlen(text) == 6 && strncmp(text, "<0x", 3) == 0 && text[5] == '>')
            return CLF_TOKEN_BYTE;
    }
    if (clfi_vocabulary_find(&t->added.ids, text, strlen(text)) != id)
        return CLF_TOKEN_NORMAL;
    return clf_tokenizer_is_special(t, id) ? CLF_TOKEN_CONTROL : CLF_TOKEN_USER_DEFINED;
}

/* Takes the tokens by id; an id without a token gets an unused one. */
static clf_status take_tokens(clf_vocabulary_export *e, size_t rows)
{
    enum { UNUSED_BYTES = 32 };
    const size_t known = clf_tokenizer_vocabulary_size(e->tokenizer);
    size_t holes = 0;
    if (known > rows)
        CLF_FAIL(CLF_UNSUPPORTED, "%s has %zu tokens, the model's embedding %zu rows: a GGUF file needs a row for each token", file_name,
                 known, rows);
    CLF_TRY(clfi_alloc(rows, sizeof *e->tokens, "tokens", &e->tokens));
    CLF_TRY(clfi_alloc(rows, sizeof *e->types, "types of tokens", &e->types));
    for (size_t i = 0; i < rows; i++)
        holes += !clf_tokenizer_token(e->tokenizer, (int32_t)i);
    char *unused = NULL;
    if (holes) { /* one piece of memory, so that earlier names stay where they are */
        CLF_TRY(clfi_alloc(holes, UNUSED_BYTES, "tokens", &unused));
        e->texts = (clf_str){unused, 0, holes * UNUSED_BYTES};
    }
    for (size_t i = 0; i < rows; i++) {
        const char *text = clf_tokenizer_token(e->tokenizer, (int32_t)i);
        e->types[i] = text ? type_of(e, (int32_t)i, text) : CLF_TOKEN_UNUSED;
        if (!text) {
            snprintf(unused, UNUSED_BYTES, "[PAD%zu]", i);
            text = unused;
            unused += UNUSED_BYTES;
        }
        e->tokens[i] = (clf_text){text, strlen(text)};
    }
    e->spec.tokens = e->tokens;
    e->spec.types = e->types;
    e->spec.token_count = rows;
    return CLF_OK;
}

/* The text "a b" of a merge, which belongs to the JSON value; a pair ["a", "b"] is replaced by its text there first. */
static clf_status merge_text(json_t *merges, size_t i, const char **out)
{
    const json_t *merge = json_array_get(merges, i);
    *out = json_string_value(merge);
    if (*out)
        return CLF_OK;
    const char *left = json_string_value(json_array_get(merge, 0)), *right = json_string_value(json_array_get(merge, 1));
    json_t *text = left && right ? json_sprintf("%s %s", left, right) : NULL;
    if (!text)
        CLF_FAIL(left && right ? CLF_OUT_OF_MEMORY : CLF_FORMAT, "%s: merge %zu", file_name, i);
    *out = json_string_value(text);
    if (json_array_set_new(merges, i, text) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: merges: not enough memory", file_name);
    return CLF_OK;
}

/* Makes SentencePiece's scores: the score of a token falls with the index of the first merge that makes it. */
static clf_status take_scores(clf_vocabulary_export *e)
{
    clf_str made = CLF_STR_INIT;
    clf_status st = clfi_alloc(e->spec.token_count, sizeof *e->scores, "scores", &e->scores);
    for (size_t i = 0; st == CLF_OK && i < e->spec.token_count; i++)
        e->scores[i] = e->types[i] == CLF_TOKEN_NORMAL || e->types[i] == CLF_TOKEN_USER_DEFINED ? -(float)e->spec.merge_count - 1 : 0;
    for (size_t i = e->spec.merge_count; st == CLF_OK && i-- > 0;) {
        const char *merge = e->merges[i].data, *cut = strchr(merge + 1, ' ');
        clfi_str_clear(&made);
        if (!cut)
            st = clfi_fail(CLF_FORMAT, "%s: merge %zu: expected two tokens", file_name, i);
        if (st == CLF_OK)
            st = clfi_str_append(&made, merge, (size_t)(cut - merge));
        if (st == CLF_OK)
            st = clfi_str_append_text(&made, cut + 1);
        const int32_t id = st == CLF_OK ? clf_tokenizer_id(e->tokenizer, clfi_str_text(&made)) : -1;
        if (id >= 0)
            e->scores[id] = -(float)i;
    }
    clfi_str_free(&made);
    e->spec.scores = e->scores;
    return st;
}

static clf_status take_merges(clf_vocabulary_export *e)
{
    json_t *merges = json_object_get(json_object_get(e->root, "model"), "merges");
    const size_t count = json_array_size(merges);
    CLF_TRY(clfi_alloc(count, sizeof *e->merges, "merges", &e->merges));
    for (size_t i = 0; i < count; i++) {
        const char *text;
        CLF_TRY(merge_text(merges, i, &text));
        e->merges[i] = (clf_text){text, strlen(text)};
    }
    e->spec.merge_count = count;
    if (strcmp(e->spec.model, "llama") == 0) {
        CLF_TRY(take_scores(e));
        e->spec.merge_count = 0;
        return CLF_OK;
    }
    e->spec.merges = e->merges;
    return CLF_OK;
}

/* Takes the token before a text as bos and the one after it as eos. Refuses more than one token on a side. */
static clf_status take_ends(clf_vocabulary_export *e, clf_encoding *encoding)
{
    const clf_text text = {"a", 1};
    size_t before = 0, behind = 0;
    CLF_TRY(clf_tokenizer_encode(e->tokenizer, &text, NULL, NULL, encoding));
    const size_t length = encoding->length;
    while (before < length && encoding->special_mask[before])
        before++;
    while (behind < length - before && encoding->special_mask[length - 1 - behind])
        behind++;
    if (before > 1 || behind > 1)
        return fail_part("post_processor", "at most one token before a text and one after it");
    e->spec.add_bos = before > 0;
    e->spec.add_eos = behind > 0;
    if (before)
        e->spec.bos = encoding->ids[0];
    if (behind)
        e->spec.eos = encoding->ids[length - 1];
    return CLF_OK;
}

/* The test text has a bit of everything: words, endings, digits, spaces, lines, signs, letters of several scripts, an emoji of several code
 * points. */
static const char probe[] =
    "The cat's  sat, on 12345 mats! I'M don\u2019t   x=y+z; (a_b) \n\n\tfoo\r\n  bar 3.14  \u00e9t\u00e9 \u6f22\u5b57\u304b\u306a "
    "\u043f\u0440\u0438\u0432\u0435\u0442 \u0627\u0644 \U0001f468\u200d\U0001f469 https://a.b/?c=%20 ";

static bool is_same(const clf_encoding *a, const clf_encoding *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->ids, b->ids, a->length * sizeof *a->ids) == 0);
}

static clf_status prove(const clf_vocabulary_export *e, clf_encoding *expected)
{
    const clf_text text = {probe, sizeof probe - 1};
    clf_tokenizer *made = NULL;
    clf_encoding *found = NULL;
    clf_status st;
    CLF_GOTO(clfi_tokenizer_from_spec(&e->spec, &(clf_token_strips){.drops_first = true}, file_name, &made));
    CLF_GOTO(clf_encoding_create(&found));
    CLF_GOTO(clf_tokenizer_encode(e->tokenizer, &text, NULL, NULL, expected));
    CLF_GOTO(clf_tokenizer_encode(made, &text, NULL, NULL, found));
    if (!is_same(expected, found))
        st = clfi_fail(CLF_UNSUPPORTED, "%s: as GGUF's \"%s\" it would split texts into other tokens", file_name, e->spec.model);
done:
    clf_encoding_destroy(found);
    clf_tokenizer_destroy(made);
    return st;
}

static clf_status read_root(const char *directory, json_t **out)
{
    char *path;
    CLF_TRY(clfi_file_find(directory, file_name, &path));
    if (!path)
        CLF_FAIL(CLF_NOT_FOUND, "%s: expected %s, there is none", directory, file_name);
    free(path);
    return clfi_tokenizer_read_root(directory, out);
}

clf_status clfi_vocabulary_export(const char *directory, size_t rows, clf_vocabulary_export *out)
{
    clf_encoding *encoding = NULL;
    const char *unknown;
    clf_status st;
    CLF_GOTO(read_root(directory, &out->root));
    CLF_GOTO(take_model(out->root, out));
    CLF_GOTO(clf_tokenizer_open(directory, &out->tokenizer));
    if (out->tokenizer->splits_special)
        CLF_GOTO(clfi_fail(CLF_UNSUPPORTED, "tokenizer_config.json: split_special_tokens cannot be stored in GGUF: expected false"));
    out->spec.bos = clf_tokenizer_role(out->tokenizer, CLF_TOKEN_BOS);
    out->spec.eos = clf_tokenizer_role(out->tokenizer, CLF_TOKEN_EOS);
    out->spec.unknown = clf_tokenizer_role(out->tokenizer, CLF_TOKEN_UNK);
    unknown = json_string_value(json_object_get(json_object_get(out->root, "model"), "unk_token"));
    if (out->spec.unknown < 0 && unknown)
        out->spec.unknown = clf_tokenizer_id(out->tokenizer, unknown);
    out->spec.padding = clf_tokenizer_role(out->tokenizer, CLF_TOKEN_PAD);
    out->spec.classification = clf_tokenizer_role(out->tokenizer, CLF_TOKEN_CLS);
    out->spec.mask = clf_tokenizer_role(out->tokenizer, CLF_TOKEN_MASK);
    CLF_GOTO(take_tokens(out, rows));
    CLF_GOTO(take_merges(out));
    CLF_GOTO(clf_encoding_create(&encoding));
    CLF_GOTO(take_ends(out, encoding));
    CLF_GOTO(prove(out, encoding));
done:
    clf_encoding_destroy(encoding);
    return st;
}
