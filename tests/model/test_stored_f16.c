/* SPDX-License-Identifier: MIT */
/* Tests matrices rounded to f16 when a model is opened. They are to the bit what a file gives in which they are f16, and norms, biases and
 * positions are as they were. A weight that f16 cannot hold is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/half.h"
#include "clformer/clformer.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"
#include "support/write_safetensors.h"

enum { MOST_TENSORS = 128, MOST_NUMBERS = 256 };

/* How a copy of a model differs from it. */
typedef struct change {
    clf_file_dtype of_matrices; /* F32, BF16 or F16 */
    bool from_bf16;             /* their values are BF16's first */
    const char *name;           /* its first element becomes `value`; NULL: none */
    float value;
} change;

static bool is_matrix(const clf_file_tensor *tensor)
{
    return tensor->rank == 2 && !strstr(tensor->name, "position") && !strstr(tensor->name, "wpe") && !strstr(tensor->name, "token_type");
}

static void *changed(const clf_file_tensor *tensor, const change *how, clf_file_tensor *out)
{
    size_t bytes, count = tensor->bytes / clfi_file_dtype_bytes(tensor->dtype);
    float *values = calloc(count, sizeof *values);
    assert_non_null(values);
    CHECK_OK(clfi_file_to_f32(tensor->dtype, false, tensor->data, (ptrdiff_t)clfi_file_dtype_bytes(tensor->dtype), count, values));
    if (how->name && strcmp(how->name, tensor->name) == 0)
        values[0] = how->value;
    *out = *tensor;
    out->dtype = is_matrix(tensor) ? how->of_matrices : CLF_FILE_F32;
    assert_true(clfi_file_bytes(out->dtype, out->rank, out->dim, &bytes));
    uint16_t *bits = (uint16_t *)values;
    for (size_t i = 0; i < count && is_matrix(tensor); i++) {         /* in place: halves lie before the floats that are still to come */
        const float given = values[i] * (how->name ? 1.0f : 1.0001f); /* the file's may be halves themselves */
        const float value = how->from_bf16 ? clfi_f32_from_bf16(clfi_bf16_from_f32(given)) : given;
        if (how->of_matrices == CLF_FILE_F32)
            values[i] = value;
        else
            bits[i] = how->of_matrices == CLF_FILE_F16 ? clfi_f16_from_f32(value) : clfi_bf16_from_f32(value);
    }
    out->data = values;
    out->bytes = bytes;
    return values;
}

static void copy_file(const char *from, const char *to, const char *name)
{
    char path[TEMP_PATH_BYTES];
    clf_str data = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(temp_path(from, name, path), 1 << 24, &data));
    temp_file(to, name, data.data, data.length, path);
    clfi_str_free(&data);
}

static void copy_model(const char *from, const char *to, const change *how)
{
    clf_file_tensor tensors[MOST_TENSORS];
    void *data[MOST_TENSORS];
    char path[TEMP_PATH_BYTES];
    clf_safetensors *file;
    CHECK_OK(clfi_safetensors_open_directory(from, &file));
    const size_t count = clfi_safetensors_count(file);
    assert_true(count > 0 && count <= MOST_TENSORS);
    for (size_t i = 0; i < count; i++)
        data[i] = changed(clfi_safetensors_at(file, i), how, &tensors[i]);
    write_safetensors(temp_path(to, "model.safetensors", path), tensors, count);
    for (size_t i = 0; i < count; i++)
        free(data[i]);
    clfi_safetensors_close(file);
    copy_file(from, to, "config.json");
    copy_file(from, to, "tokenizer.json");
}

/* The embedding of a text, or the logits behind it. */
static size_t numbers_of(clf_context *context, const char *directory, clf_storage weights, bool is_decoder, float out[MOST_NUMBERS])
{
    static const clf_text text = {"the cat", 7};
    clf_model_params params = CLF_MODEL_PARAMS_INIT;
    clf_model *model;
    clf_session *session;
    params.weights = weights;
    CHECK_OK(clf_model_open(context, directory, &params, &model));
    const clf_model_info *info = clf_model_get_info(model);
    assert_int_equal(info->weights, weights);
    const size_t count = (size_t)(is_decoder ? info->vocabulary : info->embedding_width);
    assert_true(count <= MOST_NUMBERS);
    CHECK_OK(clf_session_create(model, NULL, &session));
    if (is_decoder)
        CHECK_OK(clf_session_logits(session, &text, 1, NULL, out));
    else
        CHECK_OK(clf_session_embed(session, &text, 1, NULL, out, NULL));
    clf_session_destroy(session);
    clf_model_destroy(model);
    return count;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *path;
        bool is_decoder;
    } models[] = {{CLF_TEST_DATA "/families/distilbert", false},
                  {CLF_TEST_DATA "/generation/gpt2", true}, /* its matrices are stored transposed */
                  {CLF_TEST_DATA "/generation/llama_untied", true}};
    char given[TEMP_PATH_BYTES], rounded[TEMP_PATH_BYTES];
    temp_directory_make(given);
    temp_directory_make(rounded);
    for (size_t i = 0; i < COUNT(models); i++) {
        for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
            float want[MOST_NUMBERS], got[MOST_NUMBERS], before[MOST_NUMBERS];
            copy_model(models[i].path, given, &(change){.of_matrices = is_bf16 ? CLF_FILE_BF16 : CLF_FILE_F32, .from_bf16 = is_bf16});
            copy_model(models[i].path, rounded, &(change){.of_matrices = CLF_FILE_F16, .from_bf16 = is_bf16});
            const size_t count = numbers_of(*state, rounded, CLF_STORAGE_DEFAULT, models[i].is_decoder, want);
            numbers_of(*state, given, CLF_STORAGE_F16, models[i].is_decoder, got);
            CHECK(memcmp(got, want, count * sizeof *got) == 0, "%s, bf16 %d: not the numbers of weights stored as f16", models[i].path,
                  is_bf16);
            numbers_of(*state, given, CLF_STORAGE_DEFAULT, models[i].is_decoder, before);
            CHECK(is_bf16 || memcmp(got, before, count * sizeof *got) != 0, "%s: nothing was rounded", models[i].path);
        }
    }
    temp_directory_remove(given);
    temp_directory_remove(rounded);
}

static void test_refusals(void **state)
{
    static const char source[] = CLF_TEST_DATA "/generation/llama_untied";
    static const char matrix[] = "model.layers.1.mlp.up_proj.weight", norm[] = "model.layers.1.input_layernorm.weight";
    clf_model_params params = CLF_MODEL_PARAMS_INIT;
    char path[TEMP_PATH_BYTES];
    clf_model *model;
    params.weights = (clf_storage)7;
    CHECK_FAILS(clf_model_open(*state, source, &params, &model), CLF_INVALID_ARGUMENT, "storage 7");
    params.weights = CLF_STORAGE_Q8_0; /* of caches alone */
    CHECK_FAILS(clf_model_open(*state, source, &params, &model), CLF_INVALID_ARGUMENT, "storage 2 of weights");
    params.weights = CLF_STORAGE_F16;
    params.cache = CLF_STORAGE_Q8_0;
    CHECK_FAILS(clf_model_open(*state, source, &params, &model), CLF_UNSUPPORTED,
                "keys and values as q8_0 (--cache q8_0): the model's heads have 8 elements, expected a multiple of 32");
    params.cache = CLF_STORAGE_DEFAULT;
    params.size = 0;
    CHECK_FAILS(clf_model_open(*state, source, &params, &model), CLF_INVALID_ARGUMENT, "clf_model_params: its member size is 0");
    params.size = sizeof params;
    temp_directory_make(path);
    copy_model(source, path, &(change){.of_matrices = CLF_FILE_F32, .name = matrix, .value = 65519.0f}); /* rounds to 65504 */
    CHECK_OK(clf_model_open(*state, path, &params, &model));
    clf_model_destroy(model);
    copy_model(source, path, &(change){.of_matrices = CLF_FILE_F32, .name = matrix, .value = -65520.0f});
    CHECK_FAILS(clf_model_open(*state, path, &params, &model), CLF_UNSUPPORTED,
                "model.layers.1.mlp.up_proj.weight: weight 0 is -65520, expected at most 65504");
    CHECK_OK(clf_model_open(*state, path, NULL, &model));
    clf_model_destroy(model);
    copy_model(source, path, &(change){.of_matrices = CLF_FILE_F32, .name = norm, .value = 1e6f});
    CHECK_OK(clf_model_open(*state, path, &params, &model));
    clf_model_destroy(model);
    temp_directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("model.stored_f16", tests, device_setup, device_teardown);
}
