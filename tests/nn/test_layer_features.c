/* SPDX-License-Identifier: MIT */
/* Layers of a Transformer from inside, against float64: attention weights and feed-forward inputs that are read, dropout of training, score
 * functions (relative positions of Shaw et al. 2018), of clf_multi_head_attention too; refusals. */
#include "support/check.h"
#include "support/device.h"
#include "support/operand.h"
#include "support/random_weights.h"
#include "support/small_transformer.h"

enum { LAYERS = 2, D = C / H, REACH = 2, OUTPUTS = 10, WEIGHTS = LAYERS * N * H * S * S };

/* A network with its sources and targets: keys of sources end at 7, 3 and 0, targets are causal. */
typedef struct fixture {
    clf_transformer_config config;
    clfi_ref_weights weights;
    clf_transformer *network;
    clf_layout order;
    clf_tensor *source, *target, *padding;
    clf_attention_masks source_masks, target_masks;
    bool keep_encoder[N * H * S * S], keep_source[N * H * T * S], keep_target[N * H * T * T];
    double memory[N * S * C], features[N * T * C]; /* of the reference */
} fixture;

static void fixture_init(clf_context *context, clf_layout order, bool norm_first, fixture *f)
{
    static tensor_list list;
    static const int lengths[N] = {7, 3, 0};
    int32_t tokens[N * S];
    uint8_t padding[N * S];
    *f = (fixture){
        .config = base_config, .order = order, .source_masks = CLF_ATTENTION_MASKS_INIT, .target_masks = CLF_ATTENTION_MASKS_INIT};
    f->config.norm_first = norm_first;
    f->config.is_gated = !norm_first;
    random_weights(&f->config, 1234, 0.3f, &f->weights);
    list_labml(context, &f->config, &f->weights, &list);
    CHECK_OK(clf_transformer_create(context, &f->config, CLF_NAMES_LABML, list.named, list.count, &f->network));
    list_free(&list);
    for (int i = 0; i < N * S; i++) {
        tokens[i] = (i * 7 + 3) % SOURCE_V;
        padding[i] = i % S < lengths[i / S];
    }
    f->source = sequence(context, order, CLF_I32, S, 1, tokens);
    CHECK_OK(clfi_ref_embed(&f->config, &f->weights, false, N, S, tokens, f->memory));
    f->target = sequence(context, order, CLF_I32, T, 1, tokens);
    CHECK_OK(clfi_ref_embed(&f->config, &f->weights, true, N, T, tokens, f->features));
    f->source_masks.padding_mask = f->padding = make_u8(context, 2, (int64_t[]){N, S}, padding);
    f->target_masks.is_causal = 1;
    for (int i = 0; i < N * H * S * S; i++)
        f->keep_encoder[i] = padding[i / (H * S * S) * S + i % S];
    for (int i = 0; i < N * H * T * S; i++)
        f->keep_source[i] = padding[i / (H * T * S) * S + i % S];
    for (int i = 0; i < N * H * T * T; i++)
        f->keep_target[i] = i % T <= i / T % T;
}

static void fixture_free(fixture *f)
{
    clf_tensor_destroy(f->source);
    clf_tensor_destroy(f->target);
    clf_tensor_destroy(f->padding);
    clf_transformer_destroy(f->network);
    clfi_ref_weights_free(&f->weights);
}

/* Values of both stacks in the reference. */
static double self_weights[2][WEIGHTS], source_weights[WEIGHTS], ff_input[2][LAYERS * N * S * C];

/* memory and features become the network's. */
static void run_reference(fixture *f, clfi_ref_extras extras)
{
    extras.self_weights = self_weights[0];
    extras.ff_input = ff_input[0];
    CHECK_OK(
        clfi_ref_stack(&f->config, &f->weights, false, &(clfi_ref_batch){N, S, T, f->keep_encoder, NULL, &extras}, NULL, f->memory, NULL));
    extras.self_weights = self_weights[1];
    extras.source_weights = source_weights;
    extras.ff_input = ff_input[1];
    CHECK_OK(clfi_ref_stack(&f->config, &f->weights, true, &(clfi_ref_batch){N, S, T, f->keep_target, f->keep_source, &extras}, f->memory,
                            f->features, NULL));
}

static clf_tensor *unwritten_weights(clf_context *context, int64_t queries, int64_t keys)
{
    static float values[N * H * S * S];
    clf_tensor *tensor;
    memset(values, UNWRITTEN, sizeof values);
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 4, (int64_t[]){N, H, queries, keys}, values, &tensor));
    return tensor;
}

/* Every value of every layer. */
static void make_outputs(clf_context *context, const fixture *f, clf_layer_output *outputs)
{
    static const struct {
        int is_decoder;
        clf_layer_value value;
    } kinds[OUTPUTS / LAYERS] = {{0, CLF_LAYER_SELF_WEIGHTS},
                                 {0, CLF_LAYER_FEED_FORWARD_INPUT},
                                 {1, CLF_LAYER_SELF_WEIGHTS},
                                 {1, CLF_LAYER_SOURCE_WEIGHTS},
                                 {1, CLF_LAYER_FEED_FORWARD_INPUT}};
    for (int i = 0; i < OUTPUTS; i++) {
        const int is_decoder = kinds[i / LAYERS].is_decoder;
        const clf_layer_value value = kinds[i / LAYERS].value;
        const int64_t length = is_decoder ? T : S;
        outputs[i] = (clf_layer_output){is_decoder, i % LAYERS, value, NULL};
        outputs[i].out = value == CLF_LAYER_FEED_FORWARD_INPUT
                             ? output(context, f->order, length, C)
                             : unwritten_weights(context, length, value == CLF_LAYER_SOURCE_WEIGHTS ? S : length);
    }
}

static void check_outputs(const char *id, const fixture *f, clf_layer_output *outputs)
{
    for (int i = 0; i < OUTPUTS; i++) {
        const clf_layer_output *o = &outputs[i];
        const int64_t queries = o->is_decoder ? T : S, keys = o->value == CLF_LAYER_SOURCE_WEIGHTS ? S : queries;
        const int64_t count = N * H * queries * keys;
        const double *want = (o->value == CLF_LAYER_SOURCE_WEIGHTS ? source_weights : self_weights[o->is_decoder]) + o->layer * count;
        float got[N * H * S * S];
        char name[120];
        snprintf(name, sizeof name, "%s, value %d of layer %d of the %s", id, (int)o->value, (int)o->layer,
                 o->is_decoder ? "decoder" : "encoder");
        if (o->value == CLF_LAYER_FEED_FORWARD_INPUT) {
            check_sequence(name, o->out, f->order, queries, C, ff_input[o->is_decoder] + o->layer * N * queries * C);
        } else {
            CHECK_OK(clf_tensor_read_f32(o->out, got, (size_t)count));
            for (int64_t j = 0; j < count; j++)
                CHECK(within(got[j], want[j], transformer_bound), "%s: weight %lld: %.9g, want %.9g", name, (long long)j, (double)got[j],
                      want[j]);
        }
        clf_tensor_destroy(o->out);
    }
}

/* Features as floats, in the tensor's order. */
static void run_network(clf_context *context, fixture *f, const clf_transformer_params *params, float *features)
{
    clf_tensor *out = output(context, f->order, T, C);
    CHECK_OK(clf_transformer_forward(f->network, f->order, f->source, f->target, &f->source_masks, &f->target_masks, params, out));
    CHECK_OK(clf_tensor_read_f32(out, features, N * T * C));
    clf_tensor_destroy(out);
}

static void check_features(clf_context *context, const char *id, const fixture *f, const float *features)
{
    clf_tensor *tensor;
    const bool first = f->order == CLF_LAYOUT_NLD;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 3, (int64_t[]){first ? N : T, first ? T : N, C}, features, &tensor));
    check_sequence(id, tensor, f->order, T, C, f->features);
    clf_tensor_destroy(tensor);
}

static void test_outputs(void **state)
{
    static fixture f;
    static float plain[N * T * C], watched[N * T * C];
    for (int order = 0; order < 2; order++) {
        clf_layer_output outputs[OUTPUTS];
        clf_transformer_params params;
        fixture_init(*state, (clf_layout)order, order == 1, &f);
        run_reference(&f, (clfi_ref_extras){.seed = 0});
        make_outputs(*state, &f, outputs);
        CHECK_OK(clf_transformer_params_default(&params, sizeof params));
        run_network(*state, &f, NULL, plain);
        params.outputs = outputs;
        params.output_count = OUTPUTS;
        run_network(*state, &f, &params, watched);
        assert_memory_equal(plain, watched, sizeof plain); /* to look changes nothing */
        check_features(*state, "watched", &f, watched);
        check_outputs(order ? "lnd" : "nld", &f, outputs);
        fixture_free(&f);
    }
}

/* Weights that are asked for in any order change no bit of a result with dropout. */
static void test_order_of_outputs(void **state)
{
    enum { ROWS = 70, WIDTH = 32, HEADS = 2 };
    static float input[ROWS * WIDTH], plain[ROWS * WIDTH], watched[ROWS * WIDTH];
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    clf_transformer *network;
    clf_tensor *x, *memory, *weights, *turned, *wide, *spaced;
    rng r = {3};
    config.width = config.hidden_width = WIDTH;
    config.heads = HEADS;
    config.encoder_layers = 1;
    config.decoder_layers = config.has_generator = 0;
    CHECK_OK(clf_transformer_create_random(*state, &config, 5, &network));
    for (int i = 0; i < ROWS * WIDTH; i++)
        input[i] = (float)rng_uniform(&r, -5, 5);
    CHECK_OK(clf_tensor_create_from(*state, CLF_F32, 3, (int64_t[]){1, ROWS, WIDTH}, input, &x));
    CHECK_OK(clf_tensor_create(*state, CLF_F32, 3, (int64_t[]){1, ROWS, WIDTH}, &memory));
    CHECK_OK(clf_tensor_create(*state, CLF_F32, 4, (int64_t[]){1, HEADS, ROWS, ROWS}, &weights));
    CHECK_OK(clf_tensor_permute(weights, (int[]){0, 1, 3, 2}, &turned));
    CHECK_OK(clf_tensor_create(*state, CLF_F32, 4, (int64_t[]){1, HEADS, ROWS, 2 * ROWS}, &wide));
    CHECK_OK(clf_tensor_slice(wide, 3, 0, ROWS, 2, &spaced));
    clf_transformer_params params = CLF_TRANSFORMER_PARAMS_INIT;
    params.weight_dropout = 0.1f;
    params.seed = 7;
    CHECK_OK(clf_transformer_encode(network, CLF_LAYOUT_NLD, x, NULL, &params, memory));
    CHECK_OK(clf_tensor_read_f32(memory, plain, COUNT(plain)));
    clf_tensor *const orders[] = {weights, turned, spaced};
    for (size_t i = 0; i < COUNT(orders); i++) {
        params.outputs = &(clf_layer_output){0, 0, CLF_LAYER_SELF_WEIGHTS, orders[i]};
        params.output_count = 1;
        CHECK_OK(clf_transformer_encode(network, CLF_LAYOUT_NLD, x, NULL, &params, memory));
        CHECK_OK(clf_tensor_read_f32(memory, watched, COUNT(watched)));
        CHECK(memcmp(plain, watched, sizeof plain) == 0, "order %zu of the weights changes the result", i);
    }
    clf_tensor *const all[] = {x, memory, weights, turned, wide, spaced};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
    clf_transformer_destroy(network);
}

/* Results with dropout are those of the same numbers on the host, in either layout; probability 0 leaves every bit. */
static void test_dropout(void **state)
{
    static fixture f;
    static float plain[N * T * C], dropped[N * T * C], again[N * T * C];
    for (int order = 0; order < 2; order++) {
        clf_layer_output outputs[OUTPUTS];
        clf_transformer_params params = CLF_TRANSFORMER_PARAMS_INIT;
        params.seed = 0xfedcba9876543210u;
        fixture_init(*state, (clf_layout)order, order == 0, &f);
        run_network(*state, &f, NULL, plain);
        run_network(*state, &f, &params, again);
        assert_memory_equal(plain, again, sizeof plain);
        params.weight_dropout = 0.1f;
        params.hidden_dropout = 0.25f;
        params.result_dropout = 0.15f;
        run_reference(&f, (clfi_ref_extras){.weight_dropout = 0.1f, .hidden_dropout = 0.25f, .result_dropout = 0.15f, .seed = params.seed});
        run_network(*state, &f, &params, dropped);
        check_features(*state, "dropout", &f, dropped);
        assert_memory_not_equal(plain, dropped, sizeof plain);
        make_outputs(*state, &f, outputs);
        params.outputs = outputs;
        params.output_count = OUTPUTS;
        run_network(*state, &f, &params, again);
        assert_memory_equal(dropped, again, sizeof plain);
        check_outputs("dropout", &f, outputs);
        params.output_count = 0;
        params.seed++;
        run_network(*state, &f, &params, again);
        assert_memory_not_equal(dropped, again, sizeof plain);
        fixture_free(&f);
    }
}

/* One place of dropout at a time, through encode and decode. */
static void test_dropout_places(void **state)
{
    static fixture f;
    for (int place = 0; place < 3; place++) {
        clf_transformer_params params = CLF_TRANSFORMER_PARAMS_INIT;
        clfi_ref_extras extras = {.seed = 5};
        params.seed = 5;
        *(float *[]){&params.weight_dropout, &params.hidden_dropout, &params.result_dropout}[place] = 0.5f;
        *(float *[]){&extras.weight_dropout, &extras.hidden_dropout, &extras.result_dropout}[place] = 0.5f;
        fixture_init(*state, CLF_LAYOUT_NLD, true, &f);
        run_reference(&f, extras);
        clf_tensor *memory = output(*state, f.order, S, C), *features = output(*state, f.order, T, C);
        CHECK_OK(clf_transformer_encode(f.network, f.order, f.source, &f.source_masks, &params, memory));
        check_sequence("memory with dropout", memory, f.order, S, C, f.memory);
        CHECK_OK(clf_transformer_decode(f.network, f.order, memory, &f.source_masks, f.target, &f.target_masks, &params, features));
        check_sequence("features with dropout", features, f.order, T, C, f.features);
        clf_tensor_destroy(memory);
        clf_tensor_destroy(features);
        fixture_free(&f);
    }
}

/* Relative positions (Shaw et al. 2018, eq. 5) as a score function: scores[n,h,i,j] += scale q[n,h,i,:] . a[i,j,:], where a[i,j] is the
 * vector of the distance j - i, at most REACH either way. */
typedef struct relative_positions {
    float vector[2 * REACH + 1][D];
    int calls[2][2];
    int64_t layers;
} relative_positions;

static clf_status add_relative(clf_context *context, const clf_score_call *call, void *user)
{
    static const int by_query[4] = {0, 2, 1, 3}; /* [N,H,Q,.] to [N,Q,H,.]: a product for each query */
    relative_positions *positions = user;
    const int64_t *dim = clf_tensor_dim(call->scores), queries = dim[2], keys = dim[3];
    float table[S * D * S]; /* [Q,d,K] */
    clf_tensor *a = NULL, *plain = NULL, *q = NULL, *residual = NULL, *scores = NULL;
    clf_gemm_params params = CLF_GEMM_PARAMS_INIT;
    clf_status st;
    positions->calls[call->is_decoder][call->is_source]++;
    positions->layers += call->layer;
    if (call->is_source)
        return CLF_OK; /* a memory has no distance to the targets */
    for (int64_t i = 0; i < queries * D * keys; i++) {
        const int64_t distance = i % keys - i / (D * keys);
        table[i] = positions->vector[(distance < -REACH ? -REACH : distance > REACH ? REACH : distance) + REACH][i / keys % D];
    }
    if ((st = clf_tensor_create_from(context, CLF_F32, 4, (int64_t[]){1, queries, D, keys}, table, &a)) != CLF_OK ||
        (st = clf_tensor_create(context, CLF_F32, 4, dim, &plain)) != CLF_OK ||
        (st = clf_activation_apply(context, CLF_ACTIVATION_NONE, call->scores, plain)) != CLF_OK ||
        (st = clf_tensor_permute(plain, by_query, &residual)) != CLF_OK || (st = clf_tensor_permute(call->q, by_query, &q)) != CLF_OK ||
        (st = clf_tensor_permute(call->scores, by_query, &scores)) != CLF_OK)
        goto done;
    params.alpha = call->scale;
    params.residual = residual;
    st = clf_gemm(context, q, a, &params, scores);
done:
    clf_tensor_destroy(a);
    clf_tensor_destroy(plain);
    clf_tensor_destroy(q);
    clf_tensor_destroy(residual);
    clf_tensor_destroy(scores);
    return st;
}

static relative_positions make_positions(void)
{
    relative_positions made = {.layers = 0};
    rng r = {17};
    for (int i = 0; i < 2 * REACH + 1; i++)
        for (int c = 0; c < D; c++)
            made.vector[i][c] = (float)(rng_below(&r, 2001) - 1000) * 1e-3f;
    return made;
}

static void test_scores_of_layers(void **state)
{
    static fixture f;
    static float plain[N * T * C], relative[N * T * C];
    for (int order = 0; order < 2; order++) {
        clf_layer_output outputs[OUTPUTS];
        relative_positions positions = make_positions();
        clf_transformer_params params = CLF_TRANSFORMER_PARAMS_INIT;
        fixture_init(*state, (clf_layout)order, true, &f);
        make_outputs(*state, &f, outputs);
        run_network(*state, &f, NULL, plain);
        params.score = add_relative;
        params.score_user = &positions;
        params.outputs = outputs;
        params.output_count = OUTPUTS;
        run_reference(&f, (clfi_ref_extras){.relative = positions.vector[0], .reach = REACH});
        run_network(*state, &f, &params, relative);
        check_features(*state, "relative", &f, relative);
        check_outputs("relative", &f, outputs);
        assert_memory_not_equal(plain, relative, sizeof plain);
        assert_int_equal(positions.calls[0][0], LAYERS);
        assert_int_equal(positions.calls[0][1], 0);
        assert_int_equal(positions.calls[1][0], LAYERS);
        assert_int_equal(positions.calls[1][1], LAYERS);
        assert_int_equal(positions.layers, 3); /* layers 0 and 1, three times */
        fixture_free(&f);
    }
}

/* Multi-head attention of rows to themselves: projections are the identity, so that heads are columns of x. */
static void test_scores_of_multi_head_attention(void **state)
{
    clf_context *context = *state;
    relative_positions positions = make_positions();
    float identity[C * C] = {0}, x[N * S * C];
    clf_multi_head_attention *mha;
    clf_tensor *w;
    rng r = {3};
    for (int i = 0; i < C; i++)
        identity[i * C + i] = 1;
    for (int i = 0; i < N * S * C; i++)
        x[i] = (float)(rng_below(&r, 2001) - 1000) * 1e-3f;
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){C, C}, identity, &w));
    const clf_multi_head_attention_weights weights = {.size = sizeof weights, .w_q = w, .w_k = w, .w_v = w};
    CHECK_OK(clf_multi_head_attention_create(context, H, &weights, &mha));
    double want[N * S * C];
    for (int row = 0; row < N * S * H; row++) {
        const int n = row / (S * H), i = row / H % S, h = row % H;
        const float *q = x + (n * S + i) * C + h * D;
        double weight[S], sum = 0;
        for (int j = 0; j < S; j++) {
            const int distance = j - i < -REACH ? -REACH : j - i > REACH ? REACH : j - i;
            double score = 0;
            for (int c = 0; c < D; c++)
                score += (double)q[c] * ((double)x[(n * S + j) * C + h * D + c] + (double)positions.vector[distance + REACH][c]);
            sum += weight[j] = exp(score / sqrt((double)D));
        }
        for (int c = 0; c < D; c++) {
            double mixed = 0;
            for (int j = 0; j < S; j++)
                mixed += weight[j] / sum * (double)x[(n * S + j) * C + h * D + c];
            want[(n * S + i) * C + h * D + c] = mixed;
        }
    }
    for (int order = 0; order < 2; order++) {
        clf_multi_head_attention_params params = CLF_MULTI_HEAD_ATTENTION_PARAMS_INIT;
        clf_tensor *in = sequence(context, (clf_layout)order, CLF_F32, S, C, x), *out = output(context, (clf_layout)order, S, C);
        params.layout = (clf_layout)order;
        params.score = add_relative;
        params.score_user = &positions;
        CHECK_OK(clf_multi_head_attention_apply(context, mha, in, in, in, &params, out));
        check_sequence("multi-head attention", out, (clf_layout)order, S, C, want);
        clf_tensor_destroy(in);
        clf_tensor_destroy(out);
    }
    clf_tensor_destroy(w);
    clf_multi_head_attention_destroy(mha);
}

static clf_status fail_to_score(clf_context *context, const clf_score_call *call, void *user)
{
    (void)context, (void)call, (void)user;
    return CLF_UNSUPPORTED;
}

static void test_refusals(void **state)
{
    static fixture f;
    clf_context *context = *state;
    fixture_init(context, CLF_LAYOUT_NLD, true, &f);
    clf_tensor *memory = output(context, f.order, S, C), *features = output(context, f.order, T, C),
               *weights = unwritten_weights(context, S, S);
    clf_tensor *narrow = output(context, f.order, S, C / 2);
    const clf_layer_output good = {0, 1, CLF_LAYER_SELF_WEIGHTS, weights};
    clf_layer_output outputs[2];
#define REFUSED(change, part)                                                                                            \
    do {                                                                                                                 \
        clf_transformer_params p = {.size = sizeof p, .outputs = outputs, .output_count = 1};                            \
        outputs[0] = outputs[1] = good;                                                                                  \
        change;                                                                                                          \
        CHECK_FAILS(clf_transformer_encode(f.network, f.order, f.source, NULL, &p, memory), CLF_INVALID_ARGUMENT, part); \
    } while (0)
    REFUSED(p.size = 0, "clf_transformer_params");
    REFUSED(p.weight_dropout = 1, "E_VALUE: transformer weights: dropout 1");
    REFUSED(p.hidden_dropout = -0.5f, "E_VALUE: transformer hidden values: dropout -0.5");
    REFUSED(p.result_dropout = NAN, "E_VALUE: transformer results: dropout");
    REFUSED(p.outputs = NULL, "outputs is NULL");
    REFUSED(p.output_count = 2, "outputs 0 and 1 name the same value of layer 1");
    REFUSED(outputs[0].is_decoder = 1, "output 0 is of the decoder, which does not run");
    REFUSED(outputs[0].layer = 2, "layer 2, the encoder has layers 0 to 1");
    REFUSED(outputs[0].layer = -1, "layer -1");
    REFUSED(outputs[0].value = CLF_LAYER_VALUE_COUNT, "value 3 of a layer is unknown");
    REFUSED(outputs[0].value = CLF_LAYER_SOURCE_WEIGHTS, "the encoder has no source attention");
    REFUSED(outputs[0].out = NULL, "self-attention weights is NULL");
    REFUSED(outputs[0].out = memory,
            "E_SHAPE: transformer self-attention weights of layer 1: float32 [3,7,32], expected float32 [3,4,7,7]");
    clf_tensor *repeated;
    CHECK_OK(clf_tensor_view(weights, 4, (int64_t[]){N, H, S, S}, (int64_t[]){0, S * S, S, 1}, 0, &repeated));
    REFUSED(outputs[0].out = repeated, "E_SHAPE: transformer: self-attention weights has a stride of 0 along axis 0 of 3 elements");
    clf_tensor_destroy(repeated);
    REFUSED(outputs[0].value = CLF_LAYER_FEED_FORWARD_INPUT; outputs[0].out = narrow, "expected float32 [3,7,32]");
    clf_transformer_params p = {.size = sizeof p, .outputs = &good, .output_count = 1};
    CHECK_FAILS(clf_transformer_decode(f.network, f.order, memory, NULL, f.target, NULL, &p, features), CLF_INVALID_ARGUMENT,
                "output 0 is of the encoder, which does not run");
    p = (clf_transformer_params){.size = sizeof p, .score = fail_to_score};
    CHECK_FAILS(clf_transformer_encode(f.network, f.order, f.source, NULL, &p, memory), CLF_UNSUPPORTED, "the score function failed");
    clf_tensor_destroy(memory);
    clf_tensor_destroy(features);
    clf_tensor_destroy(weights);
    clf_tensor_destroy(narrow);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs),          cmocka_unit_test(test_order_of_outputs),
        cmocka_unit_test(test_dropout),          cmocka_unit_test(test_dropout_places),
        cmocka_unit_test(test_scores_of_layers), cmocka_unit_test(test_scores_of_multi_head_attention),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("nn.layer_features", tests, device_setup, device_teardown);
}
