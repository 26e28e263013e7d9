/* SPDX-License-Identifier: MIT */
/* Tests a tiny model with a head of every family of encoders, and whole directories with poolings, dense layers, a residual and a layer
 * norm behind the network. The numbers expected are transformers' and sentence-transformers' in float64 (tests/data/classifiers,
 * tests/data/encoders). In one process, so that devices whose kernels compile slowly run it too. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "clformer/classify.h"
#include "io/json.h"
#include "model/family.h"
#include "support/check.h"
#include "support/device.h"

static const double bound = 1e-5; /* of a row's length; of a head of one label, of the largest logit */

static clf_model *open_case(clf_context *context, const char *name, json_t **golden)
{
    char path[256];
    clf_model *model;
    snprintf(path, sizeof path, CLF_TEST_DATA "/%s", name);
    CHECK_OK(clf_model_open(context, path, NULL, &model));
    snprintf(path, sizeof path, CLF_TEST_DATA "/%s/golden.json", name);
    CHECK_OK(clfi_json_read(path, 1 << 20, golden));
    return model;
}

static clf_text text_of(const json_t *json)
{
    return (clf_text){json_string_value(json), json_string_length(json)};
}

static double value_at(const json_t *rows, size_t row, size_t column)
{
    return json_number_value(json_array_get(json_array_get(rows, row), column));
}

static double length_of(const json_t *rows, size_t row, size_t width)
{
    double sum = 0;
    for (size_t c = 0; c < width; c++)
        sum += value_at(rows, row, c) * value_at(rows, row, c);
    return sqrt(sum);
}

static void check_rows(const char *name, const float *rows, const json_t *wanted, size_t count, size_t width)
{
    double largest = 0;
    assert_int_equal(json_array_size(wanted), count);
    assert_int_equal(json_array_size(json_array_get(wanted, 0)), width);
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, length_of(wanted, i, width));
    for (size_t i = 0; i < count; i++) {
        const double length = width == 1 ? largest : length_of(wanted, i, width);
        double sum = 0;
        for (size_t c = 0; c < width; c++)
            sum += pow((double)rows[i * width + c] - value_at(wanted, i, c), 2);
        CHECK(sqrt(sum) <= bound * length, "%s: text %zu: relative error %.3g", name, i, sqrt(sum) / length);
    }
}

static void check_classifier(clf_context *context, const char *family)
{
    char name[64];
    json_t *golden;
    snprintf(name, sizeof name, "classifiers/%s", family);
    clf_model *model = open_case(context, name, &golden);
    clf_session *session;
    const json_t *given = json_object_get(golden, "texts");
    const size_t count = json_array_size(given), labels = clf_model_label_count(model);
    clf_text_pair *pairs = calloc(count, sizeof *pairs);
    float *logits = malloc(count * labels * sizeof *logits);
    assert_true(count > 0 && labels > 0 && pairs && logits);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(given, i);
        pairs[i].first = text_of(json_is_array(one) ? json_array_get(one, 0) : one);
        if (json_is_array(one))
            pairs[i].second = text_of(json_array_get(one, 1));
    }
    for (size_t i = 0; i < count * labels; i++)
        logits[i] = NAN;
    CHECK_OK(clf_session_create(model, NULL, &session));
    CHECK_OK(clf_session_classify(session, pairs, count, NULL, logits, NULL, NULL));
    check_rows(name, logits, json_object_get(golden, "logits"), count, labels);
    free(pairs);
    free(logits);
    json_decref(golden);
    clf_session_destroy(session);
    clf_model_destroy(model);
}

/* A family that is added needs its tiny model. */
static void test_heads(void **state)
{
    const clf_family *family;
    size_t encoders = 0;
    for (size_t i = 0; (family = clfi_family_at(i)); i++) {
        if (!(family->tasks & CLF_TASK_EMBED))
            continue;
        check_classifier(*state, family->model_type);
        encoders++;
    }
    CHECK(encoders >= 8, "%zu families", encoders);
}

/* Embeddings as the directory's own modules make them. */
static void test_modules(void **state)
{
    static const char *const names[] = {"encoders/roberta_prompt", "encoders/modernbert_biases"};
    for (size_t n = 0; n < COUNT(names); n++) {
        json_t *golden;
        clf_model *model = open_case(*state, names[n], &golden);
        clf_session *session;
        const json_t *given = json_object_get(golden, "texts"), *call = json_array_get(json_object_get(golden, "calls"), 0);
        const size_t count = json_array_size(given), width = (size_t)clf_model_get_info(model)->embedding_width;
        clf_text *texts = malloc(count * sizeof *texts);
        float *rows = malloc(count * width * sizeof *rows);
        assert_true(count > 0 && texts && rows && json_array_size(json_object_get(call, "options")) == 0);
        for (size_t i = 0; i < count; i++)
            texts[i] = text_of(json_array_get(given, i));
        for (size_t i = 0; i < count * width; i++)
            rows[i] = NAN;
        CHECK_OK(clf_session_create(model, NULL, &session));
        CHECK_OK(clf_session_embed(session, texts, count, NULL, rows, NULL));
        check_rows(names[n], rows, json_object_get(call, "rows"), count, width);
        free(texts);
        free(rows);
        json_decref(golden);
        clf_session_destroy(session);
        clf_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heads), cmocka_unit_test(test_modules)};
    return cmocka_run_group_tests_name("model.encoders", tests, device_setup_cached, device_teardown);
}
