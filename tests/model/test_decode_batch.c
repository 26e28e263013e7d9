/* SPDX-License-Identifier: MIT */
/* Cached decoding of sequences that join, fork, go back and end at any time: the logits of every pass against an uncached causal pass over
 * the whole sequence, and the count of cache rows. */
#include "model/decode_batch.h"

#include <stdlib.h>

#include "model/name_maps.h"
#include "model/network_load.h"
#include "nn/dense.h"
#include "support/check.h"
#include "support/device.h"

enum { WIDTH = 32, HIDDEN = 48, HEADS = 4, LAYERS = 2, VOCABULARY = 19, LONGEST = 24, MOST = 4 };

/* Logits of order 1 behind two layers: a few hundred roundings on each side, as for the public Transformer's passes. */
static const double bound = 2e-5;

typedef struct fixture {
    clf_context *context;
    clf_network *network;
    clf_decode_batch *batch;
    int32_t tokens[MOST + 2][LONGEST]; /* of each sequence number */
    int32_t length[MOST + 2];
} fixture;

static fixture make_for(clf_context *context, int64_t key_heads, int64_t positions)
{
    fixture f = {.context = context};
    uint64_t seed = 11;
    clf_network_config config = clfi_network_config_default();
    config.decoder = (clf_stack_config){.layers = LAYERS,
                                        .width = WIDTH,
                                        .hidden_width = HIDDEN,
                                        .activation = CLF_ACTIVATION_GELU,
                                        .place = CLF_NORM_PRE,
                                        .norm_eps = 1e-5f,
                                        .has_final_norm = true};
    clfi_stack_config_heads(&config.decoder, HEADS);
    config.decoder.attention.key_heads = key_heads;
    config.decoder.attention.is_causal = true;
    config.target =
        (clf_embedding_config){.vocabulary = VOCABULARY, .max_positions = positions, .positions = CLF_POSITIONS_SINUSOIDAL, .scale = 1};
    config.has_generator = true;
    const clf_weight_source source = clfi_weights_of_seed(&seed);
    CHECK_OK(clfi_network_load(context, &config, clfi_name_map(CLF_NAMES_LABML), &source, &f.network));
    CHECK_OK(clfi_decode_create(context, f.network, CLF_F32, &f.batch));
    return f;
}

static fixture make(clf_context *context)
{
    return make_for(context, HEADS, LONGEST);
}

static void destroy(fixture *f)
{
    clfi_decode_destroy(f->batch);
    clfi_network_destroy(f->network);
}

/* The last token's logits from a pass over all of them. */
static void whole(const fixture *f, const int32_t *tokens, int64_t length, float out[VOCABULARY])
{
    const clf_network *network = f->network;
    const clf_arena_mark mark = clfi_arena_top(f->context);
    clf_packer packer = clfi_packer(f->context);
    clf_token_batch batch;
    clf_view x, logits;
    const clf_dense_masks causal = {.is_causal = true, .empty_rows = CLF_EMPTY_ROWS_ZERO};
    const clf_dense_batch dense = {.layout = CLF_LAYOUT_NLD, .batch = 1, .length = length, .self = &causal};
    CHECK_OK(clfi_pack_even(&packer, "test", &network->config.target, tokens, length, 1, length, &batch));
    CHECK_OK(clfi_view_temporary(f->context, CLF_F32, 2, (int64_t[]){length, WIDTH}, &x));
    CHECK_OK(clfi_view_temporary(f->context, CLF_F32, 2, (int64_t[]){length, VOCABULARY}, &logits));
    CHECK_OK(clfi_network_embed(f->context, &network->target, &batch.ids, &batch.positions, NULL, &x));
    CHECK_OK(clfi_dense_forward(f->context, &network->decoder, &dense, &x));
    CHECK_OK(clfi_network_generate(f->context, network, &x, &logits));
    CHECK_OK(
        clfi_buffer_read(logits.buffer, (size_t)(logits.offset + (length - 1) * VOCABULARY) * sizeof *out, out, VOCABULARY * sizeof *out));
    clfi_packer_clear(&packer);
    clfi_arena_release(f->context, mark);
}

/* The logits of a pass. */
static void pass(clf_decode_batch *batch, const clf_decode_input *inputs, size_t count, float *out)
{
    clf_context *context = clfi_decode_context(batch);
    const clf_arena_mark mark = clfi_arena_top(context);
    clf_view logits;
    CHECK_OK(clfi_decode_run(batch, inputs, count, &logits));
    CHECK_OK(clfi_buffer_read(logits.buffer, (size_t)logits.offset * sizeof *out, out, count * VOCABULARY * sizeof *out));
    clfi_arena_release(context, mark);
}

static void run(fixture *f, const clf_decode_input *inputs, size_t count)
{
    float got[MOST * VOCABULARY], want[VOCABULARY];
    for (size_t i = 0; i < MOST * VOCABULARY; i++)
        got[i] = NAN;
    pass(f->batch, inputs, count, got);
    for (size_t i = 0; i < count; i++) {
        const int32_t s = inputs[i].sequence;
        memcpy(f->tokens[s] + f->length[s], inputs[i].tokens, (size_t)inputs[i].count * sizeof(int32_t));
        f->length[s] += inputs[i].count;
        assert_int_equal(clfi_decode_length(f->batch, s), f->length[s]);
        whole(f, f->tokens[s], f->length[s], want);
        for (int v = 0; v < VOCABULARY; v++)
            CHECK(within(got[i * VOCABULARY + (size_t)v], want[v], bound), "sequence %d of %d tokens, logit %d: %.9g, want %.9g", s,
                  f->length[s], v, (double)got[i * VOCABULARY + (size_t)v], (double)want[v]);
    }
}

static void test_lives(void **state)
{
    fixture f = make(*state);
    int32_t a, b, c, d, e;
    CHECK_OK(clfi_decode_open(f.batch, &a));
    CHECK_OK(clfi_decode_open(f.batch, &b));
    assert_int_not_equal(a, b);
    /* two prompts in one pass, then a step of each */
    run(&f, (clf_decode_input[]){{a, (int32_t[]){1, 5, 9, 2, 7}, 5}, {b, (int32_t[]){3, 3}, 2}}, 2);
    run(&f, (clf_decode_input[]){{b, (int32_t[]){8}, 1}, {a, (int32_t[]){4}, 1}}, 2);
    /* a third joins with its prompt while another takes a step */
    CHECK_OK(clfi_decode_open(f.batch, &c));
    run(&f, (clf_decode_input[]){{a, (int32_t[]){0}, 1}, {c, (int32_t[]){18, 17, 16}, 3}}, 2);
    assert_int_equal(clfi_decode_usage(f.batch).used, 7 + 3 + 3);
    /* a fork shares what it has, and goes its own way */
    CHECK_OK(clfi_decode_fork(f.batch, a, &d));
    memcpy(f.tokens[d], f.tokens[a], sizeof f.tokens[a]);
    f.length[d] = f.length[a];
    assert_int_equal(clfi_decode_usage(f.batch).used, 13);
    run(&f, (clf_decode_input[]){{a, (int32_t[]){6}, 1}, {d, (int32_t[]){12}, 1}, {b, (int32_t[]){1}, 1}}, 3);
    assert_int_equal(clfi_decode_usage(f.batch).used, 16);
    /* back to a prefix; the other still has the rest */
    CHECK_OK(clfi_decode_keep(f.batch, d, 3));
    f.length[d] = 3;
    run(&f, (clf_decode_input[]){{d, (int32_t[]){14, 15}, 2}, {a, (int32_t[]){2}, 1}}, 2);
    /* one ends: its rows serve a new one, and no more are taken */
    const clf_decode_usage before = clfi_decode_usage(f.batch);
    CHECK_OK(clfi_decode_drop(f.batch, a));
    const int64_t freed = before.used - clfi_decode_usage(f.batch).used;
    assert_int_equal(freed, 9 - 3); /* the first three are the fork's too */
    CHECK_OK(clfi_decode_open(f.batch, &e));
    assert_int_equal(e, a);
    f.length[e] = 0;
    run(&f, (clf_decode_input[]){{e, (int32_t[]){10, 11, 12, 13}, 4}, {d, (int32_t[]){5}, 1}}, 2);
    assert_int_equal(clfi_decode_usage(f.batch).most, before.most);
    CHECK_OK(clfi_decode_drop(f.batch, b));
    CHECK_OK(clfi_decode_drop(f.batch, c));
    CHECK_OK(clfi_decode_drop(f.batch, d));
    CHECK_OK(clfi_decode_drop(f.batch, e));
    assert_int_equal(clfi_decode_usage(f.batch).used, 0);
    destroy(&f);
}

/* Steps after the first build no kernel and allocate nothing. */
static void test_steady(void **state)
{
    fixture f = make(*state);
    clf_context_stats before = {0}, after;
    uint64_t allocations = 0;
    int32_t a;
    CHECK_OK(clfi_decode_open(f.batch, &a));
    CHECK_OK(clfi_decode_reserve(f.batch, LONGEST, 5, LONGEST));
    for (int32_t step = 0; step < LONGEST - 5; step++) {
        const clf_arena_mark mark = clfi_arena_top(f.context);
        const clf_decode_input input = {a, (int32_t[]){1, 5, 9, 2, 7}, step ? 1 : 5};
        clf_view logits;
        CHECK_OK(clfi_decode_run(f.batch, &input, 1, &logits));
        CHECK_OK(clf_context_finish(f.context));
        clfi_arena_release(f.context, mark);
        clf_context_get_stats(f.context, &after);
        if (step == 1) {
            before = after;
            allocations = f.context->usage.allocations;
        }
        if (step > 1) {
            assert_int_equal(after.programs_built + after.programs_from_cache, before.programs_built + before.programs_from_cache);
            assert_int_equal(f.context->usage.allocations, allocations);
        }
    }
    destroy(&f);
}

/* Two batches of the same network, one of which has launch graphs. */
typedef struct pair {
    clf_decode_batch *graphs, *single;
} pair;

static void compare(const pair *p, const clf_decode_input *inputs, size_t count)
{
    float got[2 * VOCABULARY], want[2 * VOCABULARY];
    for (size_t i = 0; i < COUNT(got); i++)
        got[i] = NAN;
    pass(p->graphs, inputs, count, got);
    pass(p->single, inputs, count, want);
    for (size_t i = 0; i < count * VOCABULARY; i++)
        CHECK(within(got[i], want[i], bound), "%zu inputs, sequence %d of %d tokens, logit %zu: %.9g, want %.9g", count, inputs[0].sequence,
              clfi_decode_length(p->single, inputs[0].sequence), i, (double)got[i], (double)want[i]);
}

static void open_both(const pair *p, int32_t *out)
{
    int32_t other;
    CHECK_OK(clfi_decode_open(p->graphs, out));
    CHECK_OK(clfi_decode_open(p->single, &other));
    assert_int_equal(other, *out);
}

/* Steps whose launches are recorded once and replayed give the numbers of a batch that records none. Cases: past the ends of tables, while
 * the cache moves, with temporary memory elsewhere, with prompts and steps of other sequences between, and after going back. */
static void test_graphs(void **state)
{
    enum { POSITIONS = 400 };
    clf_context *context = *state;
    const clf_graph_use before = context->graphs;
    const int32_t steps = context->device.caps.graph_groups ? 270 : 12;
    fixture f = make_for(context, HEADS / 2, POSITIONS);
    pair p = {.graphs = f.batch};
    int32_t a, b, c;
    context->graphs = CLFI_GRAPHS_NEVER;
    CHECK_OK(clfi_decode_create(context, f.network, CLF_F32, &p.single));
    context->graphs = CLFI_GRAPHS_ALWAYS;
    open_both(&p, &a);
    open_both(&p, &b);
    for (int32_t i = 0; i < steps; i++) {
        const int32_t token = i * 7 % VOCABULARY, next = i * 5 % VOCABULARY;
        const clf_arena_mark mark = clfi_arena_top(context);
        clf_region elsewhere;
        if (i % 31 == 5)
            CHECK_OK(clfi_arena_alloc(context, 300, &elsewhere));
        compare(&p, (clf_decode_input[]){{a, &token, 1}}, 1);
        if (i % 3 == 0)
            compare(&p, (clf_decode_input[]){{b, &token, 1}, {a, &next, 1}}, 2);
        if (i % 50 == 9) {
            open_both(&p, &c);
            compare(&p, (clf_decode_input[]){{c, (int32_t[]){token, next, 3}, 3}}, 1);
            CHECK_OK(clfi_decode_drop(p.graphs, c));
            CHECK_OK(clfi_decode_drop(p.single, c));
        }
        if (i % 100 == 10) {
            const int32_t kept = clfi_decode_length(p.single, a) - 6;
            CHECK_OK(clfi_decode_keep(p.graphs, a, kept));
            CHECK_OK(clfi_decode_keep(p.single, a, kept));
        }
        clfi_arena_release(context, mark);
    }
    context->graphs = before;
    clfi_decode_destroy(p.single);
    destroy(&f);
}

static void test_refusals(void **state)
{
    fixture f = make(*state);
    const clf_arena_mark mark = clfi_arena_top(f.context);
    const int32_t tokens[LONGEST + 1] = {1, 2, VOCABULARY};
    int32_t s, other;
    clf_view logits;
    CHECK_FAILS(clfi_decode_set_sources(f.batch, tokens, (int32_t[]){0, 2}, 1), CLF_INVALID_ARGUMENT, "has no source attention");
    CHECK_FAILS(clfi_decode_open_on(f.batch, 0, &s), CLF_INVALID_ARGUMENT, "no source 0");
    CHECK_OK(clfi_decode_open(f.batch, &s));
    CHECK_FAILS(clfi_decode_run(f.batch, (clf_decode_input[]){{s + 1, tokens, 1}}, 1, &logits), CLF_INVALID_ARGUMENT, "no sequence 1");
    CHECK_FAILS(clfi_decode_run(f.batch, (clf_decode_input[]){{s, tokens, 0}}, 1, &logits), CLF_INVALID_ARGUMENT, "no tokens");
    CHECK_FAILS(clfi_decode_run(f.batch, (clf_decode_input[]){{s, tokens, 1}, {s, tokens, 1}}, 2, &logits), CLF_INVALID_ARGUMENT, "twice");
    CHECK_FAILS(clfi_decode_run(f.batch, (clf_decode_input[]){{s, tokens, 3}}, 1, &logits), CLF_INVALID_ARGUMENT,
                "token 19 is outside 0..18");
    CHECK_FAILS(clfi_decode_run(f.batch, (clf_decode_input[]){{s, tokens, LONGEST + 1}}, 1, &logits), CLF_INVALID_ARGUMENT, "24 positions");
    assert_int_equal(clfi_decode_usage(f.batch).used, 0);
    run(&f, (clf_decode_input[]){{s, tokens, 2}}, 1);
    CHECK_FAILS(clfi_decode_keep(f.batch, s, 3), CLF_INVALID_ARGUMENT, "has 2 tokens");
    CHECK_OK(clfi_decode_drop(f.batch, s));
    CHECK_FAILS(clfi_decode_drop(f.batch, s), CLF_INVALID_ARGUMENT, "no sequence 0");
    CHECK_FAILS(clfi_decode_fork(f.batch, s, &other), CLF_INVALID_ARGUMENT, "no sequence 0");
    clfi_arena_release(f.context, mark);
    destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lives), cmocka_unit_test(test_steady), cmocka_unit_test(test_graphs),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("model.decode_batch", tests, device_setup, device_teardown);
}
