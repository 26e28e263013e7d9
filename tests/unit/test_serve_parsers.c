/* SPDX-License-Identifier: MIT */
/* Tests the parts of the server that need no device: headers, fields of requests, how they become jobs, numbers as text and base64. */
#include "serve/cohere.h"
#include "serve/fields.h"
#include "serve/headers.h"
#include "serve/numbers.h"
#include "serve/openai_text.h"
#include "serve/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/json.h"
#include "model/model.h"
#include "support/check.h"

typedef struct header {
    const char *name, *value;
} header;

static srv_fault fault_of(const header *list, size_t count, bool is_modern)
{
    srv_headers headers = {.bytes = 0};
    srv_error error = {.fault = SRV_FAULT_NONE};
    for (size_t i = 0; i < count; i++)
        srv_headers_take(&headers, list[i].name, list[i].value);
    if (srv_headers_check(&headers, is_modern, &error))
        srv_headers_check_type(&headers, &error);
    return error.fault;
}

#define FAULT(is_modern, ...) fault_of((const header[]){__VA_ARGS__}, COUNT(((const header[]){__VA_ARGS__})), is_modern)

static void test_headers(void **state)
{
    (void)state;
    assert_int_equal(FAULT(true, {"Host", "a"}), SRV_FAULT_NONE);
    assert_int_equal(FAULT(false, {"Accept", NULL}), SRV_FAULT_NONE);
    assert_int_equal(FAULT(true, {"Accept", ""}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"host", "a"}, {"HOST", "a"}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Length", "5"}, {"content-length", "5"}), SRV_FAULT_MESSAGE);
    static const char *const lengths[] = {"", "+5", "-5", "5 5", "0x5", "5,5", "9999999999999999999"};
    for (size_t i = 0; i < COUNT(lengths); i++)
        assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Length", lengths[i]}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Transfer-Encoding", "gzip, chunked"}), SRV_FAULT_NOT_BUILT);
    assert_int_equal(FAULT(false, {"Transfer-Encoding", "chunked"}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Length ", "5"}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"", "5"}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"X", "a\tb"}), SRV_FAULT_NONE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"X", "a\rb"}), SRV_FAULT_MESSAGE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Expect", "200-ok"}), SRV_FAULT_EXPECTATION);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Type", "Application/JSON ; charset=utf-8"}), SRV_FAULT_NONE);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Type", "application/json5"}), SRV_FAULT_MEDIA);
    assert_int_equal(FAULT(true, {"Host", "a"}, {"Content-Encoding", "gzip"}), SRV_FAULT_MEDIA);
}

static void expect_path(const char *target, const char *path)
{
    char *found;
    assert_int_equal(srv_target_path(target, &found), CLF_OK);
    assert_string_equal(found, path);
    free(found);
}

static void test_targets(void **state)
{
    (void)state;
    expect_path("/health", "/health");
    expect_path("/health?a=/b%20", "/health");
    expect_path("/%68ealth#a", "/health");
    expect_path("http://a:80/v1/models?x", "/v1/models");
    expect_path("HTTPS://a", "/");
    expect_path("http://a?b", "/");
    expect_path("/v1/models/a%2Fb%2525", "/v1/models/a/b%25");
    expect_path("/%00%zz%4%", "/%00%zz%4%");
    expect_path("*", "*");
    expect_path("", "/");
}

static bool opens(const char *authorization, const char *key)
{
    srv_headers headers = {.bytes = 0};
    if (authorization)
        srv_headers_take(&headers, "Authorization", authorization);
    return srv_headers_have_key(&headers, key);
}

static void test_keys(void **state)
{
    (void)state;
    assert_true(opens("Bearer sesame", "sesame"));
    assert_true(opens("bearer sesame", "sesame"));
    static const char *const wrong[] = {NULL,          "", "Bearer", "Bearer ", "Bearer sesam", "Bearer sesamesesame", "Bearer Sesame",
                                        "Basic sesame"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(opens(wrong[i], "sesame"));
    srv_headers headers = {.bytes = 0};
    srv_headers_take(&headers, "Host", "a:80");
    assert_false(srv_headers_are_foreign(&headers, NULL, false));
    srv_headers_take(&headers, "Origin", "http://b");
    assert_true(srv_headers_are_foreign(&headers, NULL, false));
    assert_true(srv_headers_are_foreign(&headers, "http://c", false));
    assert_false(srv_headers_are_foreign(&headers, "http://b", false));
    assert_false(srv_headers_are_foreign(&headers, "*", false));
    srv_headers_take(&headers, "Origin", "http://A:80");
    assert_false(srv_headers_are_foreign(&headers, NULL, false));
    srv_headers_take(&headers, "Origin", "null");
    assert_true(srv_headers_are_foreign(&headers, NULL, false));
}

static bool is_foreign(const char *host, const char *origin, const char *allowed)
{
    srv_headers headers = {.bytes = 0};
    srv_headers_take(&headers, "Host", host);
    srv_headers_take(&headers, "Origin", origin);
    return srv_headers_are_foreign(&headers, allowed, true);
}

/* A page of another site, whose name means this machine all of a sudden, has itself as the Host. */
static void test_local_origins(void **state)
{
    static const char *const own[] = {"localhost:80", "LOCALHOST", "127.0.0.1:8080", "127.0.0.2", "[::1]:80", "192.168.0.5"};
    static const char *const names[] = {"evil.example:80",
                                        "localhost.evil.example",
                                        "127.0.0.1.evil.example",
                                        "[::1.evil.example]",
                                        "1.2.3",
                                        "evil",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    char origin[128];
    (void)state;
    for (size_t i = 0; i < COUNT(own) + COUNT(names); i++) {
        const char *host = i < COUNT(own) ? own[i] : names[i - COUNT(own)];
        snprintf(origin, sizeof origin, "http://%s", host);
        assert_int_equal(is_foreign(host, origin, NULL), i >= COUNT(own));
        assert_false(is_foreign(host, origin, origin));
        snprintf(origin, sizeof origin, "https://%s", host);
        assert_false(is_foreign(host, origin, NULL));
    }
}

static void test_origins(void **state)
{
    static const char *const right[] = {"https://example.org", "http://localhost:3000", "http://[::1]:80", "moz-extension://0f-1", "null"};
    static const char *const wrong[] = {"",
                                        "example.org",
                                        "https://",
                                        "://a",
                                        "https://example.org/",
                                        "https://a/b",
                                        "https://a?b",
                                        "HTTPS://a",
                                        "https://A",
                                        "https://a b",
                                        "https://a,https://b",
                                        "https://u@a",
                                        "nu ll"};
    (void)state;
    for (size_t i = 0; i < COUNT(right); i++)
        assert_true(srv_origin_is_valid(right[i]));
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(srv_origin_is_valid(wrong[i]));
}

static void test_name_lists(void **state)
{
    static const char *const right[] = {"a", "authorization,content-type,x-stainless-os", "a, b", "A,  b"};
    static const char *const wrong[] = {"", ",", ",a", "a b", "a:b", "a,\tb", "a\xc3\xa9", "a,\r\nb"};
    (void)state;
    for (size_t i = 0; i < COUNT(right); i++)
        assert_true(srv_is_name_list(right[i]));
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(srv_is_name_list(wrong[i]));
    assert_false(srv_is_name_list(NULL));
}

static json_t *body_of(const char *text, srv_error *error)
{
    json_t *body = NULL;
    size_t bytes;
    *error = (srv_error){.fault = SRV_FAULT_NONE};
    return srv_parse_body(text, strlen(text), 1 << 16, &body, &bytes, error) ? body : NULL;
}

static void test_fields(void **state)
{
    static const srv_unbuilt unbuilt[] = {{"n", SRV_ONLY_ONE}, {"format", SRV_ONLY_TEXT_FORMAT}, {"tools", SRV_ONLY_EMPTY}};
    srv_error error;
    int64_t whole;
    double number;
    bool flag;
    const char *word;
    (void)state;
    json_t *body =
        body_of("{\"a\": 5, \"b\": 2.5, \"c\": true, \"d\": null, \"e\": \"t\", \"f\": \"\\u0000\", \"n\": 1, \"tools\": []}", &error);
    assert_non_null(body);
    assert_true(srv_read_int(body, "a", 1, 5, 0, &whole, &error) && whole == 5);
    assert_true(srv_read_int(body, "d", 1, 5, 3, &whole, &error) && whole == 3);
    assert_false(srv_read_int(body, "a", 1, 4, 0, &whole, &error));
    assert_string_equal(error.param, "a");
    assert_non_null(strstr(error.message, "from 1 to 4"));
    assert_false(srv_read_int(body, "b", 1, 5, 0, &whole, &error) || srv_read_int(body, "c", 1, 5, 0, &whole, &error));
    assert_true(srv_read_number(body, "b", 0, 3, 0, &number, &error) && number == 2.5);
    assert_false(srv_read_number(body, "e", 0, 3, 0, &number, &error) || srv_read_number(body, "c", 0, 3, 0, &number, &error));
    assert_true(srv_read_bool(body, "c", false, &flag, &error) && flag);
    assert_false(srv_read_bool(body, "a", false, &flag, &error));
    assert_true(srv_read_word(body, "e", &word, &error) && strcmp(word, "t") == 0);
    assert_false(srv_read_word(body, "a", &word, &error) || srv_read_word(body, "f", &word, &error));
    assert_non_null(strstr(error.message, "f: expected a text without U+0000, found "));
    assert_true(srv_check_unbuilt(body, unbuilt, COUNT(unbuilt), &error));
    json_decref(body);
    body = body_of("{\"n\": 1, \"format\": {\"type\": \"json\"}}", &error);
    assert_false(srv_check_unbuilt(body, unbuilt, COUNT(unbuilt), &error));
    assert_string_equal(error.param, "format");
    json_decref(body);
    static const char *const large[] = {"{\"a\": 1e400}", "{\"a\": -1e400}", "{\"a\": 1000000000000000000000}"};
    for (size_t i = 0; i < COUNT(large); i++) {
        assert_non_null(body = body_of(large[i], &error));
        assert_false(srv_read_int(body, "a", 1, 5, 0, &whole, &error));
        assert_string_equal(error.param, "a");
        assert_false(srv_read_number(body, "a", -1e300, 5, 0, &number, &error));
        assert_string_equal(error.param, "a");
        json_decref(body);
    }
    static const char *const broken[] = {"", "[]", "{\"a\": NaN}", "{\"a\": 1, \"a\": 1}", "{} {}", "{\"a\": \"\\ud800\"}"};
    for (size_t i = 0; i < COUNT(broken); i++) {
        assert_null(body_of(broken[i], &error));
        assert_int_equal(error.fault, SRV_FAULT_INVALID);
    }
}

/* Values that need more memory than a body may have are refused while they are read. */
static void test_body_memory(void **state)
{
    srv_error error;
    clf_str text = CLF_STR_INIT;
    (void)state;
    assert_int_equal(clfi_str_append_text(&text, "{\"a\": [{}"), CLF_OK);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(clfi_str_append_text(&text, ",{}"), CLF_OK);
    assert_int_equal(clfi_str_append_text(&text, "]}"), CLF_OK);
    assert_null(body_of(clfi_str_text(&text), &error));
    assert_int_equal(error.fault, SRV_FAULT_BODY);
    clfi_str_free(&text);
    json_t *body = body_of("{\"a\": [1, 2, 3]}", &error); /* the memory of the refused values is free again */
    assert_non_null(body);
    json_decref(body);
}

static void test_messages(void **state)
{
    srv_error error;
    char long_text[2000];
    (void)state;
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    for (size_t i = 0; i + 1 < sizeof long_text; i += 2)
        memcpy(long_text + i, "\xc3\xa9", 2); /* a cut may not leave half of it */
    long_text[sizeof long_text - 1] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        srv_refuse(&error, SRV_FAULT_INVALID, NULL, "%s%s", shift ? "x" : "", long_text);
        assert_null(strchr(error.message, '?'));
        assert_true(strlen(error.message) > SRV_MESSAGE_BYTES - 4);
    }
    srv_refuse(&error, SRV_FAULT_INVALID, "a", "a\x1b[31m");
    assert_string_equal(error.message, "a?[31m");
}

static void test_numbers(void **state)
{
    static const float rows[] = {0.25f, -1, 1e-30f, 16777217, 0};
    static const char *const coded[] = {"\"\"", "\"AACAPg==\"", "\"AACAPgAAgL8=\"", "\"AACAPgAAgL9gQqIN\""};
    clf_str text = CLF_STR_INIT;
    float unit[] = {3, 4}, zeros[] = {0, 0};
    (void)state;
    assert_int_equal(srv_write_numbers(rows, 4, &text), CLF_OK);
    assert_string_equal(clfi_str_text(&text), "[0.25,-1,1e-30,16777216]");
    clfi_str_free(&text);
    for (size_t i = 0; i < COUNT(coded); i++) {
        assert_int_equal(srv_write_base64(rows, i, &text), CLF_OK);
        assert_string_equal(clfi_str_text(&text), coded[i]);
        clfi_str_free(&text);
    }
    srv_normalise(unit, 2);
    srv_normalise(zeros, 2);
    assert_true(unit[0] == 0.6f && unit[1] == 0.8f && zeros[0] == 0);
    assert_true(srv_sigmoid(0) == 0.5);
}

/* ---- Jobs ---- */

enum { POSITIONS = 8 };

static clf_network network;
static clf_model model = {.network = &network};
static srv_model served = {
    .id = "a", .tasks = SRV_TASK_RERANK | SRV_TASK_COMPLETE, .model = &model, .max_tokens = POSITIONS, .has_types = true};
static srv_state state_of_all = {.models = {&served, 1}};

/* A model without weights, whose words are "a" and "b". */
static void open_model(void)
{
    static const char vocabulary[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n";
    network.config.classifier.labels = 1;
    network.config.target.max_positions = POSITIONS;
    served.vocabulary = 6;
    CHECK_OK(clfi_tokenizer_from_vocabulary(vocabulary, sizeof vocabulary - 1, "v.txt", NULL, 0, NULL, &model.tokenizer));
}

static void close_call(srv_call *call)
{
    srv_job_release(call->job);
    json_decref(call->body);
}

/* {"query": "a b a b ...", "documents": ["", "b", "b b", ...]} */
static json_t *rerank_body(size_t words, size_t documents)
{
    clf_str text = CLF_STR_INIT;
    json_t *list = json_array();
    for (size_t i = 0; i < words; i++)
        CHECK_OK(clfi_str_append_text(&text, i % 2 ? "b " : "a "));
    json_t *body = json_pack("{s:s, s:o}", "query", clfi_str_text(&text), "documents", list);
    for (size_t i = 0; i < documents; i++) {
        clfi_str_clear(&text);
        for (size_t k = 0; k < i % (2 * POSITIONS); k++)
            CHECK_OK(clfi_str_append_text(&text, "b "));
        json_array_append_new(list, json_string(clfi_str_text(&text)));
    }
    clfi_str_free(&text);
    return body;
}

/* Each pair gets the tokens that it has alone, also where both texts are longer than fits. */
static void test_pairs(void **state)
{
    (void)state;
    open_model();
    for (size_t words = 1; words < 2 * POSITIONS; words++) {
        srv_call call = {.state = &state_of_all, .body = rerank_body(words, 2 * POSITIONS)};
        const clf_encode_options options = {.add_special_tokens = true, .max_tokens = POSITIONS};
        clf_encoding want = CLF_ENCODING_INIT;
        assert_true(srv_cohere_rerank(&call));
        const clf_text query = srv_text(srv_field(call.job->body, "query"));
        for (size_t i = 0; i < 2 * POSITIONS; i++) {
            const clf_text text = srv_text(json_array_get(srv_field(call.job->body, "documents"), i));
            const srv_item *item = &call.job->rows.items[i];
            CHECK_OK(clfi_tokenizer_encode(model.tokenizer, query.data, query.size, text.data, text.size, &options, &want));
            assert_int_equal(item->count, want.length);
            assert_memory_equal(item->ids, want.ids, want.length * sizeof *want.ids);
            assert_memory_equal(item->ids + item->count, want.type_ids, want.length * sizeof *want.type_ids);
        }
        clfi_encoding_free(&want);
        close_call(&call);
    }
    clf_tokenizer_destroy(model.tokenizer);
}

/* Processor time of a thread, in seconds, to make a job of a long query and so many documents. */
static double rerank_seconds(size_t documents)
{
    struct timespec before, after;
    srv_call call = {.state = &state_of_all, .body = rerank_body(200000, documents)};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    assert_true(srv_cohere_rerank(&call));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    close_call(&call);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

/* The query is encoded once, not for each document. */
static void test_long_query(void **state)
{
    (void)state;
    open_model();
    const double one = rerank_seconds(1), many = rerank_seconds(300);
    CHECK(many < 30 * one, "300 documents take %.1f times as long as one", many / one);
    clf_tokenizer_destroy(model.tokenizer);
}

/* A srv_call's `watch`: the client leaves at once. */
static void leave(srv_call *call)
{
    srv_error error;
    srv_refuse(&error, SRV_FAULT_LEFT, NULL, "the client has left");
    srv_job_cancel(call->job, &error);
}

static void test_cancelled(void **state)
{
    (void)state;
    open_model();
    srv_call calls[] = {
        {.body = rerank_body(3, 2)}, {.body = json_pack("{s:s}", "prompt", "a b")}, {.body = json_pack("{s:[[i]]}", "prompt", 4)}};
    for (size_t i = 0; i < COUNT(calls); i++) {
        srv_call *call = &calls[i];
        call->state = &state_of_all;
        call->watch = leave;
        assert_false(i == 0 ? srv_cohere_rerank(call) : srv_openai_completions(call));
        assert_int_equal(call->error.fault, SRV_FAULT_LEFT);
        close_call(call);
    }
    clf_tokenizer_destroy(model.tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),      cmocka_unit_test(test_long_query), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_headers),    cmocka_unit_test(test_targets),    cmocka_unit_test(test_keys),
        cmocka_unit_test(test_fields),     cmocka_unit_test(test_messages),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_origins),    cmocka_unit_test(test_name_lists), cmocka_unit_test(test_local_origins),
        cmocka_unit_test(test_body_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
