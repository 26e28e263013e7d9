/* SPDX-License-Identifier: MIT */
/* Compiles translated patterns with PCRE2 and finds all matches under limits. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
    PATTERN_MAX = 65536,      /* bytes */
    STACK_FIRST = 32 << 10,   /* bytes of stack for PCRE2's machine code */
    STACK_MAX = 32 << 20,     /* if this is not enough, PCRE2's interpreter runs the pattern */
    HEAP_MAX_KIB = 256 << 10, /* memory of the interpreter for backtracking */
    STEPS_PER_BYTE = 64       /* match limit of known patterns, which look at a character only a few times */
};

/* Limit of the work on a text. Work counts the characters that were passed over, forwards or back, and the pattern items that were
 * tried. */
#define WORK_LEAST (UINT64_C(1) << 26)
#define WORK_PER_BYTE UINT64_C(512)
#define WORK_ITEM 4 /* work of each item that is tried, beside the characters */

struct clf_regex {
    pcre2_code *code;
    bool is_known; /* one of the known patterns, whose work is in proportion to the text */
};

struct clf_regex_memory {
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint64_t work;  /* since clfi_regex_memory_begin */
    uint64_t bytes; /* searched since then */
    size_t at;      /* where the last callout was */
};

void clfi_regex_destroy(clf_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    free(regex);
}

#define WORDS(digits) \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

const char clfi_regex_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* Whether the pattern is one of those that most tokenizers have. They look at each character only a few times, so they run without
 * callouts. */
static bool is_known(const char *pattern)
{
    static const char *const known[] = {clfi_regex_gpt2, WORDS("\\p{N}"), WORDS("\\p{N}{1,3}")};
    for (size_t i = 0; i < COUNT(known); i++)
        if (strcmp(pattern, known[i]) == 0)
            return true;
    return false;
}

/* PCRE2 calls this before each pattern item that it tries; between two calls it passes over a stretch of text at most once. PCRE2's own
 * step count leaves out repeats of single characters, so it would not bound a pattern such as "a*a*b". */
static int count_work(pcre2_callout_block *block, void *user)
{
    clf_regex_memory *memory = user;
    const size_t at = block->current_position;
    memory->work += WORK_ITEM + (at > memory->at ? at - memory->at : memory->at - at);
    memory->at = at;
    return memory->work > WORK_LEAST + memory->bytes * WORK_PER_BYTE ? PCRE2_ERROR_CALLOUT : 0;
}

/* Bytes of the translated character class at the start of `text`; 0: it begins with something else. */
static size_t class_size(const char *text)
{
    if (*text == '[') {
        for (size_t i = 1; text[i]; i++) {
            if (text[i] == '\\' && text[i + 1])
                i++;
            else if (text[i] == ']')
                return i + 1;
        }
        return 0;
    }
    if (*text != '\\' || !text[1] || !strchr("pPx", text[1]) || text[2] != '{')
        return 0;
    const char *end = strchr(text, '}');
    return end ? (size_t)(end - text) + 1 : 0;
}

static bool has_alternatives(const char *text)
{
    int depth = 0;
    for (size_t size; *text; text += size) {
        size = class_size(text);
        if (size)
            continue;
        if (*text == '|' && depth == 0)
            return true;
        depth += (*text == '(') - (*text == ')');
        size = *text == '\\' && text[1] ? 2 : 1;
    }
    return false;
}

/* Speeds up patterns "C+rest" with a character class C, such as "\s+$". A match that begins after a character of C could begin at that
 * character as well. So the leftmost match begins where the search begins or after a character that is not in C. A lookbehind for this
 * keeps the search from trying each place of a long run. */
static clf_status begin_runs(clf_str *pattern)
{
    const char *text = clfi_str_text(pattern);
    const size_t size = class_size(text);
    if (size == 0 || text[size] != '+' || text[size + 1] == '+' || text[size + 1] == '?' || has_alternatives(text))
        return CLF_OK;
    clf_str longer = CLF_STR_INIT;
    const clf_status st = clfi_str_appendf(&longer, "(?:\\G|(?<!%.*s))%s", (int)size, text, text);
    if (st == CLF_OK) {
        const clf_str shorter = *pattern;
        *pattern = longer;
        longer = shorter;
    }
    clfi_str_free(&longer);
    return st;
}

static clf_status compile(const clf_str *pattern, const char *original, const char *where, bool known, pcre2_code **out)
{
    int error;
    PCRE2_SIZE offset;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    if (!context)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "%s: regular expression: not enough memory", where);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)pattern->data, pattern->length,
                      PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | (known ? 0 : PCRE2_AUTO_CALLOUT), &error, &offset, context);
    pcre2_compile_context_free(context);
    if (!code) {
        PCRE2_UCHAR reason[160];
        pcre2_get_error_message(error, reason, sizeof reason);
        CLF_FAIL(CLF_FORMAT, "%s: regular expression \"%.200s\": %s", where, original, (const char *)reason);
    }
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* where there is no compiler, PCRE2 interprets */
    *out = code;
    return CLF_OK;
}

/* The usual pattern that splits digits into threes from the right looks at all digits after each three. This one does so only for the
 * first three of a run, which begins where the run begins; the others begin where the match before them ended. */
static const char *in_linear_time(const char *pattern)
{
    if (strcmp(pattern, "\\d{1,3}(?=(?:\\d{3})*\\b)") == 0)
        return "(?<!\\d)\\d{1,3}(?=(?:\\d{3})*+\\b)|\\G(?<=\\d)\\d{3}";
    return pattern;
}

clf_status clfi_regex_create(const char *pattern, const char *where, clf_regex **out)
{
    clf_str translated = CLF_STR_INIT;
    clf_regex *regex = NULL;
    clf_status st;
    if (strlen(pattern) > PATTERN_MAX)
        CLF_FAIL(CLF_FORMAT, "%s: a regular expression of %zu bytes: expected at most %d", where, strlen(pattern), PATTERN_MAX);
    CLF_GOTO(clfi_str_append(&translated, "", 0));
    CLF_GOTO(clfi_regex_translate(in_linear_time(pattern), where, &translated));
    CLF_GOTO(begin_runs(&translated));
    CLF_GOTO(clfi_alloc(1, sizeof *regex, "regular expression", &regex));
    regex->is_known = is_known(pattern);
    CLF_GOTO(compile(&translated, pattern, where, regex->is_known, &regex->code));
    *out = regex;
    regex = NULL;
done:
    clfi_regex_destroy(regex);
    clfi_str_free(&translated);
    return st;
}

bool clfi_regex_cuts_words(const clf_regex *regex)
{
    return regex->is_known;
}

void clfi_regex_memory_free(clf_regex_memory *memory)
{
    if (!memory)
        return;
    pcre2_match_data_free(memory->match);
    pcre2_match_context_free(memory->context);
    pcre2_jit_stack_free(memory->stack);
    free(memory);
}

static clf_status memory_create(clf_regex_memory **out)
{
    clf_regex_memory *memory;
    CLF_TRY(clfi_alloc(1, sizeof *memory, "regular expression memory", &memory));
    memory->match = pcre2_match_data_create(1, NULL);
    memory->context = pcre2_match_context_create(NULL);
    memory->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL); /* NULL if PCRE2 cannot compile to machine code */
    if (!memory->match || !memory->context) {
        clfi_regex_memory_free(memory);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "regular expression: not enough memory");
    }
    if (memory->stack)
        pcre2_jit_stack_assign(memory->context, NULL, memory->stack);
    pcre2_set_callout(memory->context, count_work, memory);
    pcre2_set_heap_limit(memory->context, HEAP_MAX_KIB);
    *out = memory;
    return CLF_OK;
}

void clfi_regex_memory_begin(clf_regex_memory *memory)
{
    if (memory)
        memory->work = memory->bytes = 0;
}

static clf_status fail_match(const clf_regex_memory *memory, int rc, size_t from, size_t size)
{
    PCRE2_UCHAR reason[160];
    if (rc == PCRE2_ERROR_CALLOUT)
        CLF_FAIL(CLF_UNSUPPORTED,
                 "regular expression at byte %zu of a text of %zu: %llu steps: too much backtracking "
                 "(shorten long runs of similar characters, or simplify the expression in tokenizer.json)",
                 from, size, (unsigned long long)memory->work);
    pcre2_get_error_message(rc, reason, sizeof reason);
    CLF_FAIL(CLF_UNSUPPORTED, "regular expression at byte %zu of a text of %zu: %s (shorten long runs of similar characters)", from, size,
             (const char *)reason);
}

/* The first match that begins at `from` or later. */
static clf_status search(const clf_regex *regex, const char *text, size_t size, size_t from, clf_regex_memory *memory, bool *found,
                         size_t *start, size_t *end)
{
    memory->at = from;
    int rc = pcre2_match(regex->code, (PCRE2_SPTR)text, size, from, PCRE2_NO_UTF_CHECK, memory->match, memory->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(regex->code, (PCRE2_SPTR)text, size, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, memory->match, memory->context);
    *found = rc >= 0;
    if (rc == PCRE2_ERROR_NOMATCH)
        return CLF_OK;
    if (rc < 0)
        return fail_match(memory, rc, from, size);
    const PCRE2_SIZE *match = pcre2_get_ovector_pointer(memory->match);
    *start = match[0];
    *end = match[1];
    return CLF_OK;
}

clf_status clfi_regex_find(const clf_regex *regex, const char *text, size_t size, clf_regex_memory **memory, clf_piece_list *pieces)
{
    if (!*memory)
        CLF_TRY(memory_create(memory));
    (*memory)->bytes += size;
    pcre2_set_match_limit((*memory)->context, regex->is_known && size < UINT32_MAX / STEPS_PER_BYTE - STEPS_PER_BYTE
                                                  ? (uint32_t)(size + STEPS_PER_BYTE) * STEPS_PER_BYTE
                                                  : UINT32_MAX);
    size_t from = 0, done = 0, last_end = SIZE_MAX;
    for (;;) {
        bool found;
        size_t start = 0, end = 0;
        CLF_TRY(search(regex, text, size, from, *memory, &found, &start, &end));
        if (!found)
            break;
        from = end;
        if (start == end && end == last_end) { /* an empty match right after a match: continue one character later */
            if (end >= size)
                break;
            do
                from++;
            while (from < size && ((unsigned char)text[from] & 0xc0) == 0x80);
            continue;
        }
        last_end = end;
        if (done < start)
            CLF_TRY(clfi_piece_append(pieces, done, start, 0));
        CLF_TRY(clfi_piece_append(pieces, start, end, 1));
        done = end;
    }
    return done < size ? clfi_piece_append(pieces, done, size, 0) : CLF_OK;
}
