/* SPDX-License-Identifier: MIT */
/* Growable strings, the recorded reason of a failure, and hashes. */
#include "base/str.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/status.h"
#include "support/check.h"

static void strings(void **state)
{
    (void)state;
    clf_str s = CLF_STR_INIT;
    assert_string_equal(clfi_str_text(&s), "");
    CHECK_OK(clfi_str_append(&s, NULL, 0));
    assert_string_equal(s.data, "");
    CHECK_OK(clfi_str_append_text(&s, "abc"));
    CHECK_OK(clfi_str_append(&s, "\0d", 2));
    CHECK_OK(clfi_str_append_char(&s, 'e'));
    CHECK_OK(clfi_str_append_code_point(&s, 0x1f600));
    CHECK_OK(clfi_str_appendf(&s, "%d-%s", 42, "x"));
    assert_int_equal(s.length, 14);
    assert_memory_equal(s.data, "abc\0de\xf0\x9f\x98\x80" "42-x", 15);
    clfi_str_clear(&s);
    assert_int_equal(s.length, 0);
    assert_string_equal(clfi_str_text(&s), "");
    for (int i = 0; i < 1000; i++)
        CHECK_OK(clfi_str_appendf(&s, "%03d", i));
    assert_int_equal(s.length, 3000);
    assert_memory_equal(s.data + 2997, "999", 4);
    clfi_str_free(&s);
    assert_null(s.data);
    CHECK_OK(clfi_str_append_char(&s, 'q')); /* usable again */
    assert_string_equal(s.data, "q");
    CHECK_FAILS(clfi_str_append(&s, "x", SIZE_MAX), CLF_OUT_OF_MEMORY, "string of 1 + 18446744073709551615 bytes");
    assert_string_equal(s.data, "q");
    clfi_str_free(&s);
    clfi_str_free(&s);
}

static clf_status fails(int value)
{
    CLF_FAIL(CLF_NOT_FOUND, "value %d", value);
}

static clf_status forwards(int value)
{
    CLF_TRY(fails(value));
    return CLF_OK;
}

static clf_status one_exit(int value, bool *cleaned)
{
    clf_status st;
    CLF_GOTO(forwards(value));
done:
    *cleaned = true;
    return st;
}

static void reasons(void **state)
{
    (void)state;
    bool cleaned = false;
    CHECK_FAILS(one_exit(7, &cleaned), CLF_NOT_FOUND, "value 7");
    assert_true(cleaned);
    assert_int_equal(clfi_fail_prefix(CLF_FORMAT, "file %s", "f"), CLF_FORMAT);
    assert_string_equal(clf_last_error(), "file f: value 7");
    assert_int_equal(clfi_fail(CLF_IO, "again: %s", clf_last_error()), CLF_IO); /* the old reason as an argument */
    assert_string_equal(clf_last_error(), "again: file f: value 7");
    clfi_fail(CLF_IO, "a\nb\x1b[2Jc\x7f\xc2\x9b" "d\xff\xc3\xa9\xe4\xb8");
    assert_string_equal(clf_last_error(), "a?b?[2Jc???d?\xc3\xa9??");
}

static void long_reasons(void **state)
{
    (void)state;
    char *text = malloc(5001);
    for (int i = 0; i < 5000; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[5000] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        clfi_fail(CLF_IO, "%.*s%s", shift, "x", text);
        assert_int_equal(strlen(clf_last_error()), 1023);
        const char last = clf_last_error()[1022];
        assert_true(shift ? last == '\xa9' : last == '?'); /* half a character is none */
    }
    clfi_fail_prefix(CLF_IO, "%s", text);
    assert_true(strlen(clf_last_error()) <= 1023);
    free(text);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    const bool empty = clf_last_error()[0] == '\0';
    clfi_fail(CLF_IO, "other thread");
    return empty ? (void *)1 : NULL;
}

static void reasons_are_per_thread(void **state)
{
    (void)state;
    pthread_t thread;
    void *result;
    clfi_fail(CLF_IO, "this thread");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_non_null(result);
    assert_string_equal(clf_last_error(), "this thread");
}

static void status_texts(void **state)
{
    (void)state;
    assert_string_equal(clf_status_text(CLF_OK), "ok");
    assert_string_equal(clf_status_text(CLF_FORMAT), "malformed data");
    assert_string_equal(clf_status_id(CLF_NOT_FOUND), "NOT_FOUND");
    assert_string_equal(clf_status_text(CLF_STATUS_COUNT), "unknown status");
    assert_string_equal(clf_status_id((clf_status)-1), "UNKNOWN");
    for (int i = 0; i < CLF_STATUS_COUNT; i++)
        assert_true(clf_status_text((clf_status)i)[0] && clf_status_id((clf_status)i)[0]);
}

static void hashes(void **state)
{
    (void)state;
    char a[CLFI_HASH_TEXT_BYTES], b[CLFI_HASH_TEXT_BYTES];
    clfi_hash("", 0, a);
    assert_string_equal(a, "99aa06d3014798d86001c324468d497f"); /* XXH3-128 of nothing, as its specification's test vectors say */
    clfi_hash("abc", 3, a);
    clfi_hash("abd", 3, b);
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(b), 32);
}

static void time_never_goes_back(void **state)
{
    (void)state;
    uint64_t last = clfi_now_ns();
    for (int i = 0; i < 10000; i++) {
        const uint64_t now = clfi_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),      cmocka_unit_test(reasons), cmocka_unit_test(long_reasons), cmocka_unit_test(reasons_are_per_thread),
        cmocka_unit_test(status_texts), cmocka_unit_test(hashes),  cmocka_unit_test(time_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
