/* SPDX-License-Identifier: MIT */
/* The rule of clformer.h for NULL at every public function: a call for each pointer that must not be NULL. That no function is left out is
 * checked against the headers. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"
#include "clformer/clformer.h"
#include "clformer/opencl.h"
#include "support/check.h"
#include "support/device.h"

enum { MOST = 512, NAME = 96 };

static char called[MOST][NAME];
static size_t called_count;

/* The function's name out of a call's text. */
static void note(const char *call)
{
    const size_t length = strcspn(call, "(");
    assert_true(called_count < MOST && length < NAME);
    memcpy(called[called_count++], call, length);
}

static bool is_called(const char *name)
{
    for (size_t i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0)
            return true;
    return false;
}

#define REFUSES(call)                                                                                                         \
    do {                                                                                                                      \
        const clf_status null_status = (call);                                                                                \
        note(#call);                                                                                                          \
        CHECK(null_status == CLF_INVALID_ARGUMENT, "%s: %s, expected invalid argument", #call, clf_status_text(null_status)); \
    } while (0)

#define GIVES(call, value)                                    \
    do {                                                      \
        note(#call);                                          \
        CHECK((call) == (value), "%s is not " #value, #call); \
    } while (0)

#define RETURNS(call) \
    do {              \
        note(#call);  \
        call;         \
    } while (0)

static const int64_t dim[2] = {2, 3};
static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const float square[9];

static void test_device_and_context(void **state)
{
    clf_context *context = *state;
    clf_context_stats stats = {.kernels_launched = 1};
    clf_kernel_stats kernel;
    clf_device_list *list;
    size_t index;
    REFUSES(clf_context_params_default(NULL, sizeof(clf_context_params)));
    REFUSES(clf_device_list_create(NULL));
    REFUSES(clf_device_list_select(NULL, NULL, &index));
    CHECK_OK(clf_device_list_create(&list));
    REFUSES(clf_device_list_select(list, NULL, NULL));
    clf_device_list_destroy(list);
    RETURNS(clf_device_list_destroy(NULL));
    GIVES(clf_device_list_count(NULL), 0);
    GIVES(clf_device_list_get(NULL, 0), NULL);
    GIVES(clf_device_list_note(NULL, 0), NULL);
    REFUSES(clf_context_create(NULL, NULL));
    REFUSES(clf_context_create_shared(NULL, &context));
    REFUSES(clf_context_create_shared(context, NULL));
    RETURNS(clf_context_destroy(NULL));
    REFUSES(clf_context_finish(NULL));
    GIVES(clf_context_device(NULL), NULL);
    RETURNS(clf_context_get_stats(context, NULL));
    RETURNS(clf_context_get_stats(NULL, &stats));
    assert_int_equal(stats.kernels_launched, 0);
    GIVES(clf_context_kernel_count(NULL), 0);
    REFUSES(clf_context_kernel_get(NULL, 0, &kernel));
    REFUSES(clf_context_kernel_get(context, 0, NULL));
    REFUSES(clf_context_write_trace(NULL, "trace.json"));
    REFUSES(clf_context_write_trace(context, NULL));
    REFUSES(clf_context_create_from_opencl(NULL, NULL, clf_context_queue(context), &context));
    REFUSES(clf_context_create_from_opencl(NULL, clf_context_opencl(context), NULL, &context));
    REFUSES(clf_context_create_from_opencl(NULL, clf_context_opencl(context), clf_context_queue(context), NULL));
    GIVES(clf_context_opencl(NULL), NULL);
    GIVES(clf_context_queue(NULL), NULL);
    RETURNS(clf_version());
    RETURNS(clf_precision_name((clf_precision)-1));
    GIVES(clf_version_number(), CLF_VERSION_NUMBER);
    RETURNS(clf_last_error());
    RETURNS(clf_status_text(CLF_OK));
    RETURNS(clf_status_id(CLF_OK));
}

static void test_tensors(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *y;
    float data[6];
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, dim, &x));
    REFUSES(clf_tensor_create(NULL, CLF_F32, 2, dim, &y));
    REFUSES(clf_tensor_create(context, CLF_F32, 2, NULL, &y));
    REFUSES(clf_tensor_create(context, CLF_F32, 2, dim, NULL));
    REFUSES(clf_tensor_create_from(NULL, CLF_F32, 2, dim, numbers, &y));
    REFUSES(clf_tensor_create_from(context, CLF_F32, 2, NULL, numbers, &y));
    REFUSES(clf_tensor_create_from(context, CLF_F32, 2, dim, NULL, &y));
    REFUSES(clf_tensor_create_from(context, CLF_F32, 2, dim, numbers, NULL));
    REFUSES(clf_tensor_view(NULL, 2, dim, dim, 0, &y));
    REFUSES(clf_tensor_view(x, 2, NULL, dim, 0, &y));
    REFUSES(clf_tensor_view(x, 2, dim, NULL, 0, &y));
    REFUSES(clf_tensor_view(x, 2, dim, (int64_t[]){3, 1}, 0, NULL));
    REFUSES(clf_tensor_permute(NULL, (int[]){1, 0}, &y));
    REFUSES(clf_tensor_permute(x, NULL, &y));
    REFUSES(clf_tensor_permute(x, (int[]){1, 0}, NULL));
    REFUSES(clf_tensor_slice(NULL, 0, 0, 1, 1, &y));
    REFUSES(clf_tensor_slice(x, 0, 0, 1, 1, NULL));
    REFUSES(clf_tensor_reshape(NULL, 2, dim, &y));
    REFUSES(clf_tensor_reshape(x, 2, NULL, &y));
    REFUSES(clf_tensor_reshape(x, 2, dim, NULL));
    RETURNS(clf_tensor_destroy(NULL));
    GIVES(clf_dtype_bytes(CLF_DTYPE_COUNT), 0);
    RETURNS(clf_dtype_name(CLF_DTYPE_COUNT));
    GIVES(clf_tensor_dtype(NULL), CLF_DTYPE_COUNT);
    GIVES(clf_tensor_rank(NULL), 0);
    GIVES(clf_tensor_dim(NULL), NULL);
    GIVES(clf_tensor_stride(NULL), NULL);
    GIVES(clf_tensor_count(NULL), 0);
    GIVES(clf_tensor_opencl(NULL, NULL), NULL);
    REFUSES(clf_tensor_write(NULL, numbers, sizeof numbers));
    REFUSES(clf_tensor_write(x, NULL, sizeof numbers));
    REFUSES(clf_tensor_read(NULL, data, sizeof data));
    REFUSES(clf_tensor_read(x, NULL, sizeof data));
    REFUSES(clf_tensor_write_f32(NULL, numbers, 6));
    REFUSES(clf_tensor_write_f32(x, NULL, 6));
    REFUSES(clf_tensor_read_f32(NULL, data, 6));
    REFUSES(clf_tensor_read_f32(x, NULL, 6));
    clf_tensor_destroy(x);
}

static void test_ops(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *y, *x3;
    clf_linear *linear;
    clf_activation kind;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, dim, &x));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, dim, &y));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 2, 3}, &x3));
    GIVES(clf_activation_name(CLF_ACTIVATION_COUNT)[0], 'u');
    REFUSES(clf_activation_parse(NULL, &kind));
    REFUSES(clf_activation_parse("relu", NULL));
    REFUSES(clf_activation_apply(NULL, CLF_ACTIVATION_RELU, x, y));
    REFUSES(clf_activation_apply(context, CLF_ACTIVATION_RELU, NULL, y));
    REFUSES(clf_activation_apply(context, CLF_ACTIVATION_RELU, x, NULL));
    REFUSES(clf_gemm_params_default(NULL, sizeof(clf_gemm_params)));
    REFUSES(clf_gemm(NULL, x, x, NULL, y));
    REFUSES(clf_gemm(context, NULL, x, NULL, y));
    REFUSES(clf_gemm(context, x, NULL, NULL, y));
    REFUSES(clf_gemm(context, x, x, NULL, NULL));
    REFUSES(clf_linear_create(NULL, x, NULL, &linear));
    REFUSES(clf_linear_create(context, NULL, NULL, &linear));
    REFUSES(clf_linear_create(context, x, NULL, NULL));
    RETURNS(clf_linear_destroy(NULL));
    CHECK_OK(clf_linear_create(context, x, NULL, &linear));
    REFUSES(clf_linear_apply(NULL, linear, x, CLF_ACTIVATION_NONE, NULL, y));
    REFUSES(clf_linear_apply(context, NULL, x, CLF_ACTIVATION_NONE, NULL, y));
    REFUSES(clf_linear_apply(context, linear, NULL, CLF_ACTIVATION_NONE, NULL, y));
    REFUSES(clf_linear_apply(context, linear, x, CLF_ACTIVATION_NONE, NULL, NULL));
    clf_linear_destroy(linear);
    REFUSES(clf_layer_norm_params_default(NULL, sizeof(clf_layer_norm_params)));
    REFUSES(clf_layer_norm(NULL, x, NULL, y));
    REFUSES(clf_layer_norm(context, NULL, NULL, y));
    REFUSES(clf_layer_norm(context, x, NULL, NULL));
    REFUSES(clf_rms_norm_params_default(NULL, sizeof(clf_rms_norm_params)));
    REFUSES(clf_rms_norm(NULL, x, NULL, y));
    REFUSES(clf_rms_norm(context, NULL, NULL, y));
    REFUSES(clf_rms_norm(context, x, NULL, NULL));
    REFUSES(clf_l2_normalize(NULL, x, 0, y));
    REFUSES(clf_l2_normalize(context, NULL, 0, y));
    REFUSES(clf_l2_normalize(context, x, 0, NULL));
    REFUSES(clf_embedding(NULL, &(clf_embedding_table){x, NULL}, 1, 1, y));
    REFUSES(clf_embedding(context, NULL, 1, 1, y));
    REFUSES(clf_embedding(context, &(clf_embedding_table){NULL, NULL}, 1, 1, y));
    REFUSES(clf_embedding(context, &(clf_embedding_table){x, NULL}, 1, 1, NULL));
    REFUSES(clf_positional_encoding(NULL, y));
    REFUSES(clf_positional_encoding(context, NULL));
    REFUSES(clf_pool(NULL, CLF_POOLING_MEAN, x, y, y));
    REFUSES(clf_pool(context, CLF_POOLING_MEAN, NULL, y, y));
    REFUSES(clf_pool(context, CLF_POOLING_MEAN, x, NULL, y));
    REFUSES(clf_pool(context, CLF_POOLING_MEAN, x, y, NULL));
    REFUSES(clf_search_rows(NULL, x, x, 1, NULL, y, y));
    REFUSES(clf_search_rows(context, NULL, x, 1, NULL, y, y));
    REFUSES(clf_search_rows(context, x, NULL, 1, NULL, y, y));
    REFUSES(clf_search_rows(context, x, x, 1, NULL, NULL, y));
    REFUSES(clf_search_rows(context, x, x, 1, NULL, y, NULL));
    REFUSES(clf_search_create(NULL, x, 1, NULL, NULL));
    REFUSES(clf_search_add(NULL, x));
    REFUSES(clf_search_best(NULL, y, y));
    GIVES(clf_search_row_count(NULL), 0);
    RETURNS(clf_search_destroy(NULL));
    REFUSES(clf_top_k(NULL, x, 1, y, y));
    REFUSES(clf_top_k(context, NULL, 1, y, y));
    REFUSES(clf_top_k(context, x, 1, NULL, y));
    REFUSES(clf_top_k(context, x, 1, y, NULL));
    REFUSES(clf_softmax_params_default(NULL, sizeof(clf_softmax_params)));
    REFUSES(clf_search_params_default(NULL, sizeof(clf_search_params)));
    REFUSES(clf_softmax(NULL, x, NULL, y));
    REFUSES(clf_softmax(context, NULL, NULL, y));
    REFUSES(clf_softmax(context, x, NULL, NULL));
    REFUSES(clf_masked_softmax(NULL, x3, NULL, CLF_EMPTY_ROWS_ZERO, x3));
    REFUSES(clf_masked_softmax(context, NULL, NULL, CLF_EMPTY_ROWS_ZERO, x3));
    REFUSES(clf_masked_softmax(context, x3, NULL, CLF_EMPTY_ROWS_ZERO, NULL));
    REFUSES(clf_dropout(NULL, x, 0.5f, 1, y));
    REFUSES(clf_dropout(context, NULL, 0.5f, 1, y));
    REFUSES(clf_dropout(context, x, 0.5f, 1, NULL));
    clf_tensor_destroy(x);
    clf_tensor_destroy(y);
    clf_tensor_destroy(x3);
}

static void test_attention(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *w, *scores;
    clf_multi_head_attention *attention;
    clf_multi_head_attention_weights weights = CLF_MULTI_HEAD_ATTENTION_WEIGHTS_INIT;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 2, 3}, &x));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 2, 2}, &scores));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){3, 3}, square, &w));
    REFUSES(clf_attention_params_default(NULL, sizeof(clf_attention_params)));
    REFUSES(clf_attention(NULL, x, x, x, NULL, x));
    REFUSES(clf_attention(context, NULL, x, x, NULL, x));
    REFUSES(clf_attention(context, x, NULL, x, NULL, x));
    REFUSES(clf_attention(context, x, x, NULL, NULL, x));
    REFUSES(clf_attention(context, x, x, x, NULL, NULL));
    REFUSES(clf_attention_scores(NULL, x, x, 1, scores));
    REFUSES(clf_attention_scores(context, NULL, x, 1, scores));
    REFUSES(clf_attention_scores(context, x, NULL, 1, scores));
    REFUSES(clf_attention_scores(context, x, x, 1, NULL));
    REFUSES(clf_attention_context(NULL, scores, x, NULL, x));
    REFUSES(clf_attention_context(context, NULL, x, NULL, x));
    REFUSES(clf_attention_context(context, scores, NULL, NULL, x));
    REFUSES(clf_attention_context(context, scores, x, NULL, NULL));
    REFUSES(clf_multi_head_attention_weights_default(NULL, sizeof weights));
    REFUSES(clf_multi_head_attention_params_default(NULL, sizeof(clf_multi_head_attention_params)));
    REFUSES(clf_multi_head_attention_create(context, 1, &weights, &attention)); /* no w_q */
    weights.w_q = weights.w_k = weights.w_v = w;
    REFUSES(clf_multi_head_attention_create(NULL, 1, &weights, &attention));
    REFUSES(clf_multi_head_attention_create(context, 1, NULL, &attention));
    REFUSES(clf_multi_head_attention_create(context, 1, &weights, NULL));
    CHECK_OK(clf_multi_head_attention_create(context, 1, &weights, &attention));
    REFUSES(clf_multi_head_attention_apply(NULL, attention, x, x, x, NULL, x));
    REFUSES(clf_multi_head_attention_apply(context, NULL, x, x, x, NULL, x));
    REFUSES(clf_multi_head_attention_apply(context, attention, NULL, x, x, NULL, x));
    REFUSES(clf_multi_head_attention_apply(context, attention, x, NULL, x, NULL, x));
    REFUSES(clf_multi_head_attention_apply(context, attention, x, x, NULL, NULL, x));
    REFUSES(clf_multi_head_attention_apply(context, attention, x, x, x, NULL, NULL));
    clf_multi_head_attention_destroy(attention);
    RETURNS(clf_multi_head_attention_destroy(NULL));
    clf_tensor_destroy(x);
    clf_tensor_destroy(w);
    clf_tensor_destroy(scores);
}

static void test_einsum(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *y;
    clf_einsum_plan *plan;
    const int rank[2] = {2, 2};
    const int64_t *const dims[2] = {dim, dim};
    int out_rank;
    int64_t out_dim[CLF_MAX_RANK];
    size_t length;
    char text[8];
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, dim, &x));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 2, (int64_t[]){2, 2}, &y));
    const clf_tensor *const operands[2] = {x, x};
    REFUSES(clf_einsum(NULL, "ij,kj->ik", operands, 2, y));
    REFUSES(clf_einsum(context, NULL, operands, 2, y));
    REFUSES(clf_einsum(context, "ij,kj->ik", NULL, 2, y));
    REFUSES(clf_einsum(context, "ij,kj->ik", operands, 2, NULL));
    REFUSES(clf_einsum_output_shape(NULL, 2, rank, dims, &out_rank, out_dim));
    REFUSES(clf_einsum_output_shape("ij,kj->ik", 2, NULL, dims, &out_rank, out_dim));
    REFUSES(clf_einsum_output_shape("ij,kj->ik", 2, rank, NULL, &out_rank, out_dim));
    REFUSES(clf_einsum_output_shape("ij,kj->ik", 2, rank, dims, NULL, out_dim));
    REFUSES(clf_einsum_output_shape("ij,kj->ik", 2, rank, dims, &out_rank, NULL));
    REFUSES(clf_einsum_plan_create(NULL, 2, rank, dims, CLF_EINSUM_NO_LIMIT, &plan));
    REFUSES(clf_einsum_plan_create("ij,kj->ik", 2, NULL, dims, CLF_EINSUM_NO_LIMIT, &plan));
    REFUSES(clf_einsum_plan_create("ij,kj->ik", 2, rank, NULL, CLF_EINSUM_NO_LIMIT, &plan));
    REFUSES(clf_einsum_plan_create("ij,kj->ik", 2, rank, dims, CLF_EINSUM_NO_LIMIT, NULL));
    CHECK_OK(clf_einsum_plan_create("ij,kj->ik", 2, rank, dims, CLF_EINSUM_NO_LIMIT, &plan));
    GIVES(clf_einsum_plan_rank(NULL), 0);
    GIVES(clf_einsum_plan_dim(NULL), NULL);
    GIVES(clf_einsum_plan_cost(NULL), 0);
    GIVES(clf_einsum_plan_largest(NULL), 0);
    REFUSES(clf_einsum_plan_run(NULL, plan, operands, 2, y));
    REFUSES(clf_einsum_plan_run(context, NULL, operands, 2, y));
    REFUSES(clf_einsum_plan_run(context, plan, NULL, 2, y));
    REFUSES(clf_einsum_plan_run(context, plan, operands, 2, NULL));
    REFUSES(clf_einsum_plan_print(context, NULL, text, sizeof text, &length));
    REFUSES(clf_einsum_plan_print(context, plan, NULL, sizeof text, &length));
    REFUSES(clf_einsum_plan_print(context, plan, text, sizeof text, NULL));
    clf_einsum_plan_destroy(plan);
    RETURNS(clf_einsum_plan_destroy(NULL));
    clf_tensor_destroy(x);
    clf_tensor_destroy(y);
}

static void test_transformer(void **state)
{
    clf_context *context = *state;
    clf_tensor *x, *w, *ids;
    clf_transformer *network, *none;
    clf_feed_forward_network *feed_forward;
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    float data[6] = {7};
    config.width = config.hidden_width = 3;
    config.heads = config.encoder_layers = config.decoder_layers = 1;
    config.source_vocabulary = config.target_vocabulary = config.max_source = config.max_target = 2;
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){1, 2, 3}, &x));
    CHECK_OK(clf_tensor_create_from(context, CLF_F32, 2, (int64_t[]){3, 3}, square, &w));
    CHECK_OK(clf_tensor_create_from(context, CLF_I32, 2, (int64_t[]){1, 2}, (int32_t[]){0, 1}, &ids));
    REFUSES(clf_transformer_config_default(NULL, sizeof config));
    REFUSES(clf_attention_masks_default(NULL, sizeof(clf_attention_masks)));
    REFUSES(clf_transformer_params_default(NULL, sizeof(clf_transformer_params)));
    REFUSES(clf_transformer_create(NULL, &config, CLF_NAMES_LABML, NULL, 0, &none));
    REFUSES(clf_transformer_create(context, NULL, CLF_NAMES_LABML, NULL, 0, &none));
    REFUSES(clf_transformer_create(context, &config, CLF_NAMES_LABML, NULL, 1, &none));
    REFUSES(clf_transformer_create(context, &config, CLF_NAMES_LABML, NULL, 0, NULL));
    REFUSES(clf_transformer_create_random(NULL, &config, 1, &none));
    REFUSES(clf_transformer_create_random(context, NULL, 1, &none));
    REFUSES(clf_transformer_create_random(context, &config, 1, NULL));
    REFUSES(clf_transformer_open(NULL, ".", &none));
    REFUSES(clf_transformer_open(context, NULL, &none));
    REFUSES(clf_transformer_open(context, ".", NULL));
    REFUSES(clf_transformer_create_shared(NULL, context, &none));
    RETURNS(clf_transformer_destroy(NULL));
    GIVES(clf_transformer_get_config(NULL), NULL);
    RETURNS(clf_xavier_uniform(1, NULL, 2, dim, data));
    RETURNS(clf_xavier_uniform(1, "weight", 2, NULL, data));
    RETURNS(clf_xavier_uniform(1, "weight", 2, dim, NULL));
    assert_true(data[0] == 7);
    CHECK_OK(clf_transformer_create_random(context, &config, 1, &network));
    REFUSES(clf_transformer_embed(NULL, 0, CLF_LAYOUT_NLD, ids, x));
    REFUSES(clf_transformer_embed(network, 0, CLF_LAYOUT_NLD, NULL, x));
    REFUSES(clf_transformer_embed(network, 0, CLF_LAYOUT_NLD, ids, NULL));
    REFUSES(clf_transformer_encode(NULL, CLF_LAYOUT_NLD, ids, NULL, NULL, x));
    REFUSES(clf_transformer_encode(network, CLF_LAYOUT_NLD, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_encode(network, CLF_LAYOUT_NLD, ids, NULL, NULL, NULL));
    REFUSES(clf_transformer_decode(NULL, CLF_LAYOUT_NLD, x, NULL, ids, NULL, NULL, x));
    REFUSES(clf_transformer_decode(network, CLF_LAYOUT_NLD, NULL, NULL, ids, NULL, NULL, x));
    REFUSES(clf_transformer_decode(network, CLF_LAYOUT_NLD, x, NULL, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_decode(network, CLF_LAYOUT_NLD, x, NULL, ids, NULL, NULL, NULL));
    REFUSES(clf_transformer_forward(NULL, CLF_LAYOUT_NLD, ids, ids, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_forward(network, CLF_LAYOUT_NLD, NULL, ids, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_forward(network, CLF_LAYOUT_NLD, ids, NULL, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_forward(network, CLF_LAYOUT_NLD, ids, ids, NULL, NULL, NULL, NULL));
    REFUSES(clf_transformer_encode(NULL, CLF_LAYOUT_NLD, ids, NULL, NULL, x));
    REFUSES(clf_transformer_decode(NULL, CLF_LAYOUT_NLD, x, NULL, ids, NULL, NULL, x));
    REFUSES(clf_transformer_forward(NULL, CLF_LAYOUT_NLD, ids, ids, NULL, NULL, NULL, x));
    REFUSES(clf_transformer_generate(NULL, x, 0, x));
    REFUSES(clf_transformer_generate(network, NULL, 0, x));
    REFUSES(clf_transformer_generate(network, x, 0, NULL));
    clf_transformer_destroy(network);
    REFUSES(clf_feed_forward_create(NULL, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, &feed_forward));
    REFUSES(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, NULL, NULL, NULL, NULL, w, NULL, &feed_forward));
    REFUSES(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, NULL, NULL, &feed_forward));
    REFUSES(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, NULL));
    CHECK_OK(clf_feed_forward_create(context, CLF_ACTIVATION_RELU, w, NULL, NULL, NULL, w, NULL, &feed_forward));
    REFUSES(clf_feed_forward_apply(NULL, feed_forward, x, x));
    REFUSES(clf_feed_forward_apply(context, NULL, x, x));
    REFUSES(clf_feed_forward_apply(context, feed_forward, NULL, x));
    REFUSES(clf_feed_forward_apply(context, feed_forward, x, NULL));
    clf_feed_forward_destroy(feed_forward);
    RETURNS(clf_feed_forward_destroy(NULL));
    clf_tensor_destroy(x);
    clf_tensor_destroy(w);
    clf_tensor_destroy(ids);
}

static void test_models(void **state)
{
    clf_context *context = *state;
    clf_model *model;
    clf_session *session;
    clf_tensor *out;
    const clf_text text = {"a", 1}, broken = {NULL, 1};
    const clf_text_pair pair = {text, text};
    const clf_tokens one_token = {.ids = (const int32_t[]){1}, .count = 1};
    float row[8];
    size_t width;
    clf_pronouncer *pronouncer;
    clf_pronunciations *list;
    clf_pronounce_stats stats = {.words = 1};
    REFUSES(clf_embed_params_default(NULL, sizeof(clf_embed_params)));
    REFUSES(clf_model_open(NULL, ".", NULL, &model));
    REFUSES(clf_model_open(context, NULL, NULL, &model));
    REFUSES(clf_model_open(context, ".", NULL, NULL));
    clf_memory_plan plan;
    REFUSES(clf_memory_plan_read(NULL, ".", NULL, &plan));
    REFUSES(clf_memory_plan_read(context, NULL, NULL, &plan));
    REFUSES(clf_memory_plan_read(context, ".", NULL, NULL));
    GIVES(clf_model_get_memory_plan(NULL), NULL);
    REFUSES(clf_model_params_default(NULL, sizeof(clf_model_params)));
    RETURNS(clf_model_destroy(NULL));
    GIVES(clf_model_get_info(NULL), NULL);
    GIVES(clf_model_prompt_count(NULL), 0);
    GIVES(clf_model_prompt_name(NULL, 0), NULL);
    GIVES(clf_model_prompt(NULL, "query"), NULL);
    GIVES(clf_model_default_prompt_name(NULL), NULL);
    REFUSES(clf_model_embedding_width(NULL, NULL, &width));
    REFUSES(clf_classify_params_default(NULL, sizeof(clf_classify_params)));
    GIVES(clf_model_label_count(NULL), 0);
    GIVES(clf_model_label(NULL, 0), NULL);
    GIVES(clf_model_problem(NULL), CLF_PROBLEM_SINGLE_LABEL);
    REFUSES(clf_session_classify(NULL, &pair, 1, NULL, row, NULL, NULL));
    REFUSES(clf_session_score_pairs(NULL, &pair, 1, NULL, row, NULL));
    REFUSES(clf_session_create(NULL, context, &session));
    RETURNS(clf_session_destroy(NULL));
    GIVES(clf_session_context(NULL), NULL);
    REFUSES(clf_session_embed(NULL, &text, 1, NULL, row, NULL));
    REFUSES(clf_session_encode(NULL, &one_token, 1, &out));
    REFUSES(clf_session_attention(NULL, &one_token, 0, &out));
    size_t tokens;
    double perplexity;
    REFUSES(clf_generate_params_default(NULL, sizeof(clf_generate_params)));
    REFUSES(clf_session_generate(NULL, &text, 1, NULL, NULL, NULL));
    REFUSES(clf_session_logits(NULL, &text, 1, NULL, row));
    REFUSES(clf_session_perplexity(NULL, &text, 512, NULL, &perplexity, &tokens));
    clf_sequence *sequence;
    clf_request *request;
    int32_t chosen;
    REFUSES(clf_chat_params_default(NULL, sizeof(clf_chat_params)));
    REFUSES(clf_session_chat(NULL, &(clf_message){"user", text}, 1, NULL, NULL, NULL, &request));
    REFUSES(clf_session_run_requests(NULL, &request, 0));
    GIVES(clf_request_prompt_tokens(NULL), 0);
    GIVES(clf_request_finish(NULL), CLF_FINISH_NONE);
    RETURNS(clf_request_cancel(NULL));
    RETURNS(clf_request_destroy(NULL));
    REFUSES(clf_sequence_create(NULL, &sequence));
    REFUSES(clf_sequence_fork(NULL, &sequence));
    REFUSES(clf_sequence_keep(NULL, 0));
    GIVES(clf_sequence_length(NULL), 0);
    RETURNS(clf_sequence_destroy(NULL));
    REFUSES(clf_sequence_set_source(NULL, one_token.ids, 1));
    REFUSES(clf_session_run_sequences(NULL, NULL, 0, 0, row));
    REFUSES(clf_model_choose_token(NULL, NULL, row, NULL, 0, 0, &chosen));
    GIVES(clf_model_end_tokens(NULL, &tokens), NULL);
    GIVES(clf_model_start_tokens(NULL, &tokens), NULL);
    REFUSES(clf_pronounce_params_default(NULL, sizeof(clf_pronounce_params)));
    REFUSES(clf_pronouncer_open(NULL, NULL, &pronouncer));
    REFUSES(clf_pronouncer_open(context, NULL, NULL));
    CHECK_OK(clf_pronouncer_open(context, NULL, &pronouncer));
    REFUSES(clf_pronouncer_create_shared(NULL, context, &pronouncer));
    REFUSES(clf_pronouncer_create_shared(pronouncer, NULL, &pronouncer));
    REFUSES(clf_pronouncer_create_shared(pronouncer, context, NULL));
    REFUSES(clf_pronouncer_check(NULL, &text));
    REFUSES(clf_pronouncer_check(pronouncer, NULL));
    REFUSES(clf_pronouncer_check(pronouncer, &broken));
    REFUSES(clf_pronounce(NULL, &text, 1, NULL, &list));
    REFUSES(clf_pronounce(pronouncer, NULL, 1, NULL, &list));
    REFUSES(clf_pronounce(pronouncer, &broken, 1, NULL, &list));
    REFUSES(clf_pronounce(pronouncer, &text, 1, NULL, NULL));
    REFUSES(clf_pronouncer_attention(NULL, &text, "AH0", CLF_PRONOUNCE_ATTENTION_CROSS, 0, &out));
    REFUSES(clf_pronouncer_attention(pronouncer, NULL, "AH0", CLF_PRONOUNCE_ATTENTION_CROSS, 0, &out));
    REFUSES(clf_pronouncer_attention(pronouncer, &text, NULL, CLF_PRONOUNCE_ATTENTION_CROSS, 0, &out));
    REFUSES(clf_pronouncer_attention(pronouncer, &text, "AH0", CLF_PRONOUNCE_ATTENTION_CROSS, 0, NULL));
    RETURNS(clf_pronouncer_get_stats(pronouncer, NULL));
    RETURNS(clf_pronouncer_get_stats(NULL, &stats));
    assert_int_equal(stats.words, 0);
    clf_pronouncer_destroy(pronouncer);
    RETURNS(clf_pronouncer_destroy(NULL));
    GIVES(clf_pronunciations_count(NULL, 0), 0);
    GIVES(clf_pronunciations_get(NULL, 0, 0), NULL);
    RETURNS(clf_pronunciations_destroy(NULL));
}

/* Names after CLF_API in one header; each must have been called above. */
static size_t check_header(const char *path)
{
    clf_str text = CLF_STR_INIT;
    size_t count = 0;
    CHECK_OK(clfi_file_read(path, SIZE_MAX, &text));
    for (const char *at = strstr(clfi_str_text(&text), "\nCLF_API "); at; at = strstr(at + 1, "\nCLF_API ")) {
        char name[NAME];
        const char *end = strchr(at, '('), *start = end;
        while (start > at && start[-1] != ' ' && start[-1] != '*')
            start--;
        assert_true(end && (size_t)(end - start) < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
        CHECK(is_called(name), "%s of %s is not in this test", name, path);
        count++;
    }
    clfi_str_free(&text);
    return count;
}

static void test_list_is_whole(void **state)
{
    DIR *directory = opendir(CLF_TEST_INCLUDE "/clformer");
    size_t count = 0;
    (void)state;
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const char *end = strrchr(entry->d_name, '.');
        char path[512];
        if (!end || strcmp(end, ".h") != 0)
            continue;
        snprintf(path, sizeof path, "%s/clformer/%s", CLF_TEST_INCLUDE, entry->d_name);
        count += check_header(path);
    }
    closedir(directory);
    assert_true(count > 100);
}

static void test_tokenizers(void **state)
{
    static const char json[] = "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"continuing_subword_prefix\":\"##\","
                               "\"max_input_chars_per_word\":100,\"vocab\":{\"a\":0}}}";
    const clf_text file = {json, sizeof json - 1}, broken = {NULL, 1};
    const clf_vocabulary_spec spec = CLF_VOCABULARY_SPEC_INIT;
    clf_tokenizer *tokenizer;
    clf_encoding *encoding;
    clf_token_decoder *decoder;
    clf_text text;
    (void)state;
    REFUSES(clf_tokenizer_open(NULL, &tokenizer));
    REFUSES(clf_tokenizer_open(".", NULL));
    REFUSES(clf_tokenizer_open_target(NULL, &tokenizer));
    REFUSES(clf_tokenizer_open_target(".", NULL));
    REFUSES(clf_tokenizer_from_json(NULL, "", &tokenizer));
    REFUSES(clf_tokenizer_from_json(&broken, "", &tokenizer));
    REFUSES(clf_tokenizer_from_json(&file, NULL, &tokenizer));
    REFUSES(clf_tokenizer_from_json(&file, "", NULL));
    REFUSES(clf_tokenizer_from_vocabulary(NULL, "", &tokenizer));
    REFUSES(clf_tokenizer_from_vocabulary(&spec, NULL, &tokenizer));
    REFUSES(clf_tokenizer_from_vocabulary(&spec, "", NULL));
    REFUSES(clf_tokenizer_from_vocabulary(&spec, "no model", &tokenizer));
    REFUSES(clf_vocabulary_spec_default(NULL, sizeof spec));
    REFUSES(clf_encode_params_default(NULL, sizeof(clf_encode_params)));
    REFUSES(clf_encoding_create(NULL));
    CHECK_OK(clf_tokenizer_from_json(&file, "test", &tokenizer));
    CHECK_OK(clf_encoding_create(&encoding));
    REFUSES(clf_tokenizer_encode(NULL, &file, NULL, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, NULL, NULL, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, &broken, NULL, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, &file, &broken, NULL, encoding));
    REFUSES(clf_tokenizer_encode(tokenizer, &file, NULL, NULL, NULL));
    GIVES(clf_tokenizer_vocabulary_size(NULL), 0);
    GIVES(clf_tokenizer_token(NULL, 0), NULL);
    GIVES(clf_tokenizer_id(NULL, "a"), -1);
    GIVES(clf_tokenizer_id(tokenizer, NULL), -1);
    GIVES(clf_tokenizer_is_special(NULL, 0), 0);
    GIVES(clf_tokenizer_added_count(NULL, 0), 0);
    GIVES(clf_tokenizer_role(NULL, CLF_TOKEN_BOS), -1);
    REFUSES(clf_token_decoder_create(NULL, 0, &decoder));
    REFUSES(clf_token_decoder_create(tokenizer, 0, NULL));
    CHECK_OK(clf_token_decoder_create(tokenizer, 0, &decoder));
    REFUSES(clf_token_decoder_push(NULL, 0, &text));
    REFUSES(clf_token_decoder_push(decoder, 0, NULL));
    REFUSES(clf_token_decoder_finish(NULL, &text));
    REFUSES(clf_token_decoder_finish(decoder, NULL));
    REFUSES(clf_token_decoder_decode(NULL, NULL, 0, &text));
    REFUSES(clf_token_decoder_decode(decoder, NULL, 1, &text));
    REFUSES(clf_token_decoder_decode(decoder, NULL, 0, NULL));
    RETURNS(clf_token_decoder_destroy(NULL));
    RETURNS(clf_encoding_destroy(NULL));
    RETURNS(clf_tokenizer_destroy(NULL));
    clf_token_decoder_destroy(decoder);
    clf_encoding_destroy(encoding);
    clf_tokenizer_destroy(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_and_context),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_einsum),
        cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_tokenizers),
        cmocka_unit_test(test_list_is_whole),
    };
    return cmocka_run_group_tests_name("model.null_arguments", tests, device_setup, device_teardown);
}
