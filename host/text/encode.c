/* SPDX-License-Identifier: MIT */
/* Encodes texts: repair of ill-formed UTF-8, added tokens, normalizers, pre-tokenizers, model, truncation, template. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/utf8.h"
#include "text/absent_tokens.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/regex.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

/* Least bytes of a portion, where the tokenizer allows portions. Truncation then leaves most of a long text unread. */
enum { PORTION_BYTES = 4096 };

struct clf_encode_workspace {
    clf_text_workspace text;
    uint32_t *character_start; /* byte at which each character of the given text begins, and its size */
    size_t character_capacity;
};

/* State while one sequence is encoded. */
typedef struct clf_text_part {
    const clf_tokenizer *tokenizer;
    clf_text_workspace *work;
    clf_token_list *tokens;
    size_t enough;        /* stop when there are this many tokens */
    bool is_refused_then; /* the caller then refuses the text */
    bool ignore_special, ignore_added, is_aligned;
    clf_token_sink sink; /* NULL: the tokens stay in the list */
    void *user;
} clf_text_part;

void clfi_encoding_free(clf_encoding *encoding)
{
    struct clf_encode_workspace *work = encoding->workspace;
    if (work) {
        clfi_text_workspace_free(&work->text);
        free(work->character_start);
        free(work);
    }
    free(encoding->ids);
    free(encoding->type_ids);
    free(encoding->special_mask);
    free(encoding->offsets);
    *encoding = (clf_encoding)CLF_ENCODING_INIT;
}

/* Points *text at well-formed UTF-8: at itself, or at a copy with replacement characters. */
static clf_status repair(clf_text_workspace *work, const char **text, size_t *size)
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

/* Moves the offsets of token number `index` past the spaces at its ends, as post-processors with trim_offsets do. */
static void trim(const clf_post_processor *processor, const char *text, size_t size, size_t index, clf_token *token)
{
    uint32_t leading = 0, trailing = 0;
    bool at_start = true;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        const bool space = code == 0x120 || clfi_char_is_whitespace(code); /* U+0120: the space of byte-level text */
        leading += at_start && space;
        at_start = at_start && space;
        trailing = space ? trailing + 1 : 0;
    }
    if (leading > 0) {
        if ((index == 0 || token->start == 0) && processor->add_prefix_space && leading == 1)
            leading = 0; /* the space that the pre-tokenizer added */
        token->start = token->end - token->start > leading ? token->start + leading : token->end;
    }
    if (trailing > 0 && token->end >= trailing)
        token->end = token->end - trailing > token->start ? token->end - trailing : token->start;
}

/* Appends an added token: characters [start, end) of the given text, which are text[0..size) at this point. */
static clf_status append_added(const clf_text_part *s, int32_t id, const char *text, size_t size, clf_char_span span)
{
    CLF_TRY(clfi_token_append(s->tokens, id, span.start, span.end));
    if (s->is_aligned && s->tokenizer->post_processor.trims)
        trim(&s->tokenizer->post_processor, text, size, s->tokens->count - 1, &s->tokens->tokens[s->tokens->count - 1]);
    return CLF_OK;
}

/* Converts offsets in bytes of a piece to offsets in characters of the given text, for tokens from `first` on. */
static void place_tokens(const clf_text_part *s, const clf_piece *piece, size_t first)
{
    const clf_char_span *spans = s->work->text[0].spans + piece->start;
    const uint32_t size = (uint32_t)(piece->end - piece->start);
    for (size_t i = first; i < s->tokens->count; i++) {
        clf_token *token = &s->tokens->tokens[i];
        const uint32_t start = token->start < size ? token->start : size - 1, end = token->end < size ? token->end : size;
        token->start = spans[start].start;
        token->end = end > start ? spans[end - 1].end : token->start;
        if (s->tokenizer->post_processor.trims) {
            const char *text = clf_tokenizer_token(s->tokenizer, token->id);
            trim(&s->tokenizer->post_processor, text, strlen(text), i, token);
        }
    }
}

static clf_status encode_pieces(const clf_text_part *s)
{
    const clf_aligned_text *text = &s->work->text[0];
    for (size_t i = 0; i < s->work->pieces[0].count && s->tokens->count < s->enough; i++) {
        const clf_piece *piece = &s->work->pieces[0].pieces[i];
        const char *bytes = text->text.data + piece->start;
        const size_t size = piece->end - piece->start, first = s->tokens->count;
        if (piece->id >= 0) {
            clf_char_span span = {0, 0};
            if (s->is_aligned && size)
                span = (clf_char_span){text->spans[piece->start].start, text->spans[piece->end - 1].end};
            CLF_TRY(append_added(s, piece->id, bytes, size, span));
        } else if (size) {
            CLF_TRY(s->tokenizer->kind->encode(s->tokenizer->model, bytes, size, s->work, s->tokens));
            if (s->is_aligned)
                place_tokens(s, piece, first);
        }
    }
    return CLF_OK;
}

/* Cuts the normalised text into pieces: added tokens that are looked for in it, and the text between them. */
static clf_status find_normalized(const clf_text_part *s)
{
    const clf_str *text = &s->work->text[0].text;
    clf_segment_walk walk = {0};
    clf_segment segment;
    s->work->pieces[0].count = 0;
    if (s->tokenizer->added.normalized.count == 0 || s->ignore_added)
        return text->length ? clfi_piece_append(&s->work->pieces[0], 0, text->length, -1) : CLF_OK;
    while (clfi_added_next(&s->tokenizer->added.normalized, clfi_str_text(text), text->length, s->ignore_special, &walk, &segment))
        CLF_TRY(clfi_piece_append(&s->work->pieces[0], segment.start, segment.end, segment.id));
    return CLF_OK;
}

static bool is_letter_or_digit(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* End of the portion that begins at `start`, at most the end of the text. */
static size_t portion_end(clf_portions portions, const char *text, size_t start, size_t size)
{
    if (portions == CLF_PORTIONS_NONE || size - start <= PORTION_BYTES)
        return size;
    if (portions == CLF_PORTIONS_BEHIND_SPACES) {
        for (size_t i = start + PORTION_BYTES; i < size; i++)
            if (text[i] == ' ' || text[i] == '\n')
                return i + 1;
        return size;
    }
    for (size_t i = start + PORTION_BYTES; i + 1 < size; i++)
        if (text[i] == ' ' && is_letter_or_digit(text[i - 1]) && is_letter_or_digit(text[i + 1]))
            return i;
    return size;
}

/* Hands the tokens so far to the sink, where there is one. */
static clf_status hand_on(const clf_text_part *s)
{
    for (size_t i = 0; s->sink && i < s->tokens->count; i++)
        CLF_TRY(s->sink(s->user, s->tokens->tokens[i].id));
    if (s->sink)
        s->tokens->count = 0;
    return CLF_OK;
}

/* Encodes raw text in which no added tokens of the raw kind are left; its first character is number `character` of the given text. */
static clf_status encode_raw(const clf_text_part *s, const char *text, size_t size, size_t character)
{
    clf_text_workspace *work = s->work;
    for (size_t start = 0, end; start < size && s->tokens->count < s->enough; start = end) {
        end = portion_end(s->tokenizer->portions, text, start, size);
        if (!s->ignore_special && !s->ignore_added)
            CLF_TRY(clfi_absent_tokens_check(s->tokenizer, text, start, end, size));
        clfi_text_workspace_begin(work, end - start, s->is_aligned);
        CLF_TRY(clfi_aligned_append_given(&work->text[0], text + start, end - start, character));
        CLF_TRY(clfi_normalize(&s->tokenizer->normalizers, work));
        CLF_TRY(find_normalized(s));
        CLF_TRY(clfi_pre_tokenize(&s->tokenizer->pre_tokenizers, work));
        if (work->text[0].text.length > UINT32_MAX)
            CLF_FAIL(CLF_UNSUPPORTED, "a text of %zu bytes after normalisation: expected at most %u", work->text[0].text.length,
                     UINT32_MAX);
        CLF_TRY(encode_pieces(s));
        CLF_TRY(hand_on(s));
        if (s->is_aligned)
            character += clfi_utf8_length(text + start, end - start);
    }
    return CLF_OK;
}

/* Encodes a language before a text, as MarianTokenizer does: from ">>" to the first "<<". *out: its bytes; 0: there is none. */
static clf_status encode_language(const clf_text_part *s, const char *text, size_t size, size_t character, size_t *out)
{
    static const char unknown[] = "<unk>";
    const char *end = s->tokenizer->has_languages && size >= 4 && memcmp(text, ">>", 2) == 0 ? memmem(text, size, "<<", 2) : NULL;
    *out = end ? (size_t)(end - text) + 2 : 0;
    if (!end)
        return CLF_OK;
    char *name;
    CLF_TRY(clfi_strndup(text, *out, &name));
    int32_t id = memchr(name, '\0', *out) ? -1 : clf_tokenizer_id(s->tokenizer, name);
    free(name);
    if (id < 0)
        id = clf_tokenizer_id(s->tokenizer, unknown);
    const size_t characters = s->is_aligned ? clfi_utf8_length(text, *out) : 0;
    return append_added(s, id, text, *out, (clf_char_span){(uint32_t)character, (uint32_t)(character + characters)});
}

/* Encodes one sequence; stops once there are enough tokens. */
static clf_status encode_sequence(const clf_text_part *s, const char *text, size_t size)
{
    s->tokens->count = 0;
    s->work->enough = s->enough;
    s->work->is_refused_then = s->is_refused_then;
    if (size == 0)
        return CLF_OK;
    CLF_TRY(repair(s->work, &text, &size));
    if (size > UINT32_MAX)
        CLF_FAIL(CLF_UNSUPPORTED, "a text of %zu bytes: expected at most %u", size, UINT32_MAX);
    clf_segment_walk walk = {0};
    clf_segment segment;
    size_t character = 0, done = 0; /* both: where the segment before ended */
    clfi_regex_memory_begin(s->work->regex);
    if (s->ignore_added)
        return encode_raw(s, text, size, 0);
    while (s->tokens->count < s->enough && clfi_added_next(&s->tokenizer->added.raw, text, size, s->ignore_special, &walk, &segment)) {
        const char *bytes = text + segment.start;
        const size_t length = segment.end - segment.start, characters = s->is_aligned ? clfi_utf8_length(bytes, length) : 0;
        if (s->is_aligned && segment.start < done) /* the added token before took white space that belongs to this one too */
            character -= clfi_utf8_length(bytes, done - segment.start);
        const clf_char_span span = {(uint32_t)character, (uint32_t)(character + characters)};
        size_t language = 0;
        if (segment.id >= 0)
            CLF_TRY(append_added(s, segment.id, bytes, length, span));
        else
            CLF_TRY(encode_language(s, bytes, length, character, &language));
        if (segment.id < 0 && length > language)
            CLF_TRY(
                encode_raw(s, bytes + language, length - language, character + (s->is_aligned ? clfi_utf8_length(bytes, language) : 0)));
        character += characters;
        done = segment.end;
    }
    return CLF_OK;
}

/* Converts offsets in characters to offsets in bytes of the given text, where each ill-formed part counts as one character. */
static clf_status bytes_of_characters(struct clf_encode_workspace *work, const char *text, size_t size, clf_token_list *tokens)
{
    size_t count = 0;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        CLF_TRY(clfi_grow(&work->character_start, &work->character_capacity, count + 2, sizeof *work->character_start, "character starts"));
        work->character_start[count++] = (uint32_t)i;
        i += clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
    }
    if (count == 0)
        return CLF_OK;
    work->character_start[count] = (uint32_t)size;
    for (size_t i = 0; i < tokens->count; i++) {
        tokens->tokens[i].start = work->character_start[tokens->tokens[i].start];
        tokens->tokens[i].end = work->character_start[tokens->tokens[i].end];
    }
    return CLF_OK;
}

static clf_status reserve(clf_encoding *out, size_t length)
{
    size_t ids = out->capacity, types = out->capacity, specials = out->capacity, offsets = out->capacity;
    CLF_TRY(clfi_grow(&out->ids, &ids, length, sizeof *out->ids, "token ids"));
    CLF_TRY(clfi_grow(&out->type_ids, &types, length, sizeof *out->type_ids, "token type ids"));
    CLF_TRY(clfi_grow(&out->special_mask, &specials, length, sizeof *out->special_mask, "special token mask"));
    CLF_TRY(clfi_grow(&out->offsets, &offsets, length, sizeof *out->offsets, "token offsets"));
    out->capacity = offsets;
    return CLF_OK;
}

static clf_status apply_template(const clf_template_processing *template, bool add_special_tokens, bool with_offsets,
                                 const clf_token *const tokens[2], const size_t count[2], clf_encoding *out)
{
    size_t length = 0;
    CLF_TRY(reserve(out, count[0] + count[1] + template->added));
    for (size_t i = 0; i < template->count; i++) {
        const clf_template_piece *piece = &template->pieces[i];
        const bool special = piece->kind == CLF_PIECE_TOKEN;
        if (special && !add_special_tokens)
            continue;
        const size_t which = piece->kind == CLF_PIECE_SECOND, size = special ? 1 : count[which];
        const clf_token one = {piece->id, 0, 0}, *source = special ? &one : tokens[which];
        for (size_t k = 0; k < size; k++) {
            out->ids[length + k] = source[k].id;
            out->type_ids[length + k] = piece->type_id;
        }
        if (size) {
            memset(out->special_mask + length, special, size);
            memset(out->offsets + length, 0, size * sizeof *out->offsets);
        }
        for (size_t k = 0; with_offsets && k < size; k++)
            out->offsets[length + k] = (clf_offsets){source[k].start, source[k].end};
        length += size;
    }
    out->length = length;
    return CLF_OK;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

clf_status clfi_tokenizer_encode(const clf_tokenizer *tokenizer, const char *text, size_t size, const char *pair, size_t pair_size,
                                 const clf_encode_options *options, clf_encoding *out)
{
    const clf_encode_options standard = CLF_ENCODE_OPTIONS_INIT;
    const clf_encode_options *o = options ? options : &standard;
    const clf_template_processing *template = pair ? &tokenizer->post_processor.pair : &tokenizer->post_processor.single;
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
    clf_text_workspace *work = &out->workspace->text;
    clf_token_list *tokens = work->tokens;
    const bool with_offsets = o->offsets != CLF_OFFSETS_NONE;
    const bool repeats = pair && o->repeats_first;
    const bool stops = room < SIZE_MAX && !tokenizer->cuts_left; /* what truncation removes need not be read */
    const size_t limit = o->enough_tokens ? o->enough_tokens : SIZE_MAX;
    clf_text_part sequence = {
        .tokenizer = tokenizer,
        .work = work,
        .tokens = &tokens[0],
        .enough = stops && !pair ? least(room + 1, limit) : limit,
        .is_refused_then = o->enough_tokens > 0,
        .ignore_special = o->ignore_special || tokenizer->splits_special,
        .ignore_added = o->ignore_added,
        .is_aligned = with_offsets || tokenizer->needs_spans,
    };
    if (!repeats)
        CLF_TRY(encode_sequence(&sequence, text, size));
    sequence.tokens = &tokens[1];
    if (stops) /* truncating a pair needs to know which text is longer */
        sequence.enough = least((room > tokens[0].count ? room : tokens[0].count) + 1, limit);
    CLF_TRY(encode_sequence(&sequence, pair, pair ? pair_size : 0));
    if (o->offsets == CLF_OFFSETS_BYTES) {
        if (!repeats)
            CLF_TRY(bytes_of_characters(out->workspace, text, size, &tokens[0]));
        CLF_TRY(bytes_of_characters(out->workspace, pair, pair ? pair_size : 0, &tokens[1]));
    }

    size_t count[2] = {tokens[0].count, tokens[1].count};
    if (pair)
        clfi_truncate_pair(room, &count[0], &count[1]);
    else if (count[0] > room)
        count[0] = room;
    out->truncated = count[0] < tokens[0].count || count[1] < tokens[1].count;
    const clf_token *kept[2];
    for (int i = 0; i < 2; i++)
        kept[i] = tokens[i].tokens ? tokens[i].tokens + (tokenizer->cuts_left ? tokens[i].count - count[i] : 0) : NULL;
    return apply_template(template, o->add_special_tokens, with_offsets, kept, count, out);
}

clf_status clfi_tokenizer_stream(const clf_tokenizer *tokenizer, const clf_text *text, const clf_encode_options *options,
                                 clf_encoding *memory, clf_token_sink sink, void *user)
{
    const clf_template_processing *template = &tokenizer->post_processor.single;
    if (!memory->workspace)
        CLF_TRY(clfi_alloc(1, sizeof *memory->workspace, "tokenizer workspace", &memory->workspace));
    const clf_text_part sequence = {
        .tokenizer = tokenizer,
        .work = &memory->workspace->text,
        .tokens = &memory->workspace->text.tokens[0],
        .enough = SIZE_MAX,
        .ignore_special = options->ignore_special || tokenizer->splits_special,
        .ignore_added = options->ignore_added,
        .is_aligned = tokenizer->needs_spans,
        .sink = sink,
        .user = user,
    };
    for (size_t i = 0; i < template->count; i++) {
        if (template->pieces[i].kind == CLF_PIECE_FIRST) {
            CLF_TRY(encode_sequence(&sequence, text->data, text->size));
            CLF_TRY(hand_on(&sequence));
        } else if (template->pieces[i].kind == CLF_PIECE_TOKEN && options->add_special_tokens) {
            CLF_TRY(sink(user, template->pieces[i].id));
        }
    }
    return CLF_OK;
}

CLFI_OPTIONS(clf_encode_params, CLF_ENCODE_PARAMS_INIT)

clf_status clf_encoding_create(clf_encoding **out)
{
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "encoding: expected a place for it, found NULL");
    return clfi_alloc(1, sizeof **out, "encoding", out);
}

void clf_encoding_destroy(clf_encoding *encoding)
{
    if (encoding)
        clfi_encoding_free(encoding);
    free(encoding);
}

clf_status clf_tokenizer_encode(const clf_tokenizer *tokenizer, const clf_text *text, const clf_text *pair, const clf_encode_params *params,
                                clf_encoding *out)
{
    clf_encode_params own;
    if (!tokenizer || !text || !out || (text->size && !text->data) || (pair && pair->size && !pair->data))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: expected a tokenizer, a text and an encoding, found NULL");
    CLF_TRY(clf_encode_params_read(params, &own));
    if (own.offsets < CLF_OFFSETS_NONE || own.offsets > CLF_OFFSETS_BYTES)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tokenizer: offsets %d: expected a clf_offset_unit", (int)own.offsets);
    const clf_encode_options options = {.add_special_tokens = own.add_special_tokens != 0,
                                        .max_tokens = own.max_tokens,
                                        .ignore_special = own.ignore_special != 0,
                                        .offsets = own.offsets};
    return clfi_tokenizer_encode(tokenizer, text->data, text->size, pair ? (pair->data ? pair->data : "") : NULL, pair ? pair->size : 0,
                                 &options, out);
}
