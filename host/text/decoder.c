/* SPDX-License-Identifier: MIT */
/* Decoders as stages that hold back only text that later tokens may change. Fuse and ByteLevel make one token of all, and pass it on in
 * parts. */
#include "text/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "io/json.h"
#include "text/byte_level.h"
#include "text/metaspace.h"
#include "text/pattern.h"

typedef struct clf_decoder_kind {
    clf_part_kind part; /* first */
    bool takes_parts;   /* push gets parts of tokens as they come; otherwise complete tokens */

    /* Takes a token, or with takes_parts a part of one; `ends` marks its last part. Passes text on by pass(decoding, index + 1, ...). */
    clf_status (*push)(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends);
    clf_status (*finish)(const void *settings, clf_decoding *decoding, size_t index); /* NULL: nothing is left */
} clf_decoder_kind;

/* Gives a part of a token to stage `index`, or appends it to the text if there is no such stage. */
static clf_status pass(clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    if (index == decoding->stage_count)
        return size ? clfi_str_append(decoding->out, text, size) : CLF_OK;
    const clf_part *part = &decoding->chain->parts[index];
    const clf_decoder_kind *kind = (const clf_decoder_kind *)part->kind;
    clf_decoder_stage *stage = &decoding->stages[index];
    const bool collects = !kind->takes_parts && (!ends || stage->token.length > 0);
    if (collects) {
        CLF_TRY(clfi_str_append(&stage->token, text, size));
        if (!ends)
            return CLF_OK;
        text = stage->token.data;
        size = stage->token.length;
    }
    CLF_TRY(kind->push(part->settings, decoding, index, text, size, ends));
    stage->tokens += ends;
    if (collects)
        clfi_str_clear(&stage->token);
    return CLF_OK;
}

/* --- WordPiece: a space before each token but the first, unless it continues a word --- */

typedef struct clf_wordpiece_decoder {
    char *prefix;
    size_t prefix_size;
    bool cleanup;
} clf_wordpiece_decoder;

static void destroy_wordpiece(void *settings)
{
    clf_wordpiece_decoder *decoder = settings;
    if (decoder)
        free(decoder->prefix);
    free(decoder);
}

static clf_status read_wordpiece(const json_t *json, const char *where, void **out)
{
    clf_wordpiece_decoder *decoder;
    const char *prefix;
    bool cleanup;
    CLF_TRY(clfi_json_opt_string(json, where, "prefix", "##", &prefix));
    CLF_TRY(clfi_json_opt_bool(json, where, "cleanup", true, &cleanup));
    CLF_TRY(clfi_alloc(1, sizeof *decoder, "decoder", &decoder));
    const clf_status st = clfi_strdup(prefix, &decoder->prefix);
    if (st != CLF_OK) {
        free(decoder);
        return st;
    }
    decoder->prefix_size = strlen(prefix);
    decoder->cleanup = cleanup;
    *out = decoder;
    return CLF_OK;
}

/* Appends text with every `from` replaced. */
static clf_status replace_all(const char *text, size_t size, const char *from, const char *to, clf_str *out)
{
    const size_t from_size = strlen(from);
    for (size_t done = 0;;) {
        const char *hit = size > done ? memmem(text + done, size - done, from, from_size) : NULL;
        const size_t end = hit ? (size_t)(hit - text) : size;
        CLF_TRY(clfi_str_append(out, text + done, end - done));
        if (!hit)
            return CLF_OK;
        CLF_TRY(clfi_str_append_text(out, to));
        done = end + from_size;
    }
}

/* The replacements of the reference's WordPiece decoder, in its order. */
static clf_status clean_up(clf_str *text)
{
    static const char *const pairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                           {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                           {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    clf_str clean = CLF_STR_INIT;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        if (!text->length || !memmem(text->data, text->length, pairs[i][0], strlen(pairs[i][0])))
            continue;
        const clf_status st = replace_all(text->data, text->length, pairs[i][0], pairs[i][1], &clean);
        if (st != CLF_OK) {
            clfi_str_free(&clean);
            return st;
        }
        clfi_str_free(text);
        *text = clean;
        clean = (clf_str)CLF_STR_INIT;
    }
    return CLF_OK;
}

static clf_status push_wordpiece(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    const clf_wordpiece_decoder *decoder = settings;
    clf_decoder_stage *stage = &decoding->stages[index];
    (void)ends;
    clfi_str_clear(&stage->held);
    if (stage->tokens > 0) {
        if (size >= decoder->prefix_size && memcmp(text, decoder->prefix, decoder->prefix_size) == 0) {
            text += decoder->prefix_size;
            size -= decoder->prefix_size;
        } else {
            CLF_TRY(clfi_str_append_char(&stage->held, ' '));
        }
    }
    CLF_TRY(clfi_str_append(&stage->held, text, size));
    if (decoder->cleanup)
        CLF_TRY(clean_up(&stage->held));
    return pass(decoding, index + 1, clfi_str_text(&stage->held), stage->held.length, true);
}

static const clf_decoder_kind wordpiece_row = {{"WordPiece", read_wordpiece, destroy_wordpiece}, .push = push_wordpiece};

/* --- ByteLevel: characters back to bytes, and these to text; what is not UTF-8 becomes U+FFFD --- */

/* Hands on the whole characters of the held bytes; the unfinished one at their end waits, unless it is the end. */
static clf_status pass_characters(clf_decoding *decoding, size_t index, bool is_end)
{
    clf_str *held = &decoding->stages[index].held;
    size_t at = 0;
    if (held->length == 0)
        return CLF_OK;
    while (at < held->length) {
        const unsigned char *bytes = (const unsigned char *)held->data + at;
        uint32_t code;
        const size_t rest = held->length - at, size = clfi_utf8_decode(bytes, rest, &code);
        if (code == CLFI_UTF8_INVALID && size == rest && bytes[0] >= 0xc2 && bytes[0] <= 0xf4 && !is_end)
            break;
        CLF_TRY(code == CLFI_UTF8_INVALID ? pass(decoding, index + 1, "\xef\xbf\xbd", 3, false)
                                          : pass(decoding, index + 1, (const char *)bytes, size, false));
        at += size;
    }
    memmove(held->data, held->data + at, held->length - at);
    held->length -= at;
    return CLF_OK;
}

static clf_status push_byte_level(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    clf_str *held = &decoding->stages[index].held;
    const size_t before = held->length;
    (void)settings;
    (void)ends;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        i += clfi_utf8_decode((const unsigned char *)text + i, size - i, &code);
        const int byte = clfi_char_to_byte(code);
        if (byte < 0) { /* not a byte-level token: its text stays as it is */
            held->length = before;
            CLF_TRY(clfi_str_append(held, text, size));
            break;
        }
        CLF_TRY(clfi_str_append_char(held, (char)byte));
    }
    return pass_characters(decoding, index, false);
}

static clf_status finish_byte_level(const void *settings, clf_decoding *decoding, size_t index)
{
    (void)settings;
    CLF_TRY(pass_characters(decoding, index, true));
    return pass(decoding, index + 1, "", 0, true);
}

static const clf_decoder_kind byte_level_row = {{"ByteLevel", NULL, NULL}, .push = push_byte_level, .finish = finish_byte_level};

/* --- Metaspace: its character becomes a space, and in the first token nothing, unless prepend_scheme is "never" --- */

typedef struct clf_metaspace_decoder {
    char *replacement;
    bool prepends;
} clf_metaspace_decoder;

static void destroy_metaspace(void *settings)
{
    clf_metaspace_decoder *decoder = settings;
    if (decoder)
        free(decoder->replacement);
    free(decoder);
}

static clf_status read_metaspace(const json_t *json, const char *where, void **out)
{
    clf_metaspace_decoder *decoder;
    clf_prepend_scheme scheme;
    const char *replacement;
    CLF_TRY(clfi_metaspace_read(json, where, &replacement, &scheme));
    CLF_TRY(clfi_alloc(1, sizeof *decoder, "decoder", &decoder));
    decoder->prepends = scheme != CLF_PREPEND_NEVER;
    const clf_status st = clfi_strdup(replacement, &decoder->replacement);
    if (st != CLF_OK)
        destroy_metaspace(decoder);
    else
        *out = decoder;
    return st;
}

static clf_status push_metaspace(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    const clf_metaspace_decoder *decoder = settings;
    clf_decoder_stage *stage = &decoding->stages[index];
    (void)ends;
    clfi_str_clear(&stage->held);
    CLF_TRY(replace_all(text, size, decoder->replacement, decoder->prepends && stage->tokens == 0 ? "" : " ", &stage->held));
    return pass(decoding, index + 1, clfi_str_text(&stage->held), stage->held.length, true);
}

static const clf_decoder_kind metaspace_row = {{"Metaspace", read_metaspace, destroy_metaspace}, .push = push_metaspace};

/* --- BPEDecoder: a suffix becomes a space, and in the last token nothing --- */

static clf_status read_bpe(const json_t *json, const char *where, void **out)
{
    const char *suffix;
    char *copy;
    CLF_TRY(clfi_json_opt_string(json, where, "suffix", "</w>", &suffix));
    if (!*suffix)
        CLF_FAIL(CLF_FORMAT, "%s: suffix: expected some text, found none", where);
    CLF_TRY(clfi_strdup(suffix, &copy));
    *out = copy;
    return CLF_OK;
}

static clf_status pass_held_bpe(const char *suffix, const char *replacement, clf_decoding *decoding, size_t index)
{
    clf_decoder_stage *stage = &decoding->stages[index];
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    if (stage->is_inside)
        st = replace_all(clfi_str_text(&stage->held), stage->held.length, suffix, replacement, &text);
    if (st == CLF_OK && stage->is_inside)
        st = pass(decoding, index + 1, clfi_str_text(&text), text.length, true);
    clfi_str_free(&text);
    return st;
}

static clf_status push_bpe(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    clf_decoder_stage *stage = &decoding->stages[index];
    (void)ends;
    CLF_TRY(pass_held_bpe(settings, " ", decoding, index));
    stage->is_inside = true;
    clfi_str_clear(&stage->held);
    return clfi_str_append(&stage->held, text, size);
}

static clf_status finish_bpe(const void *settings, clf_decoding *decoding, size_t index)
{
    return pass_held_bpe(settings, "", decoding, index);
}

static const clf_decoder_kind bpe_row = {{"BPEDecoder", read_bpe, NULL}, .push = push_bpe, .finish = finish_bpe};

/* --- ByteFallback: a run of tokens such as "<0xE2>" becomes its text, or U+FFFD for each of them if the bytes are not UTF-8 --- */

static clf_status pass_bytes(clf_decoding *decoding, size_t index)
{
    clf_str *held = &decoding->stages[index].held;
    const size_t size = held->length;
    if (size == 0)
        return CLF_OK;
    if (clfi_utf8_check((const unsigned char *)held->data, size) == size) {
        CLF_TRY(pass(decoding, index + 1, held->data, size, true));
    } else {
        for (size_t i = 0; i < size; i++)
            CLF_TRY(pass(decoding, index + 1, "\xef\xbf\xbd", 3, true));
    }
    clfi_str_clear(held);
    return CLF_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte of a token such as "<0xE2>", -1: another token. */
static int byte_of(const char *text, size_t size)
{
    if (size != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>' || hex_digit(text[3]) < 0 || hex_digit(text[4]) < 0)
        return -1;
    return hex_digit(text[3]) * 16 + hex_digit(text[4]);
}

static clf_status push_byte_fallback(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    (void)settings;
    (void)ends;
    const int byte = byte_of(text, size);
    if (byte >= 0)
        return clfi_str_append_char(&decoding->stages[index].held, (char)byte);
    CLF_TRY(pass_bytes(decoding, index));
    return pass(decoding, index + 1, text, size, true);
}

static clf_status finish_byte_fallback(const void *settings, clf_decoding *decoding, size_t index)
{
    (void)settings;
    return pass_bytes(decoding, index);
}

static const clf_decoder_kind byte_fallback_row = {
    {"ByteFallback", NULL, NULL}, .push = push_byte_fallback, .finish = finish_byte_fallback};

/* --- CharacterFallback, for GGUF files: ByteFallback whose bytes become U+FFFD only where they are not UTF-8, as in llama.cpp --- */

static clf_status push_character_fallback(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size,
                                          bool ends)
{
    (void)settings;
    (void)ends;
    const int byte = byte_of(text, size);
    if (byte >= 0) {
        CLF_TRY(clfi_str_append_char(&decoding->stages[index].held, (char)byte));
        return pass_characters(decoding, index, false);
    }
    CLF_TRY(pass_characters(decoding, index, true));
    return pass(decoding, index + 1, text, size, true);
}

static clf_status finish_character_fallback(const void *settings, clf_decoding *decoding, size_t index)
{
    (void)settings;
    return pass_characters(decoding, index, true);
}

static const clf_decoder_kind character_fallback_row = {
    {"CharacterFallback", NULL, NULL}, .push = push_character_fallback, .finish = finish_character_fallback};

/* --- Fuse: all tokens become one --- */

static clf_status push_fuse(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    (void)settings;
    (void)ends;
    return pass(decoding, index + 1, text, size, false);
}

static clf_status finish_fuse(const void *settings, clf_decoding *decoding, size_t index)
{
    (void)settings;
    return pass(decoding, index + 1, "", 0, true);
}

static const clf_decoder_kind fuse_row = {{"Fuse", NULL, NULL}, .takes_parts = true, .push = push_fuse, .finish = finish_fuse};

/* --- Strip: removes one character up to `start` times from the start of each token, and up to `stop` times from its end --- */

typedef struct clf_strip_decoder {
    char content[5];
    size_t content_size;
    size_t start, stop;
} clf_strip_decoder;

static clf_status read_strip(const json_t *json, const char *where, void **out)
{
    clf_strip_decoder *decoder;
    const char *content;
    int64_t start, stop;
    CLF_TRY(clfi_json_get_string(json, where, "content", &content));
    CLF_TRY(clfi_json_get_int(json, where, "start", 0, INT32_MAX, &start));
    CLF_TRY(clfi_json_get_int(json, where, "stop", 0, INT32_MAX, &stop));
    if (clfi_utf8_length(content, strlen(content)) != 1)
        CLF_FAIL(CLF_FORMAT, "%s: content: expected one character, found \"%s\"", where, content);
    CLF_TRY(clfi_alloc(1, sizeof *decoder, "decoder", &decoder));
    decoder->content_size = strlen(content);
    memcpy(decoder->content, content, decoder->content_size);
    decoder->start = (size_t)start;
    decoder->stop = (size_t)stop;
    *out = decoder;
    return CLF_OK;
}

static clf_status push_strip(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    const clf_strip_decoder *decoder = settings;
    clf_decoder_stage *stage = &decoding->stages[index];
    for (size_t at = 0; at < size;) {
        uint32_t code;
        const size_t step = clfi_utf8_decode((const unsigned char *)text + at, size - at, &code);
        const bool is_content = step == decoder->content_size && memcmp(text + at, decoder->content, step) == 0;
        const char *character = text + at;
        at += step;
        if (is_content && !stage->is_inside && stage->leading < decoder->start) {
            stage->leading++;
            continue;
        }
        stage->is_inside = true;
        if (is_content && stage->trailing < decoder->stop) {
            stage->trailing++;
            continue;
        }
        for (; !is_content && stage->trailing > 0; stage->trailing--)
            CLF_TRY(pass(decoding, index + 1, decoder->content, decoder->content_size, false));
        /* A content character comes here if `stop` of them wait already: one passes on, and this one waits in its place. */
        CLF_TRY(pass(decoding, index + 1, character, step, false));
    }
    if (!ends)
        return CLF_OK;
    stage->leading = stage->trailing = 0;
    stage->is_inside = false;
    return pass(decoding, index + 1, "", 0, true);
}

static const clf_decoder_kind strip_row = {{"Strip", read_strip, NULL}, .takes_parts = true, .push = push_strip};

/* --- Replace --- */

typedef struct clf_replace_decoder {
    clf_pattern pattern;
    char *content;
} clf_replace_decoder;

static void destroy_replace(void *settings)
{
    clf_replace_decoder *decoder = settings;
    if (!decoder)
        return;
    clfi_pattern_free(&decoder->pattern);
    free(decoder->content);
    free(decoder);
}

static clf_status read_replace(const json_t *json, const char *where, void **out)
{
    clf_replace_decoder *decoder;
    const char *content;
    CLF_TRY(clfi_json_get_string(json, where, "content", &content));
    CLF_TRY(clfi_alloc(1, sizeof *decoder, "decoder", &decoder));
    clf_status st = clfi_pattern_read(json, where, &decoder->pattern);
    if (st == CLF_OK)
        st = clfi_strdup(content, &decoder->content);
    if (st != CLF_OK)
        destroy_replace(decoder);
    else
        *out = decoder;
    return st;
}

static clf_status push_replace(const void *settings, clf_decoding *decoding, size_t index, const char *text, size_t size, bool ends)
{
    const clf_replace_decoder *decoder = settings;
    clf_decoder_stage *stage = &decoding->stages[index];
    (void)ends;
    CLF_TRY(clfi_pattern_find(&decoder->pattern, text, size, &decoding->work));
    clfi_str_clear(&stage->held);
    const size_t limit = clfi_text_limit(decoding->given), content = strlen(decoder->content);
    for (size_t i = 0; i < decoding->work.matches.count; i++) {
        const clf_piece *piece = &decoding->work.matches.pieces[i];
        stage->made += piece->id ? content : 0;
        if (stage->made > limit)
            return clfi_text_too_long(limit);
        CLF_TRY(piece->id ? clfi_str_append(&stage->held, decoder->content, content)
                          : clfi_str_append(&stage->held, text + piece->start, piece->end - piece->start));
    }
    return pass(decoding, index + 1, clfi_str_text(&stage->held), stage->held.length, true);
}

static const clf_decoder_kind replace_row = {{"Replace", read_replace, destroy_replace}, .push = push_replace};

/* --- the chain --- */

static const clf_part_kind *const rows[] = {
    &wordpiece_row.part,          &byte_level_row.part, &metaspace_row.part, &bpe_row.part,     &byte_fallback_row.part,
    &character_fallback_row.part, &fuse_row.part,       &strip_row.part,     &replace_row.part,
};
const clf_part_table clfi_decoders = {rows, COUNT(rows), "decoders"};

static void free_stages(clf_decoding *decoding)
{
    for (size_t i = 0; i < decoding->stage_count; i++) {
        clfi_str_free(&decoding->stages[i].token);
        clfi_str_free(&decoding->stages[i].held);
    }
    free(decoding->stages);
    decoding->stages = NULL;
    decoding->stage_count = 0;
}

clf_status clfi_decoding_begin(clf_decoding *decoding, const clf_chain *chain, clf_str *out)
{
    free_stages(decoding);
    clfi_regex_memory_begin(decoding->work.regex);
    decoding->chain = chain;
    decoding->out = out;
    decoding->tokens = decoding->given = 0;
    const size_t count = chain ? chain->count : 0;
    CLF_TRY(clfi_alloc(count, sizeof *decoding->stages, "decoder", &decoding->stages));
    decoding->stage_count = count;
    return CLF_OK;
}

clf_status clfi_decoding_push(clf_decoding *decoding, const char *token, size_t size)
{
    if (!decoding->chain && decoding->tokens > 0)
        CLF_TRY(clfi_str_append_char(decoding->out, ' '));
    decoding->tokens++;
    decoding->given += size;
    return pass(decoding, 0, token, size, true);
}

clf_status clfi_decoding_finish(clf_decoding *decoding)
{
    for (size_t i = 0; i < decoding->stage_count; i++) {
        const clf_decoder_kind *kind = (const clf_decoder_kind *)decoding->chain->parts[i].kind;
        if (kind->finish)
            CLF_TRY(kind->finish(decoding->chain->parts[i].settings, decoding, i));
    }
    return CLF_OK;
}

void clfi_decoding_free(clf_decoding *decoding)
{
    free_stages(decoding);
    clfi_text_workspace_free(&decoding->work);
}
