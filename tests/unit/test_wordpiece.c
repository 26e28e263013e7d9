/* SPDX-License-Identifier: MIT */
/* The stages of the BERT tokenizer one by one, and every Unicode code point against checksums made with Hugging Face's tokenizers. */
#include "support/check.h"
#include "support/crc.h"

#include <stdio.h>

#include "base/file.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/normalizer_bert.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer_bert.h"
#include "text/token_model.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/wordpiece.h"

#define DATA CLF_TEST_DATA "/tokenizer"

/* --- stages --- */

static void check_normal(clf_normalizer_bert normalizer, const char *text, const char *want)
{
    clf_str out = CLF_STR_INIT;
    clf_code_list run = {0};
    CHECK_OK(clfi_normalize_bert(&normalizer, text, strlen(text), &run, &out));
    assert_string_equal(clfi_str_text(&out), want);
    assert_int_equal(run.count, 0);
    clfi_str_free(&out);
    free(run.codes);
}

static void normalizer(void **state)
{
    (void)state;
    const clf_normalizer_bert none = {0}, clean = {.clean_text = true}, apart = {.handle_chinese_chars = true},
                              strip = {.strip_accents = true}, lower = {.lowercase = true}, all = {true, true, true, true};
    check_normal(none, "A\t\x01\u00e9\u4e2d", "A\t\x01\u00e9\u4e2d");
    check_normal(clean,
                 "a\x01"
                 "b\tc\r\nd\u00a0e\u200bf\u2028g\ufffdh\xc2\x85i",
                 "ab c  d ef ghi");
    check_normal(apart, "a\u4e2db\uf900", "a \u4e2d b \uf900 ");
    check_normal(strip, "\u00c9e\u0301\u1e69\uac01", "Ees\u1100\u1161\u11a8");
    check_normal(strip, "a\u302e\U0001d165\u1b44b", "a\u1b44\U0001d165\u302eb");    /* classes 224, 216, 9 */
    check_normal(strip, "a\u302e\u0301\U0001d165b", "a\U0001d165\u302eb");          /* a mark in between is no barrier */
    check_normal(strip, "a\u302e \U0001d165\u302e", "a\u302e \U0001d165\u302e");    /* a space is */
    check_normal(all, "a\u302e\x01\U0001d165", "a\U0001d165\u302e");                /* a removed character is not */
    check_normal(lower, "\u0130\u1e9e\u03a3\u10a0A", "i\u0307\u00df\u03c3\u2d00a"); /* no final sigma */
    check_normal(all, "\u0130stanbul \u2126", "istanbul \u03c9");
    check_normal(all, "", "");
}

static void pretokenizer(void **state)
{
    (void)state;
    static const char text[] = "  Hey, you!?\u3000x\u3002y\t";
    static const char *const want[] = {"Hey", ",", "you", "!", "?", "x", "\u3002", "y"};
    size_t at = 0, count = 0;
    for (clf_word word; clfi_pre_tokenize_bert(text, sizeof text - 1, &at, &word); count++) {
        assert_true(count < COUNT(want));
        CHECK(word.size == strlen(want[count]) && memcmp(text + word.start, want[count], word.size) == 0, "word %zu is not %s", count,
              want[count]);
    }
    assert_int_equal(count, COUNT(want));
}

static void check_pieces(const void *model, const char *word, const int32_t *want, size_t count)
{
    clf_token_list got = {0};
    clf_text_workspace work = {.repaired = CLF_STR_INIT};
    CHECK_OK(clfi_wordpiece_kind.encode(model, word, strlen(word), &work, &got));
    CHECK(got.count == count, "%s: %zu pieces, want %zu", word, got.count, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(got.tokens[i].id == want[i], "%s: piece %zu is %d, want %d", word, i, (int)got.tokens[i].id, (int)want[i]);
        CHECK(got.tokens[i].start == (i ? got.tokens[i - 1].end : 0), "%s: piece %zu does not follow the one before it", word, i);
    }
    assert_int_equal(got.tokens[count - 1].end, strlen(word));
    free(got.tokens);
    clfi_text_workspace_free(&work);
}

static void wordpiece(void **state)
{
    (void)state;
    static const char *const tokens[] = {"[UNK]", "un", "##aff", "##able", "##a", "unaf", "\u00e9", "##\u00e9t", "##\u00e9"};
    clf_vocabulary vocabulary = CLF_VOCABULARY_INIT;
    clf_wordpiece_settings settings = CLF_WORDPIECE_SETTINGS_INIT;
    void *model;
    for (size_t i = 0; i < COUNT(tokens); i++)
        CHECK_OK(clfi_vocabulary_add(&vocabulary, tokens[i], strlen(tokens[i]), (int64_t)i));
    CHECK_OK(clfi_vocabulary_index(&vocabulary, 0));
    settings.max_word_characters = 8;
    CHECK_OK(clfi_wordpiece_create(&vocabulary, &settings, "test", &model));
    check_pieces(model, "una", (const int32_t[]){1, 4}, 2);
    check_pieces(model, "unaffx", (const int32_t[]){0}, 1); /* "unaf" is longest and leads nowhere */
    check_pieces(model, "unaable", (const int32_t[]){1, 4, 3}, 3);
    check_pieces(model, "aff", (const int32_t[]){0}, 1); /* continues only */
    check_pieces(model, "\u00e9\u00e9\u00e9t", (const int32_t[]){6, 8, 7}, 3);
    check_pieces(model, "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", (const int32_t[]){6, 8, 8, 8, 8, 8, 8, 8}, 8);
    check_pieces(model, "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", (const int32_t[]){0}, 1); /* nine characters */
    clfi_wordpiece_kind.part.destroy(model);
}

static void vocabulary(void **state)
{
    (void)state;
    static const char lines[] = "[UNK]\r\na b\n\nword \u3000\nlast\nword";
    clf_vocabulary v = CLF_VOCABULARY_INIT;
    CHECK_OK(clfi_vocabulary_parse_lines(&v, lines, sizeof lines - 1, "lines"));
    CHECK_OK(clfi_vocabulary_index(&v, 0));
    assert_int_equal(clfi_vocabulary_find(&v, "[UNK]", 5), 0);
    assert_int_equal(clfi_vocabulary_find(&v, "a b", 3), 1);
    assert_int_equal(clfi_vocabulary_find(&v, "", 0), 2);
    assert_int_equal(clfi_vocabulary_find(&v, "word", 4), 5); /* the last of equal lines */
    assert_int_equal(clfi_vocabulary_find(&v, "wor", 3), -1);
    assert_int_equal(clfi_vocabulary_find(&v, "a token longer than all", 23), -1);
    assert_null(clfi_vocabulary_token(&v, 3));
    assert_string_equal(clfi_vocabulary_token(&v, 5), "word");
    assert_int_equal(v.id_count, 6);
    clfi_vocabulary_free(&v);

    char token[16]; /* enough to grow several times */
    for (int i = 0; i < 5000; i++)
        CHECK_OK(clfi_vocabulary_add(&v, token, (size_t)snprintf(token, sizeof token, "t%d", i), i * 3));
    CHECK_OK(clfi_vocabulary_index(&v, 0));
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(clfi_vocabulary_find(&v, token, (size_t)snprintf(token, sizeof token, "t%d", i)), i * 3);
        assert_string_equal(clfi_vocabulary_token(&v, i * 3), token);
        assert_null(clfi_vocabulary_token(&v, i * 3 + 1));
    }
    clfi_vocabulary_free(&v);
    assert_int_equal(clfi_vocabulary_find(&v, "t1", 2), -1);
}

static void added_tokens(void **state)
{
    (void)state;
    clf_added_tokens added = {.ids = CLF_VOCABULARY_INIT};
    clf_chain lower = {0};
    json_t *lowercase = json_pack("{s:s}", "type", "Lowercase");
    CHECK_OK(clfi_chain_read(lowercase, "test", &clfi_normalizers, &lower));
    json_decref(lowercase);
    const clf_added_token tokens[] = {
        {"ab", 2, 1, false, false, false, false, true, false}, {"abc", 3, 2, true, false, false, false, true, false},
        {"<m>", 3, 3, false, true, true, false, true, false},  {"XY", 2, 4, false, false, false, true, false, false},
        {"", 0, 5, false, false, false, false, true, false},
    };
    for (size_t i = 0; i < COUNT(tokens); i++)
        CHECK_OK(clfi_added_tokens_add(&added, &tokens[i]));
    CHECK_OK(clfi_added_tokens_finish(&added, 0, &lower));
    assert_int_equal(added.count, 4);

    static const char text[] = "abcd abc  <m>\u3000 XY ab";
    static const clf_segment want[] = {{0, 5, -1}, {5, 8, 2}, {8, 17, 3}, {17, 20, -1}, {20, 22, 1}};
    clf_segment_walk walk = {0};
    clf_segment got;
    size_t count = 0;
    for (; clfi_added_next(&added.raw, text, sizeof text - 1, false, &walk, &got); count++) {
        assert_true(count < COUNT(want));
        CHECK(got.start == want[count].start && got.end == want[count].end && got.id == want[count].id, "segment %zu is %zu..%zu id %d",
              count, got.start, got.end, (int)got.id);
    }
    assert_int_equal(count, COUNT(want));

    walk = (clf_segment_walk){0};
    assert_true(clfi_added_next(&added.normalized, "xy", 2, false, &walk, &got) && got.id == 4);
    assert_false(clfi_added_next(&added.normalized, "xy", 2, false, &walk, &got));
    clfi_added_tokens_free(&added);
    clfi_chain_free(&lower);
}

/* --- truncation, against its definition: take token after token from the longer sequence, of equals from the one that was shorter --- */

static void truncate_pair(void **state)
{
    (void)state;
    for (size_t room = 0; room < 12; room++)
        for (size_t a = 0; a < 14; a++)
            for (size_t b = 0; b < 14; b++) {
                size_t x = a, y = b, left = a, right = b;
                clfi_truncate_pair(room, &x, &y);
                while (left + right > room)
                    left > right || (left == right && a <= b) ? left-- : right--;
                CHECK(x == left && y == right, "%zu and %zu into %zu: %zu and %zu, want %zu and %zu", a, b, room, x, y, left, right);
            }
}

/* --- every code point --- */

typedef struct clf_sweep {
    clf_tokenizer *tokenizer;
    clf_encoding encoding;
    clf_code_list run;
    clf_str text, form;
    uint32_t crc;
} clf_sweep;

/* before, the code point, after */
static void compose(clf_sweep *sweep, const char *before, uint32_t code, const char *after)
{
    clfi_str_clear(&sweep->text);
    CHECK_OK(clfi_str_append_text(&sweep->text, before));
    CHECK_OK(clfi_str_append_code_point(&sweep->text, code));
    CHECK_OK(clfi_str_append_text(&sweep->text, after));
}

static void add_form(clf_sweep *sweep, clf_normalizer_bert normalizer_of)
{
    clfi_str_clear(&sweep->form);
    CHECK_OK(clfi_normalize_bert(&normalizer_of, sweep->text.data, sweep->text.length, &sweep->run, &sweep->form));
    sweep->crc = crc32_add(sweep->crc, clfi_str_text(&sweep->form), sweep->form.length);
    sweep->crc = crc32_add(sweep->crc, "\xff", 1);
}

static void add_ids(clf_sweep *sweep)
{
    const clf_encode_options bare = {.add_special_tokens = false};
    CHECK_OK(clfi_tokenizer_encode(sweep->tokenizer, sweep->text.data, sweep->text.length, NULL, 0, &bare, &sweep->encoding));
    for (size_t i = 0; i < sweep->encoding.length; i++) {
        const uint32_t id = (uint32_t)sweep->encoding.ids[i];
        const unsigned char bytes[4] = {id & 0xff, id >> 8 & 0xff, id >> 16 & 0xff, id >> 24 & 0xff};
        sweep->crc = crc32_add(sweep->crc, bytes, sizeof bytes);
    }
}

/* The bytes that make_golden.py's sweep() describes. */
static void add_code_point(clf_sweep *sweep, uint32_t code)
{
    compose(sweep, "", code, "");
    add_form(sweep, (clf_normalizer_bert){true, true, true, true});
    add_form(sweep, (clf_normalizer_bert){.clean_text = true});
    add_form(sweep, (clf_normalizer_bert){.handle_chinese_chars = true});
    add_form(sweep, (clf_normalizer_bert){.lowercase = true});
    compose(sweep, "x\u302e", code, "\U0001d165\u1b44");
    add_form(sweep, (clf_normalizer_bert){.strip_accents = true});
    compose(sweep, "a", code, "b");
    size_t at = 0;
    for (clf_word word; clfi_pre_tokenize_bert(sweep->text.data, sweep->text.length, &at, &word);) {
        sweep->crc = crc32_add(sweep->crc, sweep->text.data + word.start, word.size);
        sweep->crc = crc32_add(sweep->crc, "\xfe", 1);
    }
    add_ids(sweep);
    compose(sweep, "", code, "");
    add_ids(sweep);
}

static void every_code_point(void **state)
{
    (void)state;
    clf_sweep sweep = {.encoding = CLF_ENCODING_INIT, .text = CLF_STR_INIT, .form = CLF_STR_INIT};
    clf_str sums = CLF_STR_INIT;
    assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
    CHECK_OK(clf_tokenizer_open(DATA, &sweep.tokenizer));
    CHECK_OK(clfi_file_read(DATA "/sweep.txt", 1 << 20, &sums));
    char *at = sums.data;
    for (uint32_t start = 0; start < 0x110000; start += 256) {
        sweep.crc = 0;
        for (uint32_t code = start; code < start + 256; code++)
            if (code < 0xd800 || code > 0xdfff)
                add_code_point(&sweep, code);
        char *end;
        const unsigned long want = strtoul(at, &end, 16);
        CHECK(end > at && sweep.crc == want, "U+%04X..U+%04X: checksum %08x, want %08lx", (unsigned)start, (unsigned)start + 255,
              (unsigned)sweep.crc, want);
        at = end;
    }
    clf_tokenizer_destroy(sweep.tokenizer);
    clfi_encoding_free(&sweep.encoding);
    clfi_str_free(&sweep.text);
    clfi_str_free(&sweep.form);
    clfi_str_free(&sums);
    free(sweep.run.codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalizer),   cmocka_unit_test(pretokenizer),  cmocka_unit_test(wordpiece),        cmocka_unit_test(vocabulary),
        cmocka_unit_test(added_tokens), cmocka_unit_test(truncate_pair), cmocka_unit_test(every_code_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
