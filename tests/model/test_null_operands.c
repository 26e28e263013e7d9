/* SPDX-License-Identifier: MIT */
/* NULL for each pointer of devices, contexts, tensors and operations. */
#include "clformer/opencl.h"
#include "support/null_arguments.h"

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

static void test_list_is_whole(void **state)
{
    (void)state;
    check_list(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_and_context), cmocka_unit_test(test_tensors), cmocka_unit_test(test_ops),
        cmocka_unit_test(test_attention),          cmocka_unit_test(test_einsum),  cmocka_unit_test(test_list_is_whole),
    };
    return cmocka_run_group_tests_name("model.null_operands", tests, device_setup, device_teardown);
}
