/* SPDX-License-Identifier: MIT */
/* BART and Marian networks that transformers stored and ran in float64 (tests/data/transformer, made by make_golden_huggingface.py): opened
 * as directories and built from named tensors. What config.json and weights are refused for. */
#include "support/check.h"
#include "support/device.h"
#include "support/named_tensors.h"
#include "support/temp.h"
#include "support/write_safetensors.h"

#include <stdio.h>

#include "base/status.h"
#include "clformer/transformer.h"
#include "io/json.h"
#include "io/safetensors.h"

#define DATA CLF_TEST_DATA "/transformer"

enum { N = 3, S = 7, T = 4, C = 16, MOST_VALUES = N * T * 40, PATH_BYTES = 512 };

/* Normalised rows of order 1 to 4 behind five layers' roundings; logits are sums of 16 products with them. */
static const double bound = 5e-6;

static clf_tensor *golden_tensor(clf_context *context, const clf_safetensors *golden, const char *id, const char *part)
{
    clf_tensor *tensor;
    char name[64];
    snprintf(name, sizeof name, "%s%s", id, part);
    const clf_file_tensor *t = clfi_safetensors_find(golden, name);
    CHECK(t, "huggingface.safetensors has no %s", name);
    CHECK_OK(clf_tensor_create_from(context, t->dtype == CLF_FILE_U8 ? CLF_U8 : CLF_I32, t->rank, t->dim, t->data, &tensor));
    return tensor;
}

static const clf_file_tensor *golden_values(const clf_safetensors *golden, const char *id, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", id, part);
    const clf_file_tensor *want = clfi_safetensors_find(golden, name);
    CHECK(want && want->dtype == CLF_FILE_F64 && want->rank == 3 && want->bytes <= MOST_VALUES * sizeof(double), "golden values of %s",
          name);
    return want;
}

/* A tensor of the golden shape against the golden values, less `shift` [V] where it is given. */
static void check_golden(const char *how, const clf_file_tensor *want, const float *shift, const clf_tensor *tensor)
{
    const size_t count = want->bytes / sizeof(double);
    float got[MOST_VALUES];
    CHECK_OK(clf_tensor_read_f32(tensor, got, count));
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)want->data + i * sizeof value, sizeof value);
        value -= shift ? (double)shift[i % (size_t)want->dim[2]] : 0.0;
        CHECK(within(got[i], value, bound), "%s %s: element %zu: %.9g, transformers has %.9g", how, want->name, i, (double)got[i], value);
    }
}

/* Memory, features and logits of a network; without_bias: logits [V] that the network lacks. */
static void check_network(clf_context *context, const char *how, const char *id, clf_transformer *network, const float *without_bias)
{
    clf_safetensors *golden;
    clf_tensor *memory, *features, *logits;
    const clf_attention_masks causal = {.size = sizeof causal, .is_causal = 1};
    CHECK_OK(clfi_safetensors_open(DATA "/huggingface.safetensors", &golden));
    clf_tensor *padding = golden_tensor(context, golden, "", "padding");
    clf_tensor *source = golden_tensor(context, golden, id, ".source"), *target = golden_tensor(context, golden, id, ".target");
    const clf_attention_masks source_masks = {.size = sizeof source_masks, .padding_mask = padding};
    const clf_file_tensor *want = golden_values(golden, id, "logits");
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){N, S, C}, &memory));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){N, T, C}, &features));
    CHECK_OK(clf_tensor_create(context, CLF_F32, 3, want->dim, &logits));
    CHECK_OK(clf_transformer_encode(network, CLF_LAYOUT_NLD, source, &source_masks, NULL, memory));
    check_golden(how, golden_values(golden, id, "memory"), NULL, memory);
    CHECK_OK(clf_transformer_decode(network, CLF_LAYOUT_NLD, memory, &source_masks, target, &causal, NULL, features));
    check_golden(how, golden_values(golden, id, "features"), NULL, features);
    CHECK_OK(clf_transformer_generate(network, features, 0, logits));
    check_golden(how, want, without_bias, logits);
    clf_tensor *const all[] = {padding, source, target, memory, features, logits};
    for (size_t i = 0; i < COUNT(all); i++)
        clf_tensor_destroy(all[i]);
    clfi_safetensors_close(golden);
}

/* The values of the safetensors file below the test data, aligned by their place in it. */
static clf_safetensors *open_weights(const char *id)
{
    char path[PATH_BYTES];
    clf_safetensors *file;
    snprintf(path, sizeof path, DATA "/%s/model.safetensors", id);
    CHECK_OK(clfi_safetensors_open(path, &file));
    return file;
}

static json_t *read_config(const char *id)
{
    char path[PATH_BYTES];
    json_t *config;
    snprintf(path, sizeof path, DATA "/%s/config.json", id);
    CHECK_OK(clfi_json_read(path, 1 << 20, &config));
    return config;
}

static void write_config(const char *directory, const json_t *config)
{
    char path[PATH_BYTES];
    char *text = json_dumps(config, 0);
    assert_non_null(text);
    temp_file(directory, "config.json", text, strlen(text), path);
    free(text);
}

static void test_directories(void **state)
{
    static const char *const ids[] = {"bart", "marian", "marian_separate"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        clf_transformer *network;
        char path[PATH_BYTES];
        snprintf(path, sizeof path, DATA "/%s", ids[i]);
        CHECK_OK(clf_transformer_open(*state, path, &network));
        check_network(*state, "opened", ids[i], network, NULL);
        clf_transformer_destroy(network);
    }
}

/* config.json as it is but for one key, or two; a NULL value: without the key. */
static void set_key(json_t *config, const char *key, json_t *value)
{
    assert_int_equal(value ? json_object_set_new(config, key, value) : json_object_del(config, key), 0);
}

static void write_weights(const char *directory, const clf_file_tensor *tensors, size_t count)
{
    char path[PATH_BYTES];
    write_safetensors(temp_path(directory, "model.safetensors", path), tensors, count);
}

static size_t list_weights(const clf_safetensors *file, clf_file_tensor *tensors)
{
    const size_t count = clfi_safetensors_count(file);
    assert_true(count < MOST_NAMED_TENSORS);
    for (size_t i = 0; i < count; i++)
        tensors[i] = *clfi_safetensors_at(file, i);
    return count;
}

/* The same weights with scaled embeddings; with a matrix of the generator that is stored again and must be taken where nothing is tied. */
static void test_scaled_and_untied_directories(void **state)
{
    static clf_file_tensor tensors[MOST_NAMED_TENSORS];
    char directory[TEMP_PATH_BYTES];
    clf_transformer *network = NULL;
    clf_safetensors *file = open_weights("bart");
    size_t count = list_weights(file, tensors);
    json_t *config = read_config("bart");
    temp_directory_make(directory);
    write_weights(directory, tensors, count);
    set_key(config, "scale_embedding", json_true());
    write_config(directory, config);
    CHECK_OK(clf_transformer_open(*state, directory, &network));
    check_network(*state, "opened", "bart_scaled", network, NULL);
    clf_transformer_destroy(network);

    set_key(config, "tie_word_embeddings", json_false());
    write_config(directory, config);
    CHECK_FAILS(clf_transformer_open(*state, directory, &network), CLF_FORMAT, "lm_head.weight: expected [40,16]");
    tensors[count] = *clfi_safetensors_find(file, "model.shared.weight");
    tensors[count++].name = "lm_head.weight";
    write_weights(directory, tensors, count);
    CHECK_OK(clf_transformer_open(*state, directory, &network));
    check_network(*state, "untied", "bart_scaled", network, NULL);
    clf_transformer_destroy(network);
    temp_directory_remove(directory);
    json_decref(config);
    clfi_safetensors_close(file);
}

/* As BartModel is stored: no leading "model.", no bias of logits; two tables in place of the shared one. */
static void test_base_directory(void **state)
{
    static clf_file_tensor tensors[MOST_NAMED_TENSORS];
    const size_t prefix = strlen("model.");
    char directory[TEMP_PATH_BYTES];
    clf_transformer *network;
    clf_safetensors *file = open_weights("bart");
    size_t count = 0;
    json_t *config = read_config("bart");
    for (size_t i = 0; i < clfi_safetensors_count(file); i++) {
        const clf_file_tensor *t = clfi_safetensors_at(file, i);
        if (strncmp(t->name, "model.", prefix) == 0) {
            tensors[count] = *t;
            tensors[count++].name = t->name + prefix;
        }
    }
    assert_int_equal(count, clfi_safetensors_count(file) - 1);
    const float *bias = clfi_safetensors_find(file, "final_logits_bias")->data;
    temp_directory_make(directory);
    write_config(directory, config);
    for (int is_doubled = 0; is_doubled < 2; is_doubled++) {
        for (size_t i = 0; is_doubled && i < count; i++) {
            if (strcmp(tensors[i].name, "shared.weight") != 0)
                continue;
            tensors[i].name = "encoder.embed_tokens.weight";
            tensors[count] = tensors[i];
            tensors[count++].name = "decoder.embed_tokens.weight";
        }
        write_weights(directory, tensors, count);
        CHECK_OK(clf_transformer_open(*state, directory, &network));
        check_network(*state, is_doubled ? "base, two tables" : "base", "bart", network, bias);
        clf_transformer_destroy(network);
    }
    temp_directory_remove(directory);
    json_decref(config);
    clfi_safetensors_close(file);
}

/* The configurations in the directories' config.json. */
static clf_transformer_config config_of(bool is_marian)
{
    clf_transformer_config config = CLF_TRANSFORMER_CONFIG_INIT;
    config.width = C;
    config.hidden_width = 24;
    config.heads = 2;
    config.encoder_layers = config.decoder_layers = 2;
    config.source_vocabulary = config.target_vocabulary = 40;
    config.max_source = config.max_target = 9;
    config.norm_first = config.has_final_norm = 0;
    config.is_generator_tied = 1;
    config.activation = is_marian ? CLF_ACTIVATION_SILU : CLF_ACTIVATION_GELU;
    config.positions = is_marian ? CLF_POSITIONS_SINUSOIDAL_HALVES : CLF_POSITIONS_LEARNED;
    config.has_embedding_norm = !is_marian;
    return config;
}

static void list_file(clf_context *context, const char *id, tensor_list *list)
{
    clf_safetensors *file = open_weights(id);
    list->count = 0;
    for (size_t i = 0; i < clfi_safetensors_count(file); i++) {
        const clf_file_tensor *t = clfi_safetensors_at(file, i);
        list_add(context, list, t->name, t->rank, t->dim, t->data);
    }
    clfi_safetensors_close(file);
}

static void test_named_tensors(void **state)
{
    static const struct {
        const char *id, *weights;
        bool is_marian;
        float scale;
    } cases[] = {{"bart", "bart", false, 1},
                 {"bart_scaled", "bart", false, 0},
                 {"bart_scaled", "bart", false, 4},
                 {"marian", "marian", true, 0},
                 {"marian_separate", "marian_separate", true, 0}};
    static tensor_list list;
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_transformer_config config = config_of(cases[i].is_marian);
        clf_transformer *network;
        config.embedding_scale = cases[i].scale;
        if (strcmp(cases[i].id, "marian_separate") == 0) {
            config.source_vocabulary = 23;
            config.target_vocabulary = 31;
        }
        list_file(*state, cases[i].weights, &list);
        CHECK_OK(clf_transformer_create(*state, &config, CLF_NAMES_HUGGINGFACE, list.named, list.count, &network));
        list_free(&list);
        check_network(*state, "built", cases[i].id, network, NULL);
        clf_transformer_destroy(network);
    }
}

static void test_refused_weights(void **state)
{
    static tensor_list list;
    clf_context *context = *state;
    clf_transformer *network = NULL;
    clf_transformer_config config = config_of(false);
    const float zeros[41] = {0};
    list_file(context, "bart", &list);
    config.target_vocabulary = 41;
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_HUGGINGFACE, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                "E_SHAPE: weights: model.shared.weight: expected [41,16], found [40,16]");
    config.target_vocabulary = 40;
    config.is_generator_tied = 0;
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_HUGGINGFACE, list.named, list.count, &network), CLF_NOT_FOUND,
                "lm_head.weight");
    config.is_generator_tied = 1;
    list_add(context, &list, "lm_head.bias", 1, (int64_t[]){40}, zeros);
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_HUGGINGFACE, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                "E_VALUE: weights: final_logits_bias and lm_head.bias");
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.named[i].name, "final_logits_bias") == 0 || strcmp(list.named[i].name, "lm_head.bias") == 0)
            list.names[i][0] = '?';
    list_add(context, &list, "final_logits_bias", 2, (int64_t[]){1, 41}, zeros);
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_HUGGINGFACE, list.named, list.count, &network), CLF_INVALID_ARGUMENT,
                "E_SHAPE: weights: final_logits_bias: expected [1,40], found [1,41]");
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.named[i].name, "model.shared.weight") == 0)
            list.names[i][0] = '?';
    CHECK_FAILS(clf_transformer_create(context, &config, CLF_NAMES_HUGGINGFACE, list.named, list.count, &network), CLF_NOT_FOUND,
                "model.encoder.embed_tokens.weight");
    list_free(&list);
    assert_null(network);
}

typedef struct refused {
    const char *id, *key;
    json_t *value; /* NULL: the key is removed */
    clf_status status;
    const char *reason;
} refused;

static void test_refused_configurations(void **state)
{
    const refused cases[] = {
        {"bart", "model_type", json_string("t5"), CLF_UNSUPPORTED, "model_type \"t5\": expected encoder-decoder, bart or marian"},
        {"bart", "model_type", json_integer(1), CLF_FORMAT, "model_type"},
        {"bart", "d_model", NULL, CLF_FORMAT, "\"d_model\": expected integer"},
        {"bart", "d_model", json_integer(0), CLF_FORMAT, "d_model"},
        {"bart", "d_model", json_real(16.0), CLF_FORMAT, "d_model"},
        {"bart", "d_model", json_integer(17), CLF_FORMAT, "d_model 17 is not a multiple of encoder_attention_heads 2"},
        {"bart", "decoder_attention_heads", json_integer(4), CLF_UNSUPPORTED,
         "the decoder has 4 heads and a feed-forward width of 24, the encoder 2 and 24: expected the same"},
        {"marian", "decoder_attention_heads", json_integer(3), CLF_FORMAT, "d_model 16 is not a multiple of decoder_attention_heads 3"},
        {"marian", "decoder_ffn_dim", json_integer(25), CLF_FORMAT, "model.decoder.layers.0.fc1.weight: expected [25,16], found [24,16]"},
        {"bart", "encoder_layers", json_integer(0), CLF_FORMAT, "encoder_layers"},
        {"bart", "decoder_layers", json_integer(4097), CLF_FORMAT, "decoder_layers"},
        {"bart", "decoder_layers", json_integer(3), CLF_FORMAT, "model.decoder.layers.2"},
        {"bart", "max_position_embeddings", json_integer(INT64_MAX), CLF_FORMAT, "max_position_embeddings"},
        {"bart", "max_position_embeddings", json_integer(8), CLF_FORMAT, "embed_positions.weight: expected [10,16], found [11,16]"},
        {"bart", "vocab_size", json_integer(-1), CLF_FORMAT, "vocab_size"},
        {"bart", "vocab_size", json_integer(41), CLF_FORMAT, "model.shared.weight: expected [41,16], found [40,16]"},
        {"bart", "activation_function", json_string("xielu"), CLF_UNSUPPORTED, "activation_function \"xielu\""},
        {"bart", "activation_function", json_true(), CLF_FORMAT, "activation_function"},
        {"bart", "scale_embedding", json_integer(1), CLF_FORMAT, "scale_embedding"},
        {"bart", "tie_word_embeddings", json_string("yes"), CLF_FORMAT, "tie_word_embeddings"},
        {"bart", "normalize_before", json_true(), CLF_UNSUPPORTED, "normalize_before is true: expected false"},
        {"bart", "normalize_embedding", json_false(), CLF_UNSUPPORTED, "normalize_embedding is false: expected true"},
        {"marian", "normalize_embedding", json_true(), CLF_UNSUPPORTED, "normalize_embedding is true: expected false"},
        {"marian", "static_position_embeddings", json_false(), CLF_UNSUPPORTED, "static_position_embeddings"},
        {"marian", "is_encoder_decoder", json_false(), CLF_UNSUPPORTED, "is_encoder_decoder"},
        {"bart", "is_encoder_decoder", json_null(), CLF_UNSUPPORTED, "is_encoder_decoder is null: expected true"},
        {"marian", "decoder_vocab_size", json_integer(39), CLF_FORMAT, "decoder_vocab_size is 39: expected vocab_size, 40"},
        {"marian", "share_encoder_decoder_embeddings", json_integer(0), CLF_FORMAT, "share_encoder_decoder_embeddings"},
    };
    static clf_file_tensor tensors[MOST_NAMED_TENSORS];
    clf_transformer *network = NULL;
    char directory[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_safetensors *file = open_weights(cases[i].id);
        json_t *config = read_config(cases[i].id);
        write_weights(directory, tensors, list_weights(file, tensors));
        set_key(config, cases[i].key, cases[i].value);
        write_config(directory, config);
        CHECK_FAILS(clf_transformer_open(*state, directory, &network), cases[i].status, cases[i].reason);
        json_decref(config);
        clfi_safetensors_close(file);
    }
    CHECK_FAILS(clf_transformer_open(*state, "/no/such/model", &network), CLF_NOT_FOUND, "/no/such/model");
    CHECK_FAILS(clf_transformer_open(*state, NULL, &network), CLF_INVALID_ARGUMENT, "NULL");
    assert_null(network);
    temp_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directories),     cmocka_unit_test(test_scaled_and_untied_directories),
        cmocka_unit_test(test_base_directory),  cmocka_unit_test(test_named_tensors),
        cmocka_unit_test(test_refused_weights), cmocka_unit_test(test_refused_configurations),
    };
    return cmocka_run_group_tests_name("model.huggingface", tests, device_setup, device_teardown);
}
