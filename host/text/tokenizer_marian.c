/* SPDX-License-Identifier: MIT */
/* Makes the parts of a tokenizer.json from Marian's files. */
#include "text/tokenizer_marian.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"
#include "io/sentencepiece.h"
#include "text/tokenizer.h"
#include "text/tokenizer_make.h"
#include "text/tokenizer_parts.h"
#include "text/vocabulary.h"

static const char end_token[] = "</s>", unknown_token[] = "<unk>", pad_token[] = "<pad>";

static clf_status check(json_t *made)
{
    return made ? CLF_OK : clfi_fail(CLF_OUT_OF_MEMORY, "not enough memory for a tokenizer");
}

/* Lists [token, null] for each id. No text is divided into such a token until a piece gives it a score. */
static clf_status list_tokens(const json_t *vocab, const char *name, json_t *list)
{
    const size_t count = json_object_size(vocab);
    const char *token;
    json_t *id;
    if (!json_is_object(vocab) || count == 0 || count > CLFI_VOCABULARY_MAX_ID)
        CLF_FAIL(CLF_FORMAT, "%s: expected an object with the id of each token", name);
    for (size_t i = 0; i < count; i++)
        CLF_TRY(clfi_make_append(list, json_null()));
    json_object_foreach((json_t *)vocab, token, id)
    {
        const json_int_t number = json_is_integer(id) ? json_integer_value(id) : -1;
        if (number < 0 || (size_t)number >= count || !json_is_null(json_array_get(list, (size_t)number)))
            CLF_FAIL(CLF_FORMAT, "%s: \"%s\": expected ids from 0 to %zu, each once", name, token, count - 1);
        json_t *row = json_pack("[s, n]", token);
        CLF_TRY(check(row));
        json_array_set_new(list, (size_t)number, row);
    }
    return CLF_OK;
}

static clf_status score_pieces(const clf_sentencepiece *spm, const json_t *vocab, json_t *list)
{
    for (size_t i = 0; i < spm->count; i++) {
        const clf_sentencepiece_piece *piece = &spm->pieces[i];
        const json_t *id = piece->type == CLF_PIECE_NORMAL ? json_object_getn(vocab, piece->text, piece->size) : NULL;
        json_t *row = id ? json_array_get(list, (size_t)json_integer_value(id)) : NULL;
        if (row && json_array_set_new(row, 1, json_real((double)piece->score)) != 0)
            return check(NULL);
    }
    return CLF_OK;
}

static clf_status set_template(json_int_t end, json_t *root)
{
    json_t *single =
        json_pack("[{s:{s:s, s:i}}, {s:{s:s, s:i}}]", "Sequence", "id", "A", "type_id", 0, "SpecialToken", "id", end_token, "type_id", 0);
    json_t *pair = json_pack("[{s:{s:s, s:i}}, {s:{s:s, s:i}}, {s:{s:s, s:i}}]", "Sequence", "id", "A", "type_id", 0, "Sequence", "id", "B",
                             "type_id", 0, "SpecialToken", "id", end_token, "type_id", 0);
    json_t *tokens = json_pack("{s:{s:s, s:[I], s:[s]}}", end_token, "id", end_token, "ids", end, "tokens", end_token);
    return clfi_make_set(
        root, "post_processor",
        json_pack("{s:s, s:o, s:o, s:o}", "type", "TemplateProcessing", "single", single, "pair", pair, "special_tokens", tokens));
}

/* Adds the three tokens that every vocabulary has. Languages are found only at the start of a text: clf_tokenizer.has_languages. */
static clf_status set_added(const json_t *vocab, json_t *root)
{
    const char *token;
    json_t *id, *list = json_array();
    CLF_TRY(clfi_make_set(root, "added_tokens", list));
    json_object_foreach((json_t *)vocab, token, id)
    {
        if (strcmp(token, end_token) == 0 || strcmp(token, unknown_token) == 0 || strcmp(token, pad_token) == 0)
            CLF_TRY(clfi_make_added(list, token, json_integer_value(id), true, false));
    }
    return CLF_OK;
}

static clf_status make(const clf_sentencepiece *spm, const char *spm_name, const json_t *vocab, const char *vocab_name, json_t *root)
{
    int64_t end, unknown;
    CLF_TRY(clfi_make_check_pieces(spm, spm_name));
    CLF_TRY(clfi_json_get_int(vocab, vocab_name, end_token, 0, CLFI_VOCABULARY_MAX_ID, &end));
    CLF_TRY(clfi_json_get_int(vocab, vocab_name, unknown_token, 0, CLFI_VOCABULARY_MAX_ID, &unknown));
    json_t *list = json_array();
    CLF_TRY(clfi_make_set(root, "model", json_pack("{s:s, s:I, s:o}", "type", "Unigram", "unk_id", (json_int_t)unknown, "vocab", list)));
    CLF_TRY(list_tokens(vocab, vocab_name, list));
    CLF_TRY(score_pieces(spm, vocab, list));
    CLF_TRY(clfi_make_piece_chains(spm, true, root));
    CLF_TRY(set_template((json_int_t)end, root));
    return set_added(vocab, root);
}

clf_status clfi_tokenizer_open_marian(const char *spm_path, const char *vocab_path, clf_tokenizer **out)
{
    clf_status st;
    clf_str bytes = CLF_STR_INIT;
    clf_sentencepiece spm = {.pieces = NULL};
    json_t *vocab = NULL, *root = json_object();
    CLF_GOTO(check(root));
    CLF_GOTO(clfi_file_read(spm_path, CLFI_MODEL_FILE_BYTES, &bytes));
    CLF_GOTO(clfi_sentencepiece_parse(clfi_str_text(&bytes), bytes.length, spm_path, &spm));
    CLF_GOTO(clfi_json_read(vocab_path, CLFI_MODEL_FILE_BYTES, &vocab));
    CLF_GOTO(make(&spm, spm_path, vocab, vocab_path, root));
    CLF_GOTO(clfi_tokenizer_from_parts(root, vocab_path, NULL, NULL, out));
    (*out)->has_languages = true;
done:
    json_decref(root);
    json_decref(vocab);
    clfi_sentencepiece_free(&spm);
    clfi_str_free(&bytes);
    return st;
}
