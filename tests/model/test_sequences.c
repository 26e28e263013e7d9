/* SPDX-License-Identifier: MIT */
/* A loop of a caller's own over sequences: the text of clf_session_generate; forks, prefixes and passes of any size give the logits of a
 * sequence that was fed anew; refusals change nothing. */
#include "clformer/clformer.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/decode_batch.h"
#include "model/sequence.h"
#include "model/session.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

enum { MOST = 512, VOCABULARY = 64, TOKENS = 6 };

/* Bounds on logits up to about 20, by the storage of keys and values. */
static const double bounds[] = {[CLF_STORAGE_DEFAULT] = 2e-4, [CLF_STORAGE_F16] = 2e-2};

typedef struct fixture {
    clf_model *model;
    clf_session *session;
    clf_tokenizer *tokenizer;
    size_t vocabulary;
    double bound;
} fixture;

static fixture open_model(clf_context *context, const char *directory, clf_storage cache)
{
    fixture f = {.bound = bounds[cache]};
    clf_model_params params = CLF_MODEL_PARAMS_INIT;
    params.cache = cache;
    CHECK_OK(clf_model_open(context, directory, &params, &f.model));
    CHECK_OK(clf_session_create(f.model, NULL, &f.session));
    CHECK_OK(clf_tokenizer_open(directory, &f.tokenizer));
    f.vocabulary = (size_t)clf_model_get_info(f.model)->vocabulary;
    assert_true(f.vocabulary <= VOCABULARY);
    return f;
}

static void close_model(fixture *f)
{
    clf_session_destroy(f->session);
    clf_tokenizer_destroy(f->tokenizer);
    clf_model_destroy(f->model);
}

static clf_sequence *new_sequence(const fixture *f)
{
    clf_sequence *made;
    CHECK_OK(clf_sequence_create(f->session, &made));
    return made;
}

/* The logits behind `count` tokens given at once to a new sequence. */
static void fresh(const fixture *f, const int32_t *source, size_t source_count, const int32_t *tokens, size_t count, float *out)
{
    clf_sequence *sequence = new_sequence(f);
    if (source_count)
        CHECK_OK(clf_sequence_set_source(sequence, source, source_count));
    for (size_t v = 0; v < f->vocabulary; v++)
        out[v] = NAN;
    CHECK_OK(clf_session_run_sequences(f->session, &(clf_sequence_tokens){sequence, tokens, count}, 1, 0, out));
    clf_sequence_destroy(sequence);
}

static void check_logits(const fixture *f, const char *what, const float *got, const float *want)
{
    for (size_t v = 0; v < f->vocabulary; v++)
        CHECK(within((double)got[v], (double)want[v], f->bound), "%s: logit %zu: %.9g, want %.9g", what, v, (double)got[v],
              (double)want[v]);
}

/* A fork goes on like a fresh sequence, and so does what it was forked from; a suffix that was dropped is as if never given. The fresh ones
 * keep keys and values as f32. */
static void check_lives(clf_context *context, const char *directory, clf_storage cache, const int32_t *source, size_t source_count)
{
    static const int32_t prompt[] = {2, 7, 11, 3, 5}, one[] = {9, 4}, other[] = {6, 8, 10};
    const int32_t with_one[] = {2, 7, 11, 3, 5, 9, 4}, with_other[] = {2, 7, 11, 3, 5, 6, 8, 10}, cut[] = {2, 7, 6, 8, 10};
    fixture f = open_model(context, directory, cache), plain = open_model(context, directory, CLF_STORAGE_DEFAULT);
    clf_sequence *a = new_sequence(&f), *b;
    float got[2 * VOCABULARY], want[VOCABULARY], all[sizeof prompt / sizeof *prompt * VOCABULARY];
    if (source_count)
        CHECK_OK(clf_sequence_set_source(a, source, source_count));
    CHECK_OK(clf_session_run_sequences(f.session, &(clf_sequence_tokens){a, prompt, 5}, 1, 1, all));
    for (size_t i = 1; i <= 5; i++) { /* the logits behind every token */
        fresh(&plain, source, source_count, prompt, i, want);
        check_logits(&f, "each token", all + (i - 1) * f.vocabulary, want);
    }
    CHECK_OK(clf_sequence_fork(a, &b));
    assert_int_equal(clf_sequence_length(b), 5);
    CHECK_OK(clf_session_run_sequences(f.session, (clf_sequence_tokens[]){{a, one, 2}, {b, other, 3}}, 2, 0, got));
    fresh(&plain, source, source_count, with_one, 7, want);
    check_logits(&f, "forked from", got, want);
    fresh(&plain, source, source_count, with_other, 8, want);
    check_logits(&f, "fork", got + f.vocabulary, want);
    CHECK_OK(clf_sequence_keep(a, 2));
    clf_sequence_destroy(b);
    CHECK_FAILS(clf_sequence_keep(a, 3), CLF_INVALID_ARGUMENT, "it has 2");
    CHECK_OK(clf_session_run_sequences(f.session, &(clf_sequence_tokens){a, other, 3}, 1, 0, got));
    fresh(&plain, source, source_count, cut, 5, want);
    check_logits(&f, "suffix dropped", got, want);
    clf_sequence_destroy(a);
    close_model(&f);
    close_model(&plain);
}

static void test_decoder(void **state)
{
    check_lives(*state, CLF_TEST_DATA "/generation/llama", CLF_STORAGE_DEFAULT, NULL, 0);
    check_lives(*state, CLF_TEST_DATA "/generation/llama", CLF_STORAGE_F16, NULL, 0);
}

static void test_encoder_decoder(void **state)
{
    check_lives(*state, CLF_TEST_DATA "/translation/t5", CLF_STORAGE_DEFAULT, (const int32_t[]){5, 9, 30, 7, 1}, 5);
    check_lives(*state, CLF_TEST_DATA "/translation/t5", CLF_STORAGE_F16, (const int32_t[]){5, 9, 30, 7, 1}, 5);
}

typedef struct texts {
    int32_t tokens[2][TOKENS];
    size_t count[2];
} texts;

static int note(void *user, const clf_generated *step)
{
    texts *t = user;
    if (step->token >= 0)
        t->tokens[step->prompt][t->count[step->prompt]++] = step->token;
    return 0;
}

/* The loop of clf_session_generate out of its parts. */
static size_t run_loop(const fixture *f, const clf_text *prompt, const clf_generate_params *params, int32_t *out)
{
    size_t starts, ends, made = 0, count;
    const int32_t *start = clf_model_start_tokens(f->model, &starts), *end = clf_model_end_tokens(f->model, &ends);
    clf_encoding *encoding;
    int32_t tokens[MOST], next;
    float logits[VOCABULARY];
    clf_sequence *sequence = new_sequence(f);
    CHECK_OK(clf_encoding_create(&encoding));
    CHECK_OK(clf_tokenizer_encode(f->tokenizer, prompt, NULL, NULL, encoding));
    const int32_t *first = starts ? start : encoding->ids;
    count = starts ? starts : encoding->length;
    assert_true(count + TOKENS <= MOST);
    memcpy(tokens, first, count * sizeof *tokens);
    if (starts)
        CHECK_OK(clf_sequence_set_source(sequence, encoding->ids, encoding->length));
    CHECK_OK(clf_session_run_sequences(f->session, &(clf_sequence_tokens){sequence, tokens, count}, 1, 0, logits));
    for (; made < TOKENS; made++) {
        bool is_end = false;
        CHECK_OK(clf_model_choose_token(f->model, params, logits, tokens, count, made, &next));
        for (size_t i = 0; i < ends; i++)
            is_end |= end[i] == next;
        if (is_end)
            break;
        out[made] = tokens[count++] = next;
        CHECK_OK(clf_session_run_sequences(f->session, &(clf_sequence_tokens){sequence, &next, 1}, 1, 0, logits));
    }
    clf_encoding_destroy(encoding);
    clf_sequence_destroy(sequence);
    return made;
}

static void check_loop(clf_context *context, const char *directory)
{
    const clf_text prompts[] = {{"the cat sat", 11}, {"zebra, quick", 12}};
    fixture f = open_model(context, directory, CLF_STORAGE_DEFAULT);
    for (int by_chance = 0; by_chance < 2; by_chance++) {
        clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
        texts want = {.count = {0}};
        params.max_tokens = TOKENS;
        params.temperature = by_chance ? 1.5f : 0.0f;
        params.repeat_penalty = 1.1f;
        params.seed = 5;
        CHECK_OK(clf_session_generate(f.session, prompts, 2, &params, note, &want));
        for (size_t p = 0; p < 2; p++) {
            int32_t got[TOKENS];
            const size_t count = run_loop(&f, &prompts[p], &params, got);
            assert_int_equal(count, want.count[p]);
            assert_memory_equal(got, want.tokens[p], count * sizeof *got);
        }
    }
    close_model(&f);
}

static void test_loop(void **state)
{
    check_loop(*state, CLF_TEST_DATA "/generation/llama");
    check_loop(*state, CLF_TEST_DATA "/translation/marian");
}

/* A prompt that takes more than one pass, beside a short one. */
static void test_long(void **state)
{
    fixture f = open_model(*state, CLF_TEST_DATA "/translation/t5_gated", CLF_STORAGE_DEFAULT);
    const int32_t source[] = {4, 5, 1};
    static int32_t tokens[MOST];
    static float all[(MOST + 1) * VOCABULARY];
    float got[2 * VOCABULARY], want[VOCABULARY];
    const size_t count = 300;
    for (size_t i = 0; i < count; i++)
        tokens[i] = (int32_t)(i * 7 % 40) + 2;
    clf_sequence *a = new_sequence(&f), *b = new_sequence(&f);
    CHECK_OK(clf_sequence_set_source(a, source, 3));
    CHECK_OK(clf_sequence_set_source(b, source, 3));
    CHECK_OK(clf_session_run_sequences(f.session, (clf_sequence_tokens[]){{a, tokens, count}, {b, tokens, 1}}, 2, 0, got));
    assert_int_equal(clf_sequence_length(a), count);
    CHECK_OK(clf_sequence_keep(a, 0));
    CHECK_OK(clf_sequence_keep(b, 0));
    CHECK_OK(clf_session_run_sequences(f.session, (clf_sequence_tokens[]){{a, tokens, count}, {b, tokens, 1}}, 2, 1, all));
    check_logits(&f, "long", got, all + (count - 1) * f.vocabulary);
    check_logits(&f, "beside it", got + f.vocabulary, all + count * f.vocabulary);
    fresh(&f, source, 3, tokens, 200, want);
    check_logits(&f, "within", all + 199 * f.vocabulary, want);
    clf_sequence_destroy(a);
    clf_sequence_destroy(b);
    close_model(&f);
}

static int keep_tokens(void *user, const clf_generated *step)
{
    int32_t(*tokens)[TOKENS + 1] = user; /* the last one counts */
    if (step->token >= 0)
        tokens[step->prompt][tokens[step->prompt][TOKENS]++] = step->token;
    return 0;
}

/* Prompts that take more than one pass: their logits, and what follows them where two share the passes. */
static void test_long_prompts(void **state)
{
    enum { LONG = 300 };
    static const size_t sizes[2] = {200, 150}; /* more than one pass together */
    char folder[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES], source[TEMP_PATH_BYTES], text[LONG + 1];
    clf_str config = CLF_STR_INIT;
    static const char *const files[] = {"tokenizer.json", "model.safetensors"};
    temp_directory_make(folder);
    for (size_t i = 0; i < COUNT(files); i++)
        assert_int_equal(symlink(temp_path(CLF_TEST_DATA "/generation/llama", files[i], source), temp_path(folder, files[i], path)), 0);
    CHECK_OK(clfi_file_read(CLF_TEST_DATA "/generation/llama/config.json", 1 << 16, &config));
    char *positions = strstr(config.data, "\"max_position_embeddings\": 96,");
    assert_non_null(positions);
    memcpy(positions, "\"max_position_embeddings\":600,", strlen("\"max_position_embeddings\": 96,"));
    temp_file(folder, "config.json", config.data, config.length, path);
    clfi_str_free(&config);
    fixture f = open_model(*state, folder, CLF_STORAGE_DEFAULT);
    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('a' + i * 7 % 26);
    float got[VOCABULARY], want[VOCABULARY];
    clf_encoding *encoding;
    CHECK_OK(clf_encoding_create(&encoding));
    CHECK_OK(clf_tokenizer_encode(f.tokenizer, &(clf_text){text, LONG}, NULL, NULL, encoding));
    assert_true(encoding->length > CLFI_PASS_TOKENS && encoding->length <= 600);
    CHECK_OK(clf_session_logits(f.session, &(clf_text){text, LONG}, 1, NULL, got));
    fresh(&f, NULL, 0, encoding->ids, encoding->length, want);
    check_logits(&f, "a long text", got, want);
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    params.max_tokens = TOKENS;
    const clf_text prompts[2] = {{text, sizes[0]}, {text + 50, sizes[1]}};
    int32_t together[2][TOKENS + 1] = {{0}}, alone[TOKENS + 1];
    CHECK_OK(clf_session_generate(f.session, prompts, 2, &params, keep_tokens, together));
    for (size_t p = 0; p < 2; p++) {
        memset(alone, 0, sizeof alone);
        CHECK_OK(clf_session_generate(f.session, &prompts[p], 1, &params, keep_tokens, alone));
        assert_memory_equal(together[p], alone, sizeof alone);
    }
    clf_encoding_destroy(encoding);
    close_model(&f);
    temp_directory_remove(folder);
}

/* A cache that grows in the rehearsal of a session's first text keeps what its sequences have. */
static void test_grown(void **state)
{
    enum { HELD = 3, COUNT_EACH = 80, TEXT = 60 }; /* 256 rows of a cache are there from its beginning */
    fixture f = open_model(*state, CLF_TEST_DATA "/generation/llama", CLF_STORAGE_DEFAULT);
    clf_sequence *held[HELD];
    int32_t tokens[COUNT_EACH + 1];
    float got[VOCABULARY], want[VOCABULARY], other[VOCABULARY];
    char letters[TEXT];
    memset(letters, 'z', sizeof letters);
    for (int32_t i = 0; i <= COUNT_EACH; i++)
        tokens[i] = i * 7 % 37 + 2;
    for (size_t i = 0; i < HELD; i++) {
        held[i] = new_sequence(&f);
        CHECK_OK(clf_session_run_sequences(f.session, &(clf_sequence_tokens){held[i], tokens, COUNT_EACH}, 1, 0, got));
    }
    assert_false(f.session->is_decoding_rehearsed);
    CHECK_OK(clf_session_logits(f.session, &(clf_text){letters, TEXT}, 1, NULL, other));
    assert_true(f.session->is_decoding_rehearsed && clfi_decode_usage(f.session->decoding).most >= HELD * COUNT_EACH + TEXT);
    for (size_t i = 0; i < HELD; i++) {
        CHECK_OK(clf_session_run_sequences(f.session, &(clf_sequence_tokens){held[i], tokens + COUNT_EACH, 1}, 1, 0, got));
        fresh(&f, NULL, 0, tokens, COUNT_EACH + 1, want);
        check_logits(&f, "grown", got, want);
        clf_sequence_destroy(held[i]);
    }
    close_model(&f);
}

static void test_refusals(void **state)
{
    fixture f = open_model(*state, CLF_TEST_DATA "/generation/llama", CLF_STORAGE_DEFAULT),
            t5 = open_model(*state, CLF_TEST_DATA "/translation/t5", CLF_STORAGE_DEFAULT);
    const int32_t tokens[MOST] = {3, 4, (int32_t)f.vocabulary};
    float logits[4 * VOCABULARY];
    int32_t chosen;
    clf_sequence *a = new_sequence(&f), *b = new_sequence(&f), *of_t5 = new_sequence(&t5);
    CHECK_OK(clf_session_run_sequences(f.session, &(clf_sequence_tokens){a, tokens, 2}, 1, 0, logits));
    const struct {
        clf_sequence_tokens inputs[2];
        const char *message;
    } rows[] = {
        {{{a, tokens, 1}, {b, tokens, 3}}, "outside 0"},      {{{a, tokens, 1}, {b, tokens, 0}}, "has no tokens"},
        {{{a, tokens, 1}, {NULL, tokens, 1}}, "no sequence"}, {{{a, tokens, 1}, {a, tokens, 1}}, "have the same sequence"},
        {{{a, tokens, 1}, {of_t5, tokens, 1}}, "session"},    {{{a, tokens, 1}, {b, tokens, MOST}}, "positions"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_FAILS(clf_session_run_sequences(f.session, rows[i].inputs, 2, 0, logits), CLF_INVALID_ARGUMENT, rows[i].message);
        assert_int_equal(clf_sequence_length(a), 2);
        assert_int_equal(clf_sequence_length(b), 0);
    }
    CHECK_FAILS(clf_sequence_set_source(a, tokens, 1), CLF_INVALID_ARGUMENT, "has no source attention");
    CHECK_FAILS(clf_session_run_sequences(t5.session, &(clf_sequence_tokens){of_t5, tokens, 1}, 1, 0, logits), CLF_INVALID_ARGUMENT,
                "input 0: its sequence has no source");
    CHECK_FAILS(clf_sequence_set_source(of_t5, tokens, 0), CLF_INVALID_ARGUMENT, "one or more");
    CHECK_FAILS(clf_sequence_set_source(of_t5, (const int32_t[]){64}, 1), CLF_INVALID_ARGUMENT, "outside 0");
    CHECK_OK(clf_sequence_set_source(of_t5, tokens, 2));
    CHECK_FAILS(clf_sequence_set_source(of_t5, tokens, 2), CLF_INVALID_ARGUMENT, "source 0: its sequence has one already");
    size_t failed;
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    const clf_text prompts[2] = {{" the cat", 8}, {"", 0}};
    CHECK_FAILS(clf_session_generate(f.session, prompts, 2, &params, NULL, NULL), CLF_INVALID_ARGUMENT, "generate: prompts[1]: no tokens");
    CHECK_FAILS(clf_session_logits(f.session, prompts, 2, &params, logits), CLF_INVALID_ARGUMENT, "logits: texts[1]: no tokens");
    params.failed_text = &failed;
    CHECK_FAILS(clf_session_logits(f.session, prompts, 2, &params, logits), CLF_INVALID_ARGUMENT, "no tokens");
    assert_true(failed == 1 && !strstr(clf_last_error(), "texts"));
    CHECK_OK(clf_session_logits(f.session, prompts, 1, &params, logits));
    assert_int_equal(failed, 1);
    logits[0] = NAN;
    CHECK_FAILS(clf_model_choose_token(f.model, NULL, logits, NULL, 0, 0, &chosen), CLF_FORMAT, "finite");
    CHECK_FAILS(clf_model_choose_token(f.model, NULL, logits, tokens, 3, 0, &chosen), CLF_INVALID_ARGUMENT, "outside 0");
    clf_sequence_destroy(a);
    clf_sequence_destroy(b);
    clf_sequence_destroy(of_t5);
    close_model(&f);
    close_model(&t5);
}

/* Results of clf_session_generate for one prompt. */
typedef struct told {
    int32_t tokens[MOST];
    size_t count;
    char text[MOST];
} told;

static int note_text(void *user, const clf_generated *step)
{
    told *t = user;
    if (step->token >= 0)
        t->tokens[t->count++] = step->token;
    assert_true(strlen(t->text) + step->text.size < sizeof t->text);
    strncat(t->text, step->text.data, step->text.size);
    return 0;
}

static told tell(const fixture *f, const char *prompt, clf_sequence *sequence)
{
    told t = {.count = 0};
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    params.max_tokens = 12;
    params.sequence = sequence;
    CHECK_OK(clf_session_generate(f->session, &(clf_text){prompt, strlen(prompt)}, 1, &params, note_text, &t));
    return t;
}

static bool is_same(const told *a, const told *b)
{
    return a->count == b->count && memcmp(a->tokens, b->tokens, a->count * sizeof *a->tokens) == 0 && strcmp(a->text, b->text) == 0;
}

/* A conversation in one sequence has the texts of prompts that each begin anew; what the sequence has is not computed again: keys and
 * values of other tokens under the prompt's ids make another text. */
static void test_kept(void **state)
{
    static const int32_t others[] = {20, 21, 22, 23, 24};
    const char directory[] = CLF_TEST_DATA "/generation/llama";
    fixture f = open_model(*state, directory, CLF_STORAGE_DEFAULT),
            t5 = open_model(*state, CLF_TEST_DATA "/translation/t5", CLF_STORAGE_DEFAULT);
    clf_sequence *kept = new_sequence(&f), *fork;
    char prompt[MOST] = "zebra quick, the dog";
    float logits[VOCABULARY];
    for (int turn = 0; turn < 3; turn++) {
        const told want = tell(&f, prompt, NULL), got = tell(&f, prompt, kept);
        CHECK(is_same(&got, &want), "turn %d: %s, want %s", turn, got.text, want.text);
        assert_true(clf_sequence_length(kept) == kept->count && kept->count > strlen("zebra quick"));
        CHECK_OK(clf_sequence_fork(kept, &fork));
        const told again = tell(&f, prompt, fork);
        CHECK(is_same(&again, &want), "turn %d in a fork: %s, want %s", turn, again.text, want.text);
        clf_sequence_destroy(fork);
        strcat(prompt, want.text);
        strcat(prompt, "! sat");
    }
    prompt[5] = '\0'; /* a shorter prompt that the sequence has whole */
    const told want = tell(&f, prompt, NULL), got = tell(&f, prompt, kept);
    CHECK(is_same(&got, &want), "shorter: %s, want %s", got.text, want.text);
    CHECK_OK(clf_sequence_keep(kept, 0));
    CHECK_OK(clf_session_run_sequences(f.session, &(clf_sequence_tokens){kept, others, 5}, 1, 0, logits));
    CHECK_OK(clf_sequence_fork(kept, &fork));
    for (size_t i = 0; i < 5; i++)
        fork->tokens[i] = (int32_t)(2 + prompt[i] - 'a'); /* "zebra" */
    const told other = tell(&f, prompt, fork);
    CHECK(!is_same(&other, &want), "what the sequence has is computed again: %s", other.text);
    clf_sequence_destroy(fork);
    clf_generate_params params = CLF_GENERATE_PARAMS_INIT;
    const clf_text two[2] = {{"a", 1}, {"b", 1}};
    params.sequence = kept;
    CHECK_FAILS(clf_session_generate(f.session, two, 2, &params, NULL, NULL), CLF_INVALID_ARGUMENT, "a single prompt");
    CHECK_FAILS(clf_session_generate(t5.session, two, 1, &params, NULL, NULL), CLF_INVALID_ARGUMENT, "another session");
    assert_int_equal(clf_sequence_length(kept), 5);
    clf_sequence *of_t5 = new_sequence(&t5);
    params.sequence = of_t5;
    CHECK_FAILS(clf_session_generate(t5.session, two, 1, &params, NULL, NULL), CLF_UNSUPPORTED, "expected no sequence");
    clf_sequence_destroy(of_t5);
    clf_sequence_destroy(kept);
    close_model(&f);
    close_model(&t5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decoder),      cmocka_unit_test(test_encoder_decoder),
                                       cmocka_unit_test(test_loop),         cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_long_prompts), cmocka_unit_test(test_grown),
                                       cmocka_unit_test(test_refusals),     cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests_name("model.sequences", tests, device_setup, device_teardown);
}
