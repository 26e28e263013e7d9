/* SPDX-License-Identifier: MIT */
/* LoRA adapters: every tensor of the merged models of tests/data/adapters, bit for bit; what is refused, by its name. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "io/adapter_directory.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/adapter_config.h"
#include "model/model_checkpoint.h"
#include "support/check.h"
#include "support/temp.h"
#include "support/write_safetensors.h"

static const char golden[] = CLF_TEST_DATA "/adapters";

/* One tensor is the golden one; those without golden are the model's own. */
static void check_tensor(const char *name, const clf_checkpoint *checkpoint, clf_checkpoint_tensor *tensor, const clf_file_tensor *wanted)
{
    void *made;
    CHECK(wanted != NULL || !tensor->is_made, "%s: %s is changed", name, tensor->name);
    if (!wanted)
        return;
    CHECK_OK(clfi_checkpoint_make(checkpoint, tensor, &made));
    CHECK(tensor->bytes == wanted->bytes && memcmp(tensor->data, wanted->data, wanted->bytes) == 0, "%s: %s has other bits", name,
          tensor->name);
    free(made);
}

static void check_case(const char *name)
{
    char path[TEMP_PATH_BYTES], merged_path[TEMP_PATH_BYTES];
    clf_checkpoint *checkpoint;
    clf_safetensors *merged;
    clf_checkpoint_tensor tensor;
    clf_adapter_info info;
    size_t seen = 0;
    temp_path(golden, name, path);
    CHECK_OK(clfi_safetensors_open(temp_path(path, "merged.safetensors", merged_path), &merged));
    CHECK_OK(clfi_model_checkpoint_open(path, &checkpoint));
    CHECK_OK(clfi_checkpoint_load(checkpoint));
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++) {
        clf_checkpoint_tensor same;
        const clf_file_tensor *wanted = clfi_safetensors_find(merged, tensor.name);
        CHECK(clfi_checkpoint_find(checkpoint, tensor.name, &same) && same.offset == tensor.offset && same.file == tensor.file,
              "%s: %s is not found", name, tensor.name);
        if (wanted && !tensor.is_made) { /* the model's own table, which the generator keeps */
            CHECK(memcmp(tensor.data, wanted->data, wanted->bytes) == 0, "%s: %s has other bits", name, tensor.name);
            seen++;
            continue;
        }
        seen += wanted != NULL;
        check_tensor(name, checkpoint, &tensor, wanted);
    }
    CHECK(seen == clfi_safetensors_count(merged), "%s: %zu of %zu merged tensors are there", name, seen, clfi_safetensors_count(merged));
    CHECK(clfi_checkpoint_adapter(checkpoint, &info) && info.merged > 0 && strcmp(info.directory, path) == 0, "%s: no adapter", name);
    clfi_checkpoint_close(checkpoint);
    clfi_safetensors_close(merged);
}

static void merged_models(void **state)
{
    DIR *folder = opendir(golden);
    size_t count = 0;
    (void)state;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.')) {
            check_case(entry->d_name);
            count++;
        }
    closedir(folder);
    assert_true(count >= 18);
}

/* An adapter of tests/data/generation/llama: one product of rank 2. NULL: absent. */
static const char usual_config[] = "{\"peft_type\": \"LORA\", \"r\": 2, \"target_modules\": [\"q_proj\"], "
                                   "\"base_model_name_or_path\": \"" CLF_TEST_DATA "/generation/llama\"%s%s}";

static void write_config(const char *directory, const char *more)
{
    char text[2048], path[TEMP_PATH_BYTES];
    const int size = snprintf(text, sizeof text, usual_config, more ? ", " : "", more ? more : "");
    temp_file(directory, CLFI_ADAPTER_CONFIG, text, (size_t)size, path);
}

static clf_status open_adapter(const char *directory)
{
    clf_checkpoint *checkpoint;
    CLF_TRY(clfi_model_checkpoint_open(directory, &checkpoint));
    const clf_status st = clfi_checkpoint_load(checkpoint);
    clfi_checkpoint_close(checkpoint);
    return st;
}

#define MODULE "base_model.model.model.layers.0.self_attn.q_proj."
enum { MOST = 8192 };

/* The width of the model in tests/data/generation/llama. */
static int64_t width_of_model(void)
{
    clf_checkpoint *checkpoint;
    int64_t width;
    CHECK_OK(clfi_checkpoint_open(CLF_TEST_DATA "/generation/llama", &checkpoint));
    CHECK_OK(clfi_json_get_int(clfi_checkpoint_config(checkpoint), "", "hidden_size", 1, MOST / 2, &width));
    clfi_checkpoint_close(checkpoint);
    return width;
}

static void refused_keys(void **state)
{
    static const struct {
        const char *more; /* a key that comes twice counts as it stands last: absent from these */
        clf_status status;
        const char *part;
    } rows[] = {
        {"\"use_dora\": true", CLF_UNSUPPORTED, "use_dora"},
        {"\"layer_replication\": [[0, 1]]", CLF_UNSUPPORTED, "layer_replication"},
        {"\"trainable_token_indices\": [1]", CLF_UNSUPPORTED, "trainable_token_indices"},
        {"\"target_parameters\": [\"a\"]", CLF_UNSUPPORTED, "target_parameters"},
        {"\"use_qalora\": true", CLF_UNSUPPORTED, "use_qalora"},
        {"\"alora_invocation_tokens\": [1]", CLF_UNSUPPORTED, "alora_invocation_tokens"},
        {"\"ensure_weight_tying\": true", CLF_UNSUPPORTED, "ensure_weight_tying"},
        {"\"some_new_way\": 3", CLF_UNSUPPORTED, "some_new_way"},
        {"\"init_lora_weights\": \"pissa_niter_4\"", CLF_UNSUPPORTED, "pissa_niter_4"},
        {"\"init_lora_weights\": \"olora\"", CLF_UNSUPPORTED, "olora"},
        {"\"bias\": \"some\"", CLF_UNSUPPORTED, "bias \"some\""},
        {"\"rank_pattern\": {\"q_proj\": 4}", CLF_FORMAT, "expected 4"},
        {"\"rank_pattern\": {\"q_proj\": 1.5}", CLF_FORMAT, "rank_pattern"},
        {"\"rank_pattern\": {\"(\": 4}", CLF_FORMAT, CLFI_ADAPTER_CONFIG},
        {"\"exclude_modules\": [\"self_attn.q_proj\"]", CLF_UNSUPPORTED, "does not change model.layers.0.self_attn.q_proj"},
        {"\"exclude_modules\": \".*q_proj\"", CLF_UNSUPPORTED, "does not change"},
        {"\"layers_to_transform\": [1]", CLF_UNSUPPORTED, "does not change"},
        {"\"layers_to_transform\": 0, \"layers_pattern\": \"h\"", CLF_UNSUPPORTED, "does not change"},
        {"\"modules_to_save\": [\"self_attn\"]", CLF_UNSUPPORTED, "does not change"},
        {"\"lora_alpha\": \"x\"", CLF_FORMAT, "lora_alpha"},
        {"\"use_dora\": false, \"some_new_way\": null, \"layers_to_transform\": [0], \"layers_pattern\": [\"layers\"], "
         "\"rank_pattern\": {\"k_proj\": 4, \"layers.0.self_attn.q_proj\": 2}, \"lora_dropout\": 0.5",
         CLF_OK, ""},
    };
    const int64_t width = width_of_model();
    float *values = calloc(MOST, sizeof *values);
    char path[TEMP_PATH_BYTES];
    const clf_file_tensor tensors[] = {
        {.name = MODULE "lora_A.weight", .dtype = CLF_FILE_F32, .rank = 2, .dim = {2, width}, .data = values},
        {.name = MODULE "lora_B.weight", .dtype = CLF_FILE_F32, .rank = 2, .dim = {width, 2}, .data = values}};
    (void)state;
    assert_non_null(values);
    write_safetensors(temp_path(temp_root, CLFI_ADAPTER_WEIGHTS, path), tensors, COUNT(tensors));
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_config(temp_root, rows[i].more);
        if (rows[i].status == CLF_OK)
            CHECK_OK(open_adapter(temp_root));
        else
            CHECK_FAILS(open_adapter(temp_root), rows[i].status, rows[i].part);
    }
    free(values);
}

static void refused_tensors(void **state)
{
    const int64_t width = width_of_model();
    float *values = calloc(MOST, sizeof *values);
    const struct {
        const char *a, *b;
        int64_t a_dim[2], b_dim[2];
        clf_file_dtype dtype;
        clf_status status;
        const char *part;
    } rows[] = {
        {MODULE "lora_A.weight", NULL, {2, width}, {0}, CLF_FILE_F32, CLF_FORMAT, "lora_B.weight (is the download complete?)"},
        {MODULE "lora_B.weight", NULL, {width, 2}, {0}, CLF_FILE_F32, CLF_FORMAT, "lora_A.weight (is the download complete?)"},
        {MODULE "lora_A.weight", MODULE "lora_B.weight", {2, width + 1}, {width, 2}, CLF_FILE_F32, CLF_FORMAT, "do not fit"},
        {MODULE "lora_A.weight", MODULE "lora_B.weight", {2, width}, {width + 1, 2}, CLF_FILE_F32, CLF_FORMAT, "do not fit"},
        {MODULE "lora_A.weight", MODULE "lora_B.weight", {3, width}, {width, 3}, CLF_FILE_F32, CLF_FORMAT, "expected 2"},
        {MODULE "lora_A.weight", MODULE "lora_B.weight", {2, width}, {width, 2}, CLF_FILE_I32, CLF_UNSUPPORTED, "found I32"},
        {MODULE "lora_A.default.weight", NULL, {2, width}, {0}, CLF_FILE_F32, CLF_UNSUPPORTED, "lora_A.default.weight"},
        {MODULE "lora_magnitude_vector.weight", NULL, {1, width}, {0}, CLF_FILE_F32, CLF_UNSUPPORTED, "DoRA"},
        {"base_model.model.score.weight", NULL, {2, width}, {0}, CLF_FILE_F32, CLF_UNSUPPORTED, "the model has no score.weight"},
        {"base_model.model.model.layers.7.self_attn.q_proj.lora_A.weight",
         "base_model.model.model.layers.7.self_attn.q_proj.lora_B.weight",
         {2, width},
         {width, 2},
         CLF_FILE_F32,
         CLF_UNSUPPORTED,
         "layers.7"},
        {"base_model.model.model.norm.weight", NULL, {2, width}, {0}, CLF_FILE_F32, CLF_FORMAT, "expected 1 sizes"},
    };
    char path[TEMP_PATH_BYTES];
    (void)state;
    assert_non_null(values);
    write_config(temp_root, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const clf_file_tensor tensors[] = {
            {.name = rows[i].a, .dtype = rows[i].dtype, .rank = 2, .dim = {rows[i].a_dim[0], rows[i].a_dim[1]}, .data = values},
            {.name = rows[i].b, .dtype = rows[i].dtype, .rank = 2, .dim = {rows[i].b_dim[0], rows[i].b_dim[1]}, .data = values}};
        write_safetensors(temp_path(temp_root, CLFI_ADAPTER_WEIGHTS, path), tensors, rows[i].b ? 2 : 1);
        CHECK_FAILS(open_adapter(temp_root), rows[i].status, rows[i].part);
    }
    remove(path);
    CHECK_FAILS(open_adapter(temp_root), CLF_NOT_FOUND, CLFI_ADAPTER_WEIGHTS);
    free(values);
}

/* Other things in the place of the model's directory are refused. */
static void refused_models(void **state)
{
    static const char other[] = "{\"peft_type\": \"LOHA\"}",
                      hub[] = "{\"peft_type\": \"LORA\", \"base_model_name_or_path\": \"org/model\"}", none[] = "{\"peft_type\": \"LORA\"}",
                      nested[] = "{\"peft_type\": \"LORA\", \"base_model_name_or_path\": \"" CLF_TEST_DATA "/adapters/t5\"}";
    char path[TEMP_PATH_BYTES];
    json_t *config;
    char *config_path;
    (void)state;
    temp_file(temp_root, CLFI_ADAPTER_CONFIG, other, sizeof other - 1, path);
    CHECK_FAILS(clfi_adapter_config_read(temp_root, &config_path, &config), CLF_UNSUPPORTED, "peft_type \"LOHA\"");
    temp_file(temp_root, CLFI_ADAPTER_CONFIG, hub, sizeof hub - 1, path);
    CHECK_FAILS(open_adapter(temp_root), CLF_NOT_FOUND, "\"org/model\"");
    temp_file(temp_root, CLFI_ADAPTER_CONFIG, none, sizeof none - 1, path);
    CHECK_FAILS(open_adapter(temp_root), CLF_FORMAT, "base_model_name_or_path");
    temp_file(temp_root, CLFI_ADAPTER_CONFIG, nested, sizeof nested - 1, path);
    CHECK_FAILS(open_adapter(temp_root), CLF_UNSUPPORTED, "itself a model with an adapter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_models),
        cmocka_unit_test_setup_teardown(refused_keys, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(refused_tensors, temp_setup, temp_teardown),
        cmocka_unit_test_setup_teardown(refused_models, temp_setup, temp_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
