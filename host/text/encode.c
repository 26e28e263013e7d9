/* SPDX-License-Identifier: MIT */
/* Encoding: repair of the bytes, added tokens, normalisation, words, ids, truncation, template. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/pretokenizer_bert.h"
#include "text/tokenizer_parts.h"

/* Text is normalised in portions of about this size, so that a long text that gets cut is not read to its end. */
enum { PORTION_BYTES = 4096 };

typedef struct clf_encode_workspace {
    clf_str repaired;   /* text with U+FFFD for what is not UTF-8 */
    clf_str normalized; /* portion of the text in normal form */
    clf_combining_run run;
    clf_id_list ids[2]; /* tokens of the two sequences */
} clf_encode_workspace;

void clfi_encoding_free(clf_encoding *encoding)
{
    clf_encode_workspace *work = encoding->workspace;
    if (work) {
        clfi_str_free(&work->repaired);
        clfi_str_free(&work->normalized);
        free(work->run.code);
        free(work->ids[0].id);
        free(work->ids[1].id);
        free(work);
    }
    free(encoding->ids);
    free(encoding->type_ids);
    *encoding = (clf_encoding)CLF_ENCODING_INIT;
}

/* Points *text at well-formed UTF-8: at itself, or at a copy with replacement characters. */
static clf_status repair(clf_encode_workspace *work, const char **text, size_t *size)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    size_t good = clfi_utf8_check(bytes, *size);
    if (good == *size)
        return CLF_OK;
    clfi_str_clear(&work->repaired);
    CLF_TRY(clfi_str_append(&work->repaired, bytes, good));
    while (good < *size) {
        uint32_t code;
        good += clfi_utf8_decode(bytes + good, *size - good, &code);
        CLF_TRY(clfi_str_append_code_point(&work->repaired, code == CLFI_UTF8_INVALID ? 0xfffd : code));
    }
    *text = work->repaired.data;
    *size = work->repaired.length;
    return CLF_OK;
}

/* Words of a normalised text. */
static clf_status encode_words(const clf_tokenizer *tokenizer, const char *text, size_t size, size_t enough, clf_id_list *ids)
{
    clf_word word;
    for (size_t at = 0; ids->count < enough && clfi_pretokenize_bert(text, size, &at, &word);)
        CLF_TRY(tokenizer->kind->encode(tokenizer->model, text + word.start, word.size, ids));
    return CLF_OK;
}

/* A normalised text: added tokens that are looked for in it, and the words between them. */
static clf_status encode_normalized(const clf_tokenizer *tokenizer, const clf_str *text, size_t enough, clf_id_list *ids)
{
    if (tokenizer->added.normalized.count == 0)
        return encode_words(tokenizer, text->data, text->length, enough, ids);
    clf_segment_walk walk = {0};
    clf_segment segment;
    while (ids->count < enough && clfi_added_next(&tokenizer->added.normalized, text->data, text->length, &walk, &segment)) {
        if (segment.id >= 0)
            CLF_TRY(clfi_id_list_append(ids, segment.id));
        else
            CLF_TRY(encode_words(tokenizer, text->data + segment.start, segment.end - segment.start, enough, ids));
    }
    return CLF_OK;
}

/* Where the portion that begins at `start` ends: behind an ASCII space or line end, across which neither words nor combining characters
 * reach, or at the end of the text. */
static size_t portion_end(const char *text, size_t start, size_t size)
{
    if (size - start <= PORTION_BYTES)
        return size;
    for (size_t i = start + PORTION_BYTES; i < size; i++)
        if (text[i] == ' ' || text[i] == '\n')
            return i + 1;
    return size;
}

/* Raw text without added tokens of the raw kind. */
static clf_status encode_raw(const clf_tokenizer *tokenizer, const char *text, size_t size, size_t enough, clf_encode_workspace *work,
                             clf_id_list *ids)
{
    const bool whole = tokenizer->added.normalized.count > 0; /* an added token may hold the spaces where portions end */
    for (size_t start = 0, end; start < size && ids->count < enough; start = end) {
        end = whole ? size : portion_end(text, start, size);
        clfi_str_clear(&work->normalized);
        CLF_TRY(clfi_normalize_bert(&tokenizer->normalizer, text + start, end - start, &work->run, &work->normalized));
        CLF_TRY(encode_normalized(tokenizer, &work->normalized, enough, ids));
    }
    return CLF_OK;
}

/* Tokens of one sequence into `ids`; stops once there are `enough`. */
static clf_status encode_sequence(const clf_tokenizer *tokenizer, const char *text, size_t size, size_t enough, clf_encode_workspace *work,
                                  clf_id_list *ids)
{
    ids->count = 0;
    work->run.count = 0;
    if (size == 0)
        return CLF_OK;
    CLF_TRY(repair(work, &text, &size));
    clf_segment_walk walk = {0};
    clf_segment segment;
    while (ids->count < enough && clfi_added_next(&tokenizer->added.raw, text, size, &walk, &segment)) {
        if (segment.id >= 0)
            CLF_TRY(clfi_id_list_append(ids, segment.id));
        else
            CLF_TRY(encode_raw(tokenizer, text + segment.start, segment.end - segment.start, enough, work, ids));
    }
    return CLF_OK;
}

static clf_status reserve(clf_encoding *out, size_t length)
{
    size_t capacity = out->capacity, type_capacity = out->capacity;
    CLF_TRY(clfi_grow(&out->ids, &capacity, length, sizeof *out->ids, "token ids"));
    CLF_TRY(clfi_grow(&out->type_ids, &type_capacity, length, sizeof *out->type_ids, "token type ids"));
    out->capacity = type_capacity;
    return CLF_OK;
}

static clf_status apply_template(const clf_template *template, bool add_special_tokens, const clf_id_list ids[2], const size_t count[2],
                                 clf_encoding *out)
{
    size_t length = 0;
    CLF_TRY(reserve(out, count[0] + count[1] + template->added));
    for (size_t i = 0; i < template->count; i++) {
        const clf_template_piece *piece = &template->pieces[i];
        const bool special = piece->kind == CLF_PIECE_TOKEN;
        if (special && !add_special_tokens)
            continue;
        const size_t which = piece->kind == CLF_PIECE_SECOND, size = special ? 1 : count[which];
        const int32_t *source = special ? &piece->id : ids[which].id;
        if (size)
            memcpy(out->ids + length, source, size * sizeof *source);
        for (size_t k = 0; k < size; k++)
            out->type_ids[length + k] = piece->type_id;
        length += size;
    }
    out->length = length;
    return CLF_OK;
}

clf_status clfi_tokenizer_encode(const clf_tokenizer *tokenizer, const char *text, size_t size, const char *pair, size_t pair_size,
                                 const clf_encode_options *options, clf_encoding *out)
{
    const clf_encode_options standard = CLF_ENCODE_OPTIONS_INIT;
    const clf_encode_options *o = options ? options : &standard;
    const clf_template *template = pair ? &tokenizer->post_processor.pair : &tokenizer->post_processor.single;
    const size_t special = o->add_special_tokens ? template->added : 0;
    size_t room = SIZE_MAX;
    if (o->max_tokens) {
        if (o->max_tokens < special)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "max_tokens %zu: expected at least %zu, the special tokens around a %s", o->max_tokens, special,
                     pair ? "pair" : "text");
        room = o->max_tokens - special;
    }
    if (!out->workspace)
        CLF_TRY(clfi_alloc(1, sizeof *out->workspace, "tokenizer workspace", &out->workspace));
    clf_encode_workspace *work = out->workspace;
    const size_t enough = pair || room == SIZE_MAX ? SIZE_MAX : room + 1; /* a pair is cut by both lengths */
    CLF_TRY(encode_sequence(tokenizer, text, size, enough, work, &work->ids[0]));
    work->ids[1].count = 0;
    if (pair)
        CLF_TRY(encode_sequence(tokenizer, pair, pair_size, enough, work, &work->ids[1]));

    size_t count[2] = {work->ids[0].count, work->ids[1].count};
    if (pair)
        clfi_truncate_pair(room, &count[0], &count[1]);
    else if (count[0] > room)
        count[0] = room;
    out->truncated = count[0] < work->ids[0].count || count[1] < work->ids[1].count;
    return apply_template(template, o->add_special_tokens, work->ids, count, out);
}
