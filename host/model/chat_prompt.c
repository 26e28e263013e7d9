/* SPDX-License-Identifier: MIT */
/* Renders a conversation by its chat template and encodes it. Control tokens in messages pass through the template between two private-use
 * characters, the marks; marks that a message has itself are removed first. Text between marks in the rendered text is encoded as plain
 * text. */
#include "model/chat_prompt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "io/json.h"
#include "model/chat_template.h"
#include "template/template.h"
#include "text/tokenizer.h"

enum { MARK_BYTES = 4 };
static const char begin_mark[] = "\xf3\xb0\x80\x80", end_mark[] = "\xf3\xb0\x80\x81"; /* U+F0000, U+F0001 */

typedef struct control {
    const char *text; /* of the tokenizer */
    size_t size;
    int32_t id;
} control;

struct clf_chat_prompt {
    clf_template *form;
    const clf_tokenizer *tokenizer;
    const char *remedy; /* as clfi_chat_prompt_open has it */
    control *controls;  /* longest first */
    size_t control_count;
    json_t *variables; /* all but the messages */
    clf_str text, piece;
    clf_encoding *encoding;
    int32_t *ids, *newline;
    size_t count, capacity, newline_count;
    size_t enough;   /* as clfi_chat_prompt_make has it; SIZE_MAX: no limit */
    bool is_marking; /* control tokens in messages are encoded as text */
    int32_t end;     /* clfi_chat_prompt_end */
};

static bool is_mark(const char *text, size_t size)
{
    return size >= MARK_BYTES && (memcmp(text, begin_mark, MARK_BYTES) == 0 || memcmp(text, end_mark, MARK_BYTES) == 0);
}

static bool is_space(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr(" \t\n\v\f\r", text[i]))
            return false;
    return true;
}

static bool is_listed(const json_t *list, const char *text)
{
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one) if (json_is_string(one) && strcmp(json_string_value(one), text) == 0) return true;
    return false;
}

static int longest_first(const void *a, const void *b)
{
    const size_t x = ((const control *)a)->size, y = ((const control *)b)->size;
    return (x < y) - (x > y);
}

static clf_status find_controls(clf_chat_prompt *p)
{
    const json_t *list = clfi_tokenizer_chat_tokens(p->tokenizer);
    control one;
    bool is_special;
    size_t capacity = 0;
    for (size_t i = 0; (one.text = clfi_tokenizer_added(p->tokenizer, i, &one.size, &is_special, &one.id)); i++) {
        const bool is_written =
            list ? is_listed(list, one.text) : clfi_template_writes(p->form, one.text, one.size) && !is_space(one.text, one.size);
        if (one.size == 0 || !(is_special || is_written))
            continue;
        CLF_TRY(clfi_grow(&p->controls, &capacity, p->control_count + 1, sizeof *p->controls, "control tokens"));
        p->controls[p->control_count++] = one;
    }
    if (p->control_count)
        qsort(p->controls, p->control_count, sizeof *p->controls, longest_first);
    return CLF_OK;
}

static clf_status out_of_memory(void)
{
    CLF_FAIL(CLF_OUT_OF_MEMORY, "malloc: not enough memory for the conversation");
}

static clf_status make_variables(clf_chat_prompt *p)
{
    CLF_TRY(clfi_tokenizer_variables(p->tokenizer, &p->variables));
    const bool is_whole =
        json_object_set_new(p->variables, "tools", json_null()) == 0 && json_object_set_new(p->variables, "documents", json_null()) == 0;
    return is_whole ? CLF_OK : out_of_memory();
}

/* The text's tokens in p->encoding; as_text: no added token is among them. A piece begins with a newline that is left out again. */
static clf_status encode(clf_chat_prompt *p, const char *text, size_t size, bool as_text)
{
    const size_t enough = p->enough < SIZE_MAX ? p->newline_count + p->enough : 0;
    const clf_encode_options options = {.ignore_added = as_text, .enough_tokens = enough};
    return clfi_tokenizer_encode(p->tokenizer, text, size, NULL, 0, &options, p->encoding);
}

/* Keeps the tokens of a newline, which encode_piece puts before a piece. */
static clf_status take_newline(clf_chat_prompt *p)
{
    CLF_TRY(encode(p, "\n", 1, false));
    CLF_TRY(clfi_alloc(p->encoding->length, sizeof *p->newline, "tokens", &p->newline));
    p->newline_count = p->encoding->length;
    if (p->newline_count)
        memcpy(p->newline, p->encoding->ids, p->newline_count * sizeof *p->newline);
    return CLF_OK;
}

void clfi_chat_prompt_close(clf_chat_prompt *p)
{
    if (!p)
        return;
    clfi_template_destroy(p->form);
    json_decref(p->variables);
    clf_encoding_destroy(p->encoding);
    clfi_str_free(&p->text);
    clfi_str_free(&p->piece);
    free(p->controls);
    free(p->ids);
    free(p->newline);
    free(p);
}

/* The control token that text[0..size) begins with; NULL: none. */
static const control *find_control(const clf_chat_prompt *p, const char *text, size_t size)
{
    for (size_t i = 0; i < p->control_count; i++)
        if (p->controls[i].size <= size && memcmp(p->controls[i].text, text, p->controls[i].size) == 0)
            return &p->controls[i];
    return NULL;
}

/* The text with its control tokens between marks, and without marks of its own. */
static clf_status append_marked(const clf_chat_prompt *p, const char *text, size_t size, clf_str *out)
{
    clf_str clean = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < size;) {
        const bool is_own = is_mark(text + i, size - i);
        if (!is_own)
            st = clfi_str_append_char(&clean, text[i]);
        i += is_own ? MARK_BYTES : 1;
    }
    for (size_t i = 0; st == CLF_OK && i < clean.length;) {
        const control *found = find_control(p, clean.data + i, clean.length - i);
        const size_t taken = found ? found->size : 1;
        if (found)
            st = clfi_str_append_text(out, begin_mark);
        if (st == CLF_OK)
            st = clfi_str_append(out, clean.data + i, taken);
        if (st == CLF_OK && found)
            st = clfi_str_append_text(out, end_mark);
        i += taken;
    }
    clfi_str_free(&clean);
    return st;
}

static clf_status set_text(const clf_chat_prompt *p, json_t *message, const char *key, const char *text, size_t size)
{
    clf_str marked = CLF_STR_INIT;
    clf_status st = p->is_marking ? append_marked(p, text, size, &marked) : clfi_str_append(&marked, text, size);
    if (st == CLF_OK && json_object_set_new(message, key, clfi_json_text(clfi_str_text(&marked), marked.length)) != 0)
        st = out_of_memory();
    clfi_str_free(&marked);
    return st;
}

/* {"role", "content"} and the texts of `more` */
static clf_status set_message(const clf_chat_prompt *p, const clf_message *given, json_t *more, json_t *message)
{
    const char *key;
    json_t *text;
    if (json_object_set_new(message, "role", clfi_json_text(given->role, strlen(given->role))) != 0)
        return out_of_memory();
    CLF_TRY(set_text(p, message, "content", given->content.data, given->content.size));
    json_object_foreach(more, key, text) CLF_TRY(set_text(p, message, key, json_string_value(text), json_string_length(text)));
    return CLF_OK;
}

static clf_status set_messages(clf_chat_prompt *p, const clf_message *messages, size_t count, const json_t *more)
{
    json_t *list = json_array();
    clf_status st = list && json_object_set_new(p->variables, "messages", list) == 0 ? CLF_OK : out_of_memory();
    for (size_t i = 0; st == CLF_OK && i < count; i++) {
        json_t *message = json_object();
        st = json_array_append_new(list, message) == 0 ? set_message(p, &messages[i], json_array_get(more, i), message) : out_of_memory();
    }
    return st;
}

static clf_status take_ids(clf_chat_prompt *p, size_t from)
{
    const size_t count = p->encoding->length - from;
    CLF_TRY(clfi_grow(&p->ids, &p->capacity, p->count + count, sizeof *p->ids, "tokens"));
    if (count)
        memcpy(p->ids + p->count, p->encoding->ids + from, count * sizeof *p->ids);
    p->count += count;
    return CLF_OK;
}

/* Encodes a piece that does not begin the prompt. Some tokenizers put a space at the beginning of a text, which the piece must not get: so
 * it is encoded after a newline, whose tokens are left out again. */
static clf_status encode_piece(clf_chat_prompt *p, const char *text, size_t size, bool as_text)
{
    if (size == 0)
        return CLF_OK;
    clfi_str_clear(&p->piece);
    CLF_TRY(clfi_str_append_char(&p->piece, '\n'));
    CLF_TRY(clfi_str_append(&p->piece, text, size));
    CLF_TRY(encode(p, p->piece.data, p->piece.length, as_text));
    const bool is_behind = p->encoding->length >= p->newline_count &&
                           (p->newline_count == 0 || memcmp(p->encoding->ids, p->newline, p->newline_count * sizeof *p->newline) == 0);
    if (!is_behind)
        CLF_TRY(encode(p, text, size, as_text));
    return take_ids(p, is_behind ? p->newline_count : 0);
}

/* Encodes a control token that a message contains as text. */
static clf_status encode_control(clf_chat_prompt *p, const control *token)
{
    const size_t before = p->count;
    CLF_TRY(encode_piece(p, token->text, token->size, true));
    for (size_t i = before; i < p->count; i++)
        if (p->ids[i] == token->id)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "\"%s\" in a message: the tokenizer reads this text as a control token (%s)", token->text,
                     p->remedy);
    return CLF_OK;
}

/* The control token between two marks at text[at..); NULL: the mark at text[at] stands alone. */
static const control *marked_control(const clf_chat_prompt *p, size_t at)
{
    const char *const text = p->text.data + at;
    const size_t size = p->text.length - at;
    if (memcmp(text, begin_mark, MARK_BYTES) != 0)
        return NULL;
    for (size_t i = 0; i < p->control_count; i++) {
        const control *one = &p->controls[i];
        if (size >= 2 * MARK_BYTES + one->size && memcmp(text + MARK_BYTES, one->text, one->size) == 0 &&
            memcmp(text + MARK_BYTES + one->size, end_mark, MARK_BYTES) == 0)
            return one;
    }
    return NULL;
}

/* Encodes the rendered text piece by piece. A mark that the template separated from its token is dropped, but the text is still split
 * there. */
static clf_status encode_marked(clf_chat_prompt *p)
{
    size_t start = 0;
    bool is_first = true;
    for (size_t at = 0; at <= p->text.length && p->count < p->enough; at++) {
        const bool is_end = at == p->text.length;
        if (!is_end && !(p->is_marking && is_mark(p->text.data + at, p->text.length - at)))
            continue;
        const char *const piece = clfi_str_text(&p->text) + start;
        if (is_first) {
            CLF_TRY(encode(p, piece, at - start, false));
            CLF_TRY(take_ids(p, 0));
        } else {
            CLF_TRY(encode_piece(p, piece, at - start, false));
        }
        is_first = false;
        if (is_end)
            break;
        const control *token = marked_control(p, at);
        if (token)
            CLF_TRY(encode_control(p, token));
        start = at + MARK_BYTES + (token ? token->size + MARK_BYTES : 0);
        at = start - 1;
    }
    return CLF_OK;
}

static clf_status render(clf_chat_prompt *p, const clf_message *messages, size_t count, const json_t *more, bool has_answer)
{
    clfi_str_clear(&p->text);
    CLF_TRY(set_messages(p, messages, count, more));
    if (json_object_set_new(p->variables, "add_generation_prompt", json_boolean(has_answer)) != 0)
        return out_of_memory();
    return clfi_template_render(p->form, p->variables, time(NULL), &p->text);
}

clf_status clfi_chat_prompt_make(clf_chat_prompt *p, const clf_message *messages, size_t count, const json_t *more, bool keeps_control,
                                 size_t enough, const int32_t **out, size_t *out_count)
{
    p->count = 0;
    p->enough = enough ? enough : SIZE_MAX;
    p->is_marking = !keeps_control && p->control_count > 0;
    CLF_TRY(render(p, messages, count, more, true));
    CLF_TRY(encode_marked(p));
    *out = p->ids;
    *out_count = p->count;
    return CLF_OK;
}

/* Finds the control token that the template writes after an answer, by rendering one between marks. There is none if the template refuses
 * the conversation. */
static clf_status find_end(clf_chat_prompt *p)
{
    static const char answer[] = "\xf3\xb0\x80\x80"
                                 "answer"
                                 "\xf3\xb0\x80\x81";
    static const clf_message talk[] = {{"user", {"question", 8}}, {"assistant", {answer, sizeof answer - 1}}};
    p->end = -1;
    const clf_status st = render(p, talk, COUNT(talk), NULL, false);
    if (st != CLF_OK)
        return st == CLF_OUT_OF_MEMORY ? st : CLF_OK;
    const char *at = memmem(clfi_str_text(&p->text), p->text.length, answer, sizeof answer - 1);
    if (!at)
        return CLF_OK;
    const char *const end = p->text.data + p->text.length;
    for (at += sizeof answer - 1; at < end && is_space(at, 1);)
        at++;
    const control *token = find_control(p, at, (size_t)(end - at));
    p->end = token ? token->id : -1;
    return CLF_OK;
}

int32_t clfi_chat_prompt_end(const clf_chat_prompt *prompt)
{
    return prompt->end;
}

static clf_status prepare(clf_chat_prompt *p, const char *path)
{
    char *text;
    CLF_TRY(clfi_chat_template_read(path, &text));
    const clf_status st = clfi_template_parse(text, strlen(text), "chat template", &p->form);
    free(text);
    CLF_TRY(st);
    CLF_TRY(clf_encoding_create(&p->encoding));
    CLF_TRY(make_variables(p));
    CLF_TRY(find_controls(p));
    CLF_TRY(take_newline(p));
    return find_end(p);
}

clf_status clfi_chat_prompt_open(const char *path, const clf_tokenizer *tokenizer, const char *remedy, clf_chat_prompt **out)
{
    clf_chat_prompt *p;
    CLF_TRY(clfi_alloc(1, sizeof *p, "chat", &p));
    p->tokenizer = tokenizer;
    p->remedy = remedy;
    p->enough = SIZE_MAX;
    const clf_status st = prepare(p, path);
    if (st == CLF_OK)
        *out = p;
    else
        clfi_chat_prompt_close(p);
    return st;
}
