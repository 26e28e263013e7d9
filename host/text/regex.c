/* SPDX-License-Identifier: MIT */
/* PCRE2 behind the translation: compiling, and finding all matches under limits. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

enum {
    PATTERN_MAX = 65536,    /* bytes */
    STEP_LIMIT = 1000000,   /* of PCRE2, for what is tried at one place */
    STACK_FIRST = 32 << 10, /* bytes of its compiled code's stack */
    STACK_MAX = 1 << 20,
    STEP_LEAST = 4000, /* in texts so long that each step may take long */
    WINDOW = 128,      /* bytes searched in vain between looks at the clock, at most */
    SEARCHES = 32      /* and the matches between them */
};

#define STEPS_BYTES UINT64_C(400000000) /* steps at one place times bytes of the text */
#define CHEAP_NS UINT64_C(1000000)      /* places tried in vain for less: more of them until the next look at the clock */
#define ALLOWANCE_NS UINT64_C(2000000000)
#define ALLOWANCE_NS_PER_BYTE UINT64_C(1000)

struct clf_regex {
    pcre2_code *code;
    bool is_known; /* one of those whose work is in proportion to the text */
};

struct clf_regex_memory {
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint64_t start_ns; /* processor time at the first look at the clock; 0 before it */
    uint64_t last_ns;  /* and at the latest */
    uint64_t bytes;    /* searched since clfi_regex_memory_begin */
    size_t window;     /* places tried in vain between looks at the clock */
    unsigned searches;
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

/* PCRE2's compiled code does not count its steps inside repeats of single characters, so nothing bounds what a pattern like "a*a*b" does at
 * one place. It runs patterns with one repeat at most, and those that most tokenizers have, which never look at a character more than a few
 * times; the others are interpreted, and their steps counted. */
static bool is_known(const char *pattern)
{
    static const char *const known[] = {clfi_regex_gpt2, WORDS("\\p{N}"), WORDS("\\p{N}{1,3}")};
    size_t repeats = 0, groups = 0;
    for (size_t i = 0; i < COUNT(known); i++)
        if (strcmp(pattern, known[i]) == 0)
            return true;
    for (const char *at = pattern; *at; at++) { /* an escaped one counts too: no harm */
        repeats += *at == '*' || *at == '+' || *at == '{';
        groups += *at == '(';
    }
    return repeats <= 1 && groups == 0;
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
                      PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT | (known ? 0 : PCRE2_NO_AUTO_POSSESS),
                      &error, &offset, context);
    pcre2_compile_context_free(context);
    if (!code) {
        PCRE2_UCHAR reason[160];
        pcre2_get_error_message(error, reason, sizeof reason);
        CLF_FAIL(CLF_FORMAT, "%s: regular expression \"%.200s\": %s", where, original, (const char *)reason);
    }
    if (known)
        pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* where there is no compiler, PCRE2 interprets */
    *out = code;
    return CLF_OK;
}

clf_status clfi_regex_create(const char *pattern, const char *where, clf_regex **out)
{
    clf_str translated = CLF_STR_INIT;
    clf_regex *regex = NULL;
    clf_status st;
    if (strlen(pattern) > PATTERN_MAX)
        CLF_FAIL(CLF_FORMAT, "%s: a regular expression of %zu bytes: expected at most %d", where, strlen(pattern), PATTERN_MAX);
    CLF_GOTO(clfi_str_append(&translated, "", 0));
    CLF_GOTO(clfi_regex_translate(pattern, where, &translated));
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
    memory->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL); /* NULL where there is no compiler */
    if (!memory->match || !memory->context) {
        clfi_regex_memory_free(memory);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "regular expression memory");
    }
    if (memory->stack)
        pcre2_jit_stack_assign(memory->context, NULL, memory->stack);
    *out = memory;
    return CLF_OK;
}

void clfi_regex_memory_begin(clf_regex_memory *memory)
{
    if (memory)
        memory->start_ns = memory->bytes = memory->searches = 0;
}

/* A step of an interpreted pattern may run over the whole text: the longer that is, the fewer steps at one place. */
static void set_limits(clf_regex_memory *memory, const clf_regex *regex, size_t size)
{
    const size_t steps = (size_t)(STEPS_BYTES / (size + 1));
    memory->window = regex->is_known ? WINDOW : 1;
    pcre2_set_match_limit(memory->context, regex->is_known || steps > STEP_LIMIT ? STEP_LIMIT
                                           : steps < STEP_LEAST                  ? STEP_LEAST
                                                                                 : (uint32_t)steps);
}

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Each single search is bounded by the step limit and the window; this bounds them together. */
static clf_status check_time(clf_regex_memory *memory, bool found)
{
    if (found && ++memory->searches % SEARCHES)
        return CLF_OK;
    const uint64_t now = processor_ns();
    if (!memory->start_ns)
        memory->start_ns = memory->last_ns = now;
    if (!found)
        memory->window = now - memory->last_ns > CHEAP_NS ? 1 : memory->window < WINDOW ? 2 * memory->window : WINDOW;
    memory->last_ns = now;
    if (now - memory->start_ns > ALLOWANCE_NS + memory->bytes * ALLOWANCE_NS_PER_BYTE)
        CLF_FAIL(CLF_UNSUPPORTED, "regular expression: %.1f seconds on %llu bytes of text", (double)(now - memory->start_ns) * 1e-9,
                 (unsigned long long)memory->bytes);
    return CLF_OK;
}

/* The first match that begins at `from` or later. */
static clf_status search(const clf_regex *regex, const char *text, size_t size, size_t from, clf_regex_memory *memory, bool *found,
                         size_t *start, size_t *end)
{
    *found = false;
    while (from <= size) {
        const size_t last = size - from > memory->window ? from + memory->window : size;
        pcre2_set_offset_limit(memory->context, last);
        const int rc = pcre2_match(regex->code, (PCRE2_SPTR)text, size, from, PCRE2_NO_UTF_CHECK, memory->match, memory->context);
        if (rc != PCRE2_ERROR_NOMATCH) {
            if (rc < 0) {
                PCRE2_UCHAR reason[160];
                pcre2_get_error_message(rc, reason, sizeof reason);
                CLF_FAIL(CLF_UNSUPPORTED, "regular expression at byte %zu of a text of %zu: %s", from, size, (const char *)reason);
            }
            const PCRE2_SIZE *match = pcre2_get_ovector_pointer(memory->match);
            *found = true;
            *start = match[0];
            *end = match[1];
            return check_time(memory, true);
        }
        CLF_TRY(check_time(memory, false));
        from = last + 1;
        while (from < size && ((unsigned char)text[from] & 0xc0) == 0x80)
            from++;
    }
    return CLF_OK;
}

clf_status clfi_regex_find(const clf_regex *regex, const char *text, size_t size, clf_regex_memory **memory, clf_piece_list *pieces)
{
    if (!*memory)
        CLF_TRY(memory_create(memory));
    (*memory)->bytes += size;
    set_limits(*memory, regex, size);
    size_t from = 0, done = 0, last_end = SIZE_MAX;
    for (;;) {
        bool found;
        size_t start = 0, end = 0;
        CLF_TRY(search(regex, text, size, from, *memory, &found, &start, &end));
        if (!found)
            break;
        from = end;
        if (start == end && end == last_end) { /* nothing, right behind a match: go on one character further */
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
