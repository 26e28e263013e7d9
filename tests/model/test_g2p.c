/* SPDX-License-Identifier: MIT */
/* The built-in grapheme-to-phoneme model against float64 (tests/data/g2p, made by host/model/g2p/golden.py): memory, features and logits;
 * cached and uncached decoding; greedy and beam results; independence of the batch. */
#include "support/check.h"
#include "support/device.h"
#include "support/worst.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "clformer/pronounce.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/beam_search.h"
#include "model/seq2seq.h"

enum { MOST_TOKENS = 64, MOST_WORDS = 512 };

static struct {
    clf_context *context;
    clf_seq2seq *model;
    clf_pronouncer *pronouncer;
    json_t *golden;
    clf_safetensors *tensors;
    size_t greedy_count, beam_count; /* in use: fewer where the device is an interpreter */
} fixture;

static int setup(void **state)
{
    *state = NULL;
    if (device_setup((void **)&fixture.context) != 0)
        return -1;
    CHECK_OK(clfi_seq2seq_open(fixture.context, NULL, &fixture.model));
    CHECK_OK(clf_pronouncer_open(fixture.context, NULL, &fixture.pronouncer));
    CHECK_OK(clfi_json_read(CLF_TEST_DATA "/g2p/golden.json", 1 << 24, &fixture.golden));
    CHECK_OK(clfi_safetensors_open(CLF_TEST_DATA "/g2p/golden.safetensors", &fixture.tensors));
    fixture.greedy_count = json_array_size(json_object_get(fixture.golden, "greedy"));
    fixture.beam_count = json_array_size(json_object_get(fixture.golden, "beam"));
    assert_in_range(fixture.greedy_count, 100, MOST_WORDS);
    assert_in_range(fixture.beam_count, 10, MOST_WORDS);
    if (getenv("CLF_TEST_SMALL")) {
        fixture.greedy_count = 6;
        fixture.beam_count = 2;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    clf_pronouncer_destroy(fixture.pronouncer);
    clfi_seq2seq_close(fixture.model);
    json_decref(fixture.golden);
    clfi_safetensors_close(fixture.tensors);
    clf_context_destroy(fixture.context);
    return 0;
}

static const json_t *greedy_entry(size_t i)
{
    return json_array_get(json_object_get(fixture.golden, "greedy"), i);
}

static const json_t *entry_of(const char *word)
{
    for (size_t i = 0; i < json_array_size(json_object_get(fixture.golden, "greedy")); i++)
        if (strcmp(json_string_value(json_object_get(greedy_entry(i), "word")), word) == 0)
            return greedy_entry(i);
    fail_msg("golden.json has no word %s", word);
    return NULL;
}

static clf_text text_of(const json_t *entry)
{
    const json_t *word = json_object_get(entry, "word");
    return (clf_text){json_string_value(word), json_string_length(word)};
}

/* One word: its source, the decoder's input (<s> and the phonemes), and everything computed from them on the device. */
typedef struct passage {
    int64_t source_count, target_count;
    clf_view ids, positions, target_ids, memory, features, logits;
    clf_decoder_memory projected;
    clf_attention_batch *source, *target, *cross;
    clf_arena_mark mark;
} passage;

static clf_view upload(const int32_t *values, int64_t count)
{
    clf_view view;
    CHECK_OK(clfi_view_temporary(fixture.context, CLF_I32, 1, &count, &view));
    CHECK_OK(clfi_buffer_write(view.buffer, (size_t)view.offset * sizeof *values, values, (size_t)count * sizeof *values));
    return view;
}

static clf_view temporary(int64_t rows, int64_t columns)
{
    clf_view view;
    CHECK_OK(clfi_view_temporary(fixture.context, CLF_F32, 2, (int64_t[]){rows, columns}, &view));
    return view;
}

static clf_view first_of(const clf_view *vector, int64_t count)
{
    return clfi_view_dense(vector->buffer, vector->dtype, vector->offset, 1, &count);
}

/* Whole prefixes, nothing cached. */
static void run_uncached(const json_t *entry, passage *p)
{
    const clf_network *network = fixture.model->network;
    const int64_t c = network->config.encoder.width;
    int32_t source[MOST_TOKENS], target[MOST_TOKENS], positions[MOST_TOKENS];
    const json_t *source_ids = json_object_get(entry, "source_ids"), *target_ids = json_object_get(entry, "target_ids");
    p->source_count = (int64_t)json_array_size(source_ids);
    p->target_count = (int64_t)json_array_size(target_ids); /* <s> instead of </s> */
    for (int64_t i = 0; i < p->source_count; i++)
        source[i] = (int32_t)json_integer_value(json_array_get(source_ids, (size_t)i));
    target[0] = fixture.model->bos;
    for (int64_t i = 1; i < p->target_count; i++)
        target[i] = (int32_t)json_integer_value(json_array_get(target_ids, (size_t)i - 1));
    for (int32_t i = 0; i < MOST_TOKENS; i++)
        positions[i] = i;
    p->mark = clfi_arena_top(fixture.context);
    p->ids = upload(source, p->source_count);
    p->target_ids = upload(target, p->target_count);
    p->positions = upload(positions, MOST_TOKENS);
    const clf_view source_positions = first_of(&p->positions, p->source_count), target_positions = first_of(&p->positions, p->target_count);
    const int32_t source_offsets[2] = {0, (int32_t)p->source_count}, target_offsets[2] = {0, (int32_t)p->target_count};
    CHECK_OK(clfi_attention_batch_create(fixture.context, &p->source));
    CHECK_OK(clfi_attention_batch_create(fixture.context, &p->target));
    CHECK_OK(clfi_attention_batch_create(fixture.context, &p->cross));
    CHECK_OK(clfi_attention_batch_set(p->source, 1, source_offsets, NULL));
    CHECK_OK(clfi_attention_batch_set(p->target, 1, target_offsets, NULL));
    CHECK_OK(clfi_attention_batch_set(p->cross, 1, target_offsets, source_offsets));
    p->memory = temporary(p->source_count, c);
    p->features = temporary(p->target_count, c);
    p->logits = temporary(p->target_count, network->config.target.vocabulary);
    CHECK_OK(clfi_network_embed(network->context, &network->source, &p->ids, &source_positions, NULL, &p->memory));
    CHECK_OK(clfi_encoder_forward(fixture.context, &network->encoder, p->source, NULL, &p->memory));
    p->projected = (clf_decoder_memory){.buffer = NULL};
    CHECK_OK(clfi_decoder_memory_reserve(fixture.context, &network->decoder, p->source_count, &p->projected));
    CHECK_OK(clfi_decoder_memory_project(fixture.context, &network->decoder, &p->memory, &p->projected));
    CHECK_OK(clfi_network_embed(network->context, &network->target, &p->target_ids, &target_positions, NULL, &p->features));
    const int64_t heads = network->config.decoder.attention.heads;
    clf_view weights; /* of the last layer, behind which the features are */
    CHECK_OK(clfi_view_temporary(fixture.context, CLF_F32, 3, (int64_t[]){heads, p->target_count, p->source_count}, &weights));
    CHECK_OK(clfi_decoder_weights(fixture.context, &network->decoder, &p->projected, p->target, p->cross, NULL,
                                  network->decoder.layer_count - 1, true, &p->features, &weights));
    CHECK_OK(clfi_network_generate(network->context, network, &p->features, &p->logits));
}

static void passage_free(passage *p)
{
    CHECK_OK(clf_context_finish(fixture.context));
    clfi_arena_release(fixture.context, p->mark);
    clfi_decoder_memory_release(&p->projected);
    clfi_attention_batch_destroy(p->source);
    clfi_attention_batch_destroy(p->target);
    clfi_attention_batch_destroy(p->cross);
}

static float *fetch(const clf_view *view)
{
    const size_t count = (size_t)clfi_view_count(view);
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    CHECK_OK(clfi_buffer_read(view->buffer, (size_t)view->offset * sizeof *values, values, count * sizeof *values));
    return values;
}

/* Bounds, three to four times the error in the mean square; u = 2^-24. A sum of n products that is of order s errs by s u sqrt(n) / 4: each
 * addition by 0.4 u of a partial sum, which is 0.7 s in the mean. Layer-normalised rows are of order 1 behind some 30 sums of 512
 * products: sqrt(30) u sqrt(512) / 4 = 1.8e-6, and the golden numbers, floats as well, err as much: 2.6e-6 together. Logits of up to 16
 * take that over from 256 features with weights of 1/16 and add 16 u sqrt(256) / 4 = 3.8e-6 of their own: 4.6e-6 together. A
 * log-probability is the difference of two logits, a score the sum of up to 20: sqrt(40) 4.6e-6 = 2.9e-5. Where the device's numbers are
 * compared with its own, most sums are the same ones and half a logit's bound is left. */
static const double row_bound = 1e-5, logit_bound = 2e-5, score_bound = 1e-4, same_bound = 1e-5;

static void check_tensor(const char *word, const char *part, const clf_view *view, double bound)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", word, part);
    const clf_file_tensor *want = clfi_safetensors_find(fixture.tensors, name);
    CHECK(want && want->rank == 2 && want->dim[0] == view->dim[0] && want->dim[1] == view->dim[1], "%s: golden shape", name);
    float *got = fetch(view);
    worst w = {0};
    for (int64_t i = 0; i < clfi_view_count(view); i++) {
        float value;
        memcpy(&value, (const char *)want->data + (size_t)i * sizeof value, sizeof value);
        worst_add(&w, got[i], value, (size_t)i);
    }
    print_message("%s: max abs difference %.3g\n", name, w.error);
    CHECK(w.error <= bound, "%s: differs by %g at %zu, bound %g", name, w.error, w.where, bound);
    free(got);
}

static void test_memory_features_and_logits(void **state)
{
    (void)state;
    const json_t *words = json_object_get(fixture.golden, "tensor_words");
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        passage p;
        run_uncached(entry_of(word), &p);
        check_tensor(word, "memory", &p.memory, row_bound);
        check_tensor(word, "features", &p.features, row_bound);
        check_tensor(word, "logits", &p.logits, logit_bound);
        passage_free(&p);
    }
}

/* Token by token with a cache: the same logits; each step launches the same number of kernels, over one row. */
static void test_cached_steps_equal_whole_prefixes(void **state)
{
    (void)state;
    const clf_network *network = fixture.model->network;
    const int64_t one = 1, v = network->config.target.vocabulary;
    const char *word = json_string_value(json_array_get(json_object_get(fixture.golden, "tensor_words"), 2));
    clf_kv_cache cache;
    clf_context_stats before, after;
    uint64_t launches = 0;
    passage p;
    run_uncached(entry_of(word), &p);
    float *want = fetch(&p.logits);
    enum { FIRST_ROWS = 3 };                                             /* few: the cache must grow on the way and keep its rows */
    const int64_t sources = p.source_count, own = MOST_TOKENS - sources; /* the source's rows, the target's behind them */
    CHECK_OK(clfi_kv_cache_init(fixture.context, &network->decoder, CLF_F32, sources + FIRST_ROWS, &cache));
    CHECK_OK(clfi_kv_cache_add(&cache, sources));
    clf_view stored = first_of(&p.positions, sources), x = temporary(1, network->config.encoder.width), logits = temporary(1, v);
    CHECK_OK(clfi_decoder_source_store(fixture.context, &network->decoder, &p.memory, &cache, &stored));
    const clf_view source_count = upload((const int32_t[]){(int32_t)sources}, 1);
    const clf_view source_rows = clfi_view_dense(stored.buffer, CLF_I32, stored.offset, 2, (int64_t[]){1, sources});
    const clf_view rows = clfi_view_dense(stored.buffer, CLF_I32, stored.offset + sources, 2, (int64_t[]){1, own});
    for (int64_t t = 0; t < p.target_count; t++) {
        clf_view id = p.target_ids, position = p.positions;
        id.offset += t;
        position.offset += t;
        id = first_of(&id, one);
        position = first_of(&position, one);
        stored = clfi_view_dense(rows.buffer, CLF_I32, rows.offset + t, 1, &one); /* the t-th of its rows is the t-th token's */
        const clf_view count = upload((const int32_t[]){(int32_t)t + 1}, 1);
        const clf_decoder_step step = {.cache = &cache,
                                       .rows = &rows,
                                       .counts = &count,
                                       .keys = t + 1,
                                       .stored = &stored,
                                       .source_rows = &source_rows,
                                       .source_counts = &source_count,
                                       .source_keys = sources};
        CHECK_OK(clfi_kv_cache_add(&cache, 1));
        clf_context_get_stats(fixture.context, &before);
        CHECK_OK(clfi_network_embed(network->context, &network->target, &id, &position, NULL, &x));
        CHECK_OK(clfi_decoder_step(fixture.context, &network->decoder, &step, &x));
        CHECK_OK(clfi_network_generate(network->context, network, &x, &logits));
        clf_context_get_stats(fixture.context, &after);
        const uint64_t now = after.kernels_launched - before.kernels_launched;
        CHECK(t == 0 || now == launches, "step %lld: %llu launches, the step before %llu", (long long)t, (unsigned long long)now,
              (unsigned long long)launches);
        launches = now;
        float *got = fetch(&logits);
        for (int64_t j = 0; j < v; j++)
            CHECK(within(got[j], want[t * v + j], same_bound), "step %lld, class %lld: cached %.9g, whole prefix %.9g", (long long)t,
                  (long long)j, (double)got[j], (double)want[t * v + j]);
        free(got);
    }
    assert_int_equal(cache.rows, sources + p.target_count);
    free(want);
    clfi_kv_cache_clear(&cache);
    passage_free(&p);
}

static void pronounce_golden(size_t count, const char *list, int beam, size_t batch_words, clf_pronunciations **out)
{
    clf_text words[MOST_WORDS];
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    for (size_t i = 0; i < count; i++)
        words[i] = text_of(json_array_get(json_object_get(fixture.golden, list), i));
    params.beam = beam;
    params.batch_words = batch_words;
    CHECK_OK(clf_pronounce(fixture.pronouncer, words, count, &params, out));
}

static void test_greedy(void **state)
{
    (void)state;
    clf_pronunciations *list;
    clf_pronounce_stats before, after;
    uint64_t tokens = 0;
    clf_pronouncer_get_stats(fixture.pronouncer, &before);
    pronounce_golden(fixture.greedy_count, "greedy", 1, 0, &list);
    clf_pronouncer_get_stats(fixture.pronouncer, &after);
    for (size_t i = 0; i < fixture.greedy_count; i++) {
        const json_t *entry = greedy_entry(i);
        const clf_pronunciation *got = clf_pronunciations_get(list, i, 0);
        CHECK(got && clf_pronunciations_count(list, i) == 1, "word %zu: %zu results", i, clf_pronunciations_count(list, i));
        assert_string_equal(got->phonemes, json_string_value(json_object_get(entry, "phonemes")));
        CHECK(within(got->score, json_number_value(json_object_get(entry, "log_probability")), score_bound), "%s: score %.9g",
              text_of(entry).data, (double)got->score);
        assert_true(got->is_complete);
        tokens += json_array_size(json_object_get(entry, "target_ids"));
    }
    /* Every token was projected once, none on behalf of words that were done. */
    assert_int_equal(after.decoded_tokens - before.decoded_tokens, tokens);
    clf_pronunciations_destroy(list);
}

static void test_beam(void **state)
{
    (void)state;
    const int width = (int)json_integer_value(json_object_get(fixture.golden, "beam_width"));
    clf_pronunciations *list;
    pronounce_golden(fixture.beam_count, "beam", width, 0, &list);
    for (size_t i = 0; i < fixture.beam_count; i++) {
        const json_t *hypotheses = json_object_get(json_array_get(json_object_get(fixture.golden, "beam"), i), "hypotheses");
        assert_int_equal(clf_pronunciations_count(list, i), json_array_size(hypotheses));
        for (size_t rank = 0; rank < json_array_size(hypotheses); rank++) {
            const json_t *want = json_array_get(hypotheses, rank), *above = json_array_get(hypotheses, rank - 1),
                         *below = json_array_get(hypotheses, rank + 1);
            const clf_pronunciation *got = clf_pronunciations_get(list, i, rank);
            const double score = json_number_value(json_object_get(want, "score"));
            CHECK(within(got->score, score, score_bound), "word %zu rank %zu: score %.9g, want %.9g", i, rank, (double)got->score, score);
            /* Rounding may exchange hypotheses that are this near to each other. */
            const bool is_close = (above && fabs(json_number_value(json_object_get(above, "score")) - score) < score_bound) ||
                                  (below && fabs(json_number_value(json_object_get(below, "score")) - score) < score_bound);
            if (!is_close)
                assert_string_equal(got->phonemes, json_string_value(json_object_get(want, "phonemes")));
        }
    }
    clf_pronunciations_destroy(list);
}

static void test_results_do_not_depend_on_the_batch(void **state)
{
    (void)state;
    const size_t batches[] = {1, 7}, count = fixture.greedy_count < 40 ? fixture.greedy_count : 40;
    for (int beam = 1; beam <= 3; beam += 2) {
        clf_pronunciations *all, *part;
        pronounce_golden(count, "greedy", beam, count, &all);
        for (size_t b = 0; b < COUNT(batches); b++) {
            pronounce_golden(count, "greedy", beam, batches[b], &part);
            for (size_t i = 0; i < count; i++) {
                const clf_pronunciation *x = clf_pronunciations_get(all, i, 0), *y = clf_pronunciations_get(part, i, 0);
                assert_string_equal(x->phonemes, y->phonemes);
                CHECK(within(x->score, y->score, same_bound), "word %zu, batches of %zu: %.9g and %.9g", i, batches[b], (double)x->score,
                      (double)y->score);
            }
            clf_pronunciations_destroy(part);
        }
        clf_pronunciations_destroy(all);
    }
}

static void test_second_batch_allocates_and_builds_nothing(void **state)
{
    (void)state;
    clf_context_stats before, after;
    for (int pass = 0; pass < 2; pass++) {
        clf_pronunciations *list;
        if (pass == 1)
            clf_context_get_stats(fixture.context, &before);
        pronounce_golden(fixture.greedy_count, "greedy", 1, 64, &list);
        clf_pronunciations_destroy(list);
    }
    clf_context_get_stats(fixture.context, &after);
    assert_int_equal(after.programs_built, before.programs_built);
    assert_int_equal(after.device_bytes, before.device_bytes);
}

#define TEXT(literal) ((clf_text){literal, sizeof(literal) - 1})

static void test_words(void **state)
{
    (void)state;
    clf_pronunciations *list = NULL, *same = NULL;
    const clf_text good[] = {TEXT("Hello"), TEXT("hello"), TEXT("don't"), TEXT("z")};
    const clf_text bad[] = {TEXT("hello"), TEXT("na\xc3\xafve")};
    char longest[64];
    memset(longest, 'a', sizeof longest);
    CHECK_OK(clf_pronounce(fixture.pronouncer, good, COUNT(good), NULL, &list));
    assert_string_equal(clf_pronunciations_get(list, 0, 0)->phonemes, clf_pronunciations_get(list, 1, 0)->phonemes);
    assert_null(clf_pronunciations_get(list, 0, 1));
    assert_null(clf_pronunciations_get(list, COUNT(good), 0));
    clf_pronunciations_destroy(list);
    CHECK_OK(clf_pronounce(fixture.pronouncer, good, 0, NULL, &list));
    assert_int_equal(clf_pronunciations_count(list, 0), 0);
    clf_pronunciations_destroy(list);
    CHECK_FAILS(clf_pronounce(fixture.pronouncer, bad, COUNT(bad), NULL, &same), CLF_INVALID_ARGUMENT, "na");
    CHECK_FAILS(clf_pronouncer_check(fixture.pronouncer, &TEXT("two words")), CLF_INVALID_ARGUMENT, "two words");
    CHECK_FAILS(clf_pronouncer_check(fixture.pronouncer, &TEXT("")), CLF_INVALID_ARGUMENT, "found none");
    CHECK_FAILS(clf_pronouncer_check(fixture.pronouncer, &TEXT("a\0b")), CLF_INVALID_ARGUMENT, "a to z");
    CHECK_FAILS(clf_pronouncer_check(fixture.pronouncer, &((clf_text){longest, 64})), CLF_INVALID_ARGUMENT, "64 letters");
    CHECK_OK(clf_pronouncer_check(fixture.pronouncer, &((clf_text){longest, 63})));
    CHECK_OK(clf_pronounce(fixture.pronouncer, &(clf_text){longest, 63}, 1, NULL, &list));
    assert_int_equal(clf_pronunciations_count(list, 0), 1);
    clf_pronunciations_destroy(list);
    assert_null(same);
}

/* The numbers of heads, letters and phonemes are the model's. */
static void test_attention_weights(void **state)
{
    (void)state;
    enum { LETTERS = 5, PHONEMES = 4, MOST = 8 * (LETTERS + 1) * (LETTERS + 1) };
    static const int64_t shapes[][2] = {
        [CLF_PRONOUNCE_ATTENTION_CROSS] = {PHONEMES + 1, LETTERS + 1},
        [CLF_PRONOUNCE_ATTENTION_DECODER] = {PHONEMES + 1, PHONEMES + 1},
        [CLF_PRONOUNCE_ATTENTION_ENCODER] = {LETTERS + 1, LETTERS + 1},
    };
    const clf_text word = TEXT("hello"), bad = TEXT("two words");
    clf_tensor *weights = NULL;
    for (int kind = 0; kind < (int)COUNT(shapes); kind++) {
        float got[MOST];
        CHECK_OK(clf_pronouncer_attention(fixture.pronouncer, &word, "HH AX0 L OW1", (clf_pronounce_attention)kind, 0, &weights));
        const int64_t *dim = clf_tensor_dim(weights);
        assert_int_equal(clf_tensor_rank(weights), 3);
        assert_int_equal(dim[1], shapes[kind][0]);
        assert_int_equal(dim[2], shapes[kind][1]);
        assert_true(clf_tensor_count(weights) <= MOST);
        CHECK_OK(clf_tensor_read_f32(weights, got, clf_tensor_count(weights)));
        for (int64_t row = 0; row < dim[0] * dim[1]; row++) {
            double sum = 0;
            for (int64_t j = 0; j < dim[2]; j++) {
                sum += got[row * dim[2] + j];
                if (kind == CLF_PRONOUNCE_ATTENTION_DECODER && j > row % dim[1])
                    assert_true(got[row * dim[2] + j] == 0.0f);
            }
            CHECK(within(sum, 1, 1e-6), "kind %d: row %lld sums to %.9g", kind, (long long)row, sum);
        }
        clf_tensor_destroy(weights);
    }
    weights = NULL;
    clf_pronouncer *const p = fixture.pronouncer;
    const clf_pronounce_attention kind = CLF_PRONOUNCE_ATTENTION_CROSS;
    CHECK_FAILS(clf_pronouncer_attention(p, &bad, "HH", kind, 0, &weights), CLF_INVALID_ARGUMENT, "two words");
    CHECK_FAILS(clf_pronouncer_attention(p, &word, "HH QQ", kind, 0, &weights), CLF_INVALID_ARGUMENT, "QQ");
    CHECK_FAILS(clf_pronouncer_attention(p, &word, "HH", kind, 99, &weights), CLF_INVALID_ARGUMENT, "99");
    CHECK_FAILS(clf_pronouncer_attention(p, &word, NULL, kind, 0, &weights), CLF_INVALID_ARGUMENT, "NULL");
    assert_null(weights);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    clf_pronunciations *list = NULL;
    clf_pronouncer *pronouncer = NULL;
    clf_pronounce_params params = CLF_PRONOUNCE_PARAMS_INIT;
    const clf_text word = TEXT("word");
    params.beam = 0;
    CHECK_FAILS(clf_pronounce(fixture.pronouncer, &word, 1, &params, &list), CLF_INVALID_ARGUMENT, "beam 0");
    params.beam = 65;
    CHECK_FAILS(clf_pronounce(fixture.pronouncer, &word, 1, &params, &list), CLF_INVALID_ARGUMENT, "beam 65");
    CHECK_FAILS(clf_pronounce(fixture.pronouncer, NULL, 1, NULL, &list), CLF_INVALID_ARGUMENT, "NULL");
    CHECK_FAILS(clf_pronouncer_open(fixture.context, "/no/such/model", &pronouncer), CLF_NOT_FOUND, "/no/such/model");
    assert_null(list);
    assert_null(pronouncer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_features_and_logits),
        cmocka_unit_test(test_cached_steps_equal_whole_prefixes),
        cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_beam),
        cmocka_unit_test(test_results_do_not_depend_on_the_batch),
        cmocka_unit_test(test_second_batch_allocates_and_builds_nothing),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_attention_weights),
        cmocka_unit_test(test_bad_arguments),
    };
    cmocka_set_test_filter(getenv("CLF_TEST_ONLY")); /* spoiled.sh needs one of them */
    return cmocka_run_group_tests_name("model.g2p", tests, setup, teardown);
}
