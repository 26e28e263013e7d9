/* SPDX-License-Identifier: MIT */
/* Post-processing templates and truncation. */
#include "text/post_processor.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/json.h"

void clfi_post_processor_free(clf_post_processor *processor)
{
    free(processor->single.pieces);
    free(processor->pair.pieces);
    *processor = (clf_post_processor){0};
}

static clf_status add_piece(clf_template *template, clf_piece_kind kind, int32_t id, int32_t type_id)
{
    CLF_TRY(clfi_grow(&template->pieces, &template->capacity, template->count + 1, sizeof *template->pieces, "template"));
    template->pieces[template->count++] = (clf_template_piece){kind, id, type_id};
    template->added += kind == CLF_PIECE_TOKEN;
    return CLF_OK;
}

/* One letter for a piece: A and B the sequences, c and s special tokens; a digit after it is the type. */
static clf_status build(clf_template *template, const char *pattern, int32_t cls, int32_t sep)
{
    for (; *pattern; pattern += 2) {
        const clf_piece_kind kind = *pattern == 'A' ? CLF_PIECE_FIRST : *pattern == 'B' ? CLF_PIECE_SECOND : CLF_PIECE_TOKEN;
        CLF_TRY(add_piece(template, kind, *pattern == 's' ? sep : cls, pattern[1] - '0'));
    }
    return CLF_OK;
}

static clf_status build_both(clf_post_processor *processor, const char *single, const char *pair, int32_t cls, int32_t sep)
{
    CLF_TRY(build(&processor->single, single, cls, sep));
    return build(&processor->pair, pair, cls, sep);
}

clf_status clfi_post_processor_bert(int32_t cls, int32_t sep, clf_post_processor *processor)
{
    return build_both(processor, "c0A0s0", "c0A0s0B1s1", cls, sep);
}

/* ["[SEP]", 102] */
static clf_status read_token_pair(const json_t *json, const char *where, const char *key, int32_t *id)
{
    const json_t *pair;
    CLF_TRY(clfi_json_get_array(json, where, key, &pair));
    const json_t *value = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_string(json_array_get(pair, 0)) || !json_is_integer(value) ||
        json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX) {
        char found[CLFI_JSON_FOUND_BYTES];
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected [token, id], found %s", where, key, clfi_json_found(pair, found));
    }
    *id = (int32_t)json_integer_value(value);
    return CLF_OK;
}

/* Appends every id of the special token that a template names. */
static clf_status read_special(const json_t *tokens, const char *where, const char *name, int32_t type_id, clf_template *template)
{
    const json_t *token, *ids;
    CLF_TRY(clfi_json_get_object(tokens, where, name, &token));
    CLF_TRY(clfi_json_get_array(token, where, "ids", &ids));
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *id = json_array_get(ids, i);
        if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX) {
            char found[CLFI_JSON_FOUND_BYTES];
            CLF_FAIL(CLF_FORMAT, "%s: special_tokens: \"%s\": expected token ids, found %s", where, name, clfi_json_found(id, found));
        }
        CLF_TRY(add_piece(template, CLF_PIECE_TOKEN, (int32_t)json_integer_value(id), type_id));
    }
    return CLF_OK;
}

static clf_status read_piece(const json_t *piece, const json_t *tokens, const char *where, clf_template *template)
{
    const json_t *sequence, *special;
    const char *id;
    int64_t type_id;
    CLF_TRY(clfi_json_opt_object(piece, where, "Sequence", &sequence));
    CLF_TRY(clfi_json_opt_object(piece, where, "SpecialToken", &special));
    if (!sequence == !special) {
        char found[CLFI_JSON_FOUND_BYTES];
        CLF_FAIL(CLF_FORMAT, "%s: expected a Sequence or a SpecialToken, found %s", where, clfi_json_found(piece, found));
    }
    const json_t *body = sequence ? sequence : special;
    CLF_TRY(clfi_json_get_string(body, where, "id", &id));
    CLF_TRY(clfi_json_get_int(body, where, "type_id", 0, INT32_MAX, &type_id));
    if (special)
        return read_special(tokens, where, id, (int32_t)type_id, template);
    if (strcmp(id, "A") != 0 && strcmp(id, "B") != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected Sequence \"A\" or \"B\", found \"%s\"", where, id);
    return add_piece(template, id[0] == 'A' ? CLF_PIECE_FIRST : CLF_PIECE_SECOND, 0, (int32_t)type_id);
}

static clf_status read_template(const json_t *json, const char *where, const char *key, bool is_pair, clf_template *template)
{
    const json_t *pieces, *tokens;
    CLF_TRY(clfi_json_get_array(json, where, key, &pieces));
    CLF_TRY(clfi_json_get_object(json, where, "special_tokens", &tokens));
    for (size_t i = 0; i < json_array_size(pieces); i++)
        CLF_TRY(read_piece(json_array_get(pieces, i), tokens, where, template));
    size_t times[2] = {0, 0};
    for (size_t i = 0; i < template->count; i++)
        if (template->pieces[i].kind != CLF_PIECE_TOKEN)
            times[template->pieces[i].kind == CLF_PIECE_SECOND]++;
    if (times[0] != 1 || times[1] != is_pair)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected %s, found A %zu and B %zu times", where, key,
                 is_pair ? "A and B once each" : "A once alone", times[0], times[1]);
    return CLF_OK;
}

clf_status clfi_post_processor_read(const json_t *json, const char *where, clf_post_processor *processor)
{
    const char *type;
    int32_t cls, sep;
    if (!json)
        return build_both(processor, "A0", "A0B1", 0, 0);
    CLF_TRY(clfi_json_get_string(json, where, "type", &type));
    if (strcmp(type, "TemplateProcessing") == 0) {
        CLF_TRY(read_template(json, where, "single", false, &processor->single));
        return read_template(json, where, "pair", true, &processor->pair);
    }
    const bool bert = strcmp(type, "BertProcessing") == 0;
    if (!bert && strcmp(type, "RobertaProcessing") != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: type \"%s\"; known are TemplateProcessing, BertProcessing and RobertaProcessing", where, type);
    CLF_TRY(read_token_pair(json, where, "cls", &cls));
    CLF_TRY(read_token_pair(json, where, "sep", &sep));
    return bert ? clfi_post_processor_bert(cls, sep, processor) : build_both(processor, "c0A0s0", "c0A0s0s0B0s0", cls, sep);
}

void clfi_truncate_pair(size_t room, size_t *n1, size_t *n2)
{
    if (*n1 <= room && *n2 <= room - *n1)
        return;
    size_t *shorter = *n1 > *n2 ? n2 : n1, *longer = *n1 > *n2 ? n1 : n2;
    if (*shorter <= room / 2) {
        *longer = room - *shorter;
    } else { /* halves; the odd token goes to the longer one, of equals to the second */
        *shorter = room / 2;
        *longer = room - room / 2;
    }
}
