/* SPDX-License-Identifier: MIT */
/* Reads the post-processors of tokenizer.json and makes those of known models: templates that add special tokens. Also truncates pairs of
 * texts. */
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

static clf_status add_piece(clf_template_processing *template, clf_piece_kind kind, int32_t id, int32_t type_id)
{
    CLF_TRY(clfi_grow(&template->pieces, &template->capacity, template->count + 1, sizeof *template->pieces, "template"));
    template->pieces[template->count++] = (clf_template_piece){kind, id, type_id};
    template->added += kind == CLF_PIECE_TOKEN;
    return CLF_OK;
}

/* Two characters per piece: A or B (the sequences), c or s (the ids cls and sep), then the digit of the token type. */
static clf_status build(clf_template_processing *template, const char *pattern, int32_t cls, int32_t sep)
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

static clf_status build_around(clf_template_processing *template, clf_piece_kind kind, int32_t type_id, int32_t before, int32_t behind)
{
    if (before >= 0)
        CLF_TRY(add_piece(template, CLF_PIECE_TOKEN, before, type_id));
    CLF_TRY(add_piece(template, kind, 0, type_id));
    return behind >= 0 ? add_piece(template, CLF_PIECE_TOKEN, behind, type_id) : CLF_OK;
}

clf_status clfi_post_processor_around(int32_t before, int32_t behind, clf_post_processor *processor)
{
    CLF_TRY(build_around(&processor->single, CLF_PIECE_FIRST, 0, before, behind));
    CLF_TRY(build_around(&processor->pair, CLF_PIECE_FIRST, 0, before, behind));
    return build_around(&processor->pair, CLF_PIECE_SECOND, 1, before, behind);
}

/* Reads a token and its id, for example ["[SEP]", 102]. */
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
static clf_status read_special(const json_t *tokens, const char *where, const char *name, int32_t type_id,
                               clf_template_processing *template)
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

static clf_status read_piece(const json_t *piece, const json_t *tokens, const char *where, clf_template_processing *template)
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

static clf_status read_template(const json_t *json, const char *where, const char *key, bool is_pair, clf_template_processing *template)
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

static void destroy(void *settings)
{
    if (settings)
        clfi_post_processor_free(settings);
    free(settings);
}

static clf_status read_templates(const json_t *json, const char *where, clf_post_processor *processor)
{
    CLF_TRY(read_template(json, where, "single", false, &processor->single));
    return read_template(json, where, "pair", true, &processor->pair);
}

static clf_status read_cls_sep(const json_t *json, const char *where, const char *single, const char *pair, clf_post_processor *processor)
{
    int32_t cls, sep;
    CLF_TRY(read_token_pair(json, where, "cls", &cls));
    CLF_TRY(read_token_pair(json, where, "sep", &sep));
    return build_both(processor, single, pair, cls, sep);
}

static clf_status read_bert(const json_t *json, const char *where, clf_post_processor *processor)
{
    return read_cls_sep(json, where, "c0A0s0", "c0A0s0B1s1", processor);
}

static clf_status read_trim(const json_t *json, const char *where, clf_post_processor *processor)
{
    CLF_TRY(clfi_json_opt_bool(json, where, "trim_offsets", true, &processor->trims));
    return clfi_json_opt_bool(json, where, "add_prefix_space", true, &processor->add_prefix_space);
}

static clf_status read_roberta(const json_t *json, const char *where, clf_post_processor *processor)
{
    CLF_TRY(read_trim(json, where, processor));
    return read_cls_sep(json, where, "c0A0s0", "c0A0s0s0B0s0", processor);
}

static clf_status read_new(clf_status (*read)(const json_t *, const char *, clf_post_processor *), const json_t *json, const char *where,
                           void **out)
{
    clf_post_processor *processor;
    CLF_TRY(clfi_alloc(1, sizeof *processor, "post-processor", &processor));
    const clf_status st = read(json, where, processor);
    if (st != CLF_OK)
        destroy(processor);
    else
        *out = processor;
    return st;
}

#define ROW(name, type)                                                             \
    static clf_status new_##name(const json_t *json, const char *where, void **out) \
    {                                                                               \
        return read_new(read_##name, json, where, out);                             \
    }                                                                               \
    static const clf_part_kind name##_row = {type, new_##name, destroy};

ROW(templates, "TemplateProcessing")
ROW(bert, "BertProcessing")
ROW(roberta, "RobertaProcessing")
ROW(trim, "ByteLevel")

static const clf_part_kind *const rows[] = {&templates_row, &bert_row, &roberta_row, &trim_row};
static const clf_part_table table = {rows, COUNT(rows), "processors"};

/* Merges the parts of a chain: takes the template of the only part that has one, and trims if any part trims. */
static clf_status merge(clf_chain *chain, const char *where, clf_post_processor *processor)
{
    for (size_t i = 0; i < chain->count; i++) {
        clf_post_processor *part = chain->parts[i].settings;
        if (part->trims) {
            processor->trims = true;
            processor->add_prefix_space = part->add_prefix_space;
        }
        if (!part->single.count)
            continue;
        if (processor->single.count)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: expected one part that adds tokens, found %s and another one", where,
                     chain->parts[i].kind->type);
        processor->single = part->single;
        processor->pair = part->pair;
        part->single = part->pair = (clf_template_processing){0};
    }
    return processor->single.count ? CLF_OK : build_both(processor, "A0", "A0B1", 0, 0);
}

clf_status clfi_post_processor_read(const json_t *json, const char *where, clf_post_processor *processor)
{
    clf_chain chain = {0};
    clf_status st = clfi_chain_read(json, where, &table, &chain);
    if (st == CLF_OK)
        st = merge(&chain, where, processor);
    clfi_chain_free(&chain);
    return st;
}

void clfi_truncate_pair(size_t room, size_t *n1, size_t *n2)
{
    if (*n1 <= room && *n2 <= room - *n1)
        return;
    size_t *shorter = *n1 > *n2 ? n2 : n1, *longer = *n1 > *n2 ? n1 : n2;
    if (*shorter <= room / 2) {
        *longer = room - *shorter;
    } else { /* half each; an odd token goes to the longer text, or to the second if both are equally long */
        *shorter = room / 2;
        *longer = room - room / 2;
    }
}
