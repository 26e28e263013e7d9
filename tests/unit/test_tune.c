/* SPDX-License-Identifier: MIT */
/* The tuner's judgement on made-up measurements: what becomes a rule, what noise forbids, packings shared by all rows, the search's order;
 * and the products of a model. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "support/check.h"
#include "support/temp.h"
#include "tune/tune.h"
#include "tune/tune_choose.h"

/* One weight at two numbers of rows, and a product of two tensors. */
static const clfi_tune_products products = {
    {{CLF_GEMM_LINEAR, 1, 16, 64, 32}, {CLF_GEMM_LINEAR, 1, 128, 64, 32}, {CLF_GEMM_PRODUCT, 8, 64, 64, 32}}, 3};

/* A candidate with these ratios; 0: it does not apply. engine NULL: the table's choice, which is `table`. */
static void add(clfi_tune_results *results, const char *engine, clf_tile tile, const char *table, double r0, double r1, double r2)
{
    const double ratios[] = {r0, r1, r2};
    clfi_tune_candidate one = {.engine = engine ? clfi_engine_find(CLF_OP_GEMM, engine) : NULL, .tile = tile};
    for (size_t p = 0; p < COUNT(ratios); p++) {
        one.timing[p] = (clfi_tune_timing){.ratio = ratios[p] > 0 ? ratios[p] : NAN, .ns = 1};
        snprintf(one.timing[p].engine, sizeof one.timing[p].engine, "%s", engine ? engine : table);
    }
    CHECK_OK(clfi_tune_results_add(results, &one));
}

/* "packed,packed:rows=6,-": the rules as text; "-" is the table's choice. */
static void check_choice(const clfi_tune_results *results, const char *want)
{
    clf_tuning tuning;
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_tune_choose(results, &products, &tuning));
    assert_int_equal(tuning.count, products.count);
    for (size_t p = 0; p < tuning.count; p++) {
        assert_int_equal(tuning.rules[p].m, products.items[p].m);
        CHECK_OK(clfi_str_append_text(&text, p ? "," : ""));
        if (tuning.rules[p].engine)
            CHECK_OK(clfi_engine_choice_text(tuning.rules[p].engine, &tuning.rules[p].tile, &text));
        else
            CHECK_OK(clfi_str_append_text(&text, "-"));
    }
    CHECK(strcmp(clfi_str_text(&text), want) == 0, "chosen %s, want %s", clfi_str_text(&text), want);
    clfi_str_free(&text);
    clfi_tuning_clear(&tuning);
}

static const clf_tile own = {{0}};

static void test_gains(void **state)
{
    clfi_tune_results r = {.is_reference_table = true};
    (void)state;
    add(&r, NULL, own, "packed", 1.0, 1.01, 0.99);
    check_choice(&r, "-,-,-");
    add(&r, "packed", own, "", 1.01, 1.0, 1.0); /* the same again is no choice */
    check_choice(&r, "-,-,-");
    add(&r, "packed", (clf_tile){{6}}, "", 0.8, 0.98, 0.99);
    check_choice(&r, "packed:rows=6,-,-");
    add(&r, "packed", (clf_tile){{7}}, "", 0.7, 1.5, 0.5);
    check_choice(&r, "packed:rows=7,-,packed:rows=7");
    r.items[3].status = CLF_DEVICE; /* lost after all */
    check_choice(&r, "packed:rows=6,-,-");
    clfi_tune_results_free(&r);
}

/* The same engine measured twice with 40 % between: a gain of 20 % says nothing, one of 50 % does. */
static void test_noise(void **state)
{
    clfi_tune_results r = {.is_reference_table = true};
    (void)state;
    add(&r, NULL, own, "packed", 1.4, 1.0, 1.0);
    add(&r, "packed", (clf_tile){{6}}, "", 0.8, 0.8, 0.0);
    check_choice(&r, "-,packed:rows=6,-");
    assert_true(within(clfi_tune_noise(&r, 0), 1.4, 1e-12) && clfi_tune_noise(&r, 1) == 1);
    add(&r, "packed", (clf_tile){{5}}, "", 0.5, 0.9, 0.0);
    check_choice(&r, "packed:rows=5,packed:rows=6,-");
    clfi_tune_results_free(&r);
}

/* A weight is packed once: another width or form has to pay over all rows, and then all rows take it. */
static void test_packing(void **state)
{
    clfi_tune_results r = {.is_reference_table = true};
    (void)state;
    add(&r, NULL, own, "packed", 1.0, 1.0, 1.0);
    add(&r, "packed", (clf_tile){{0, 1}}, "", 0.8, 1.4, 0.0);
    check_choice(&r, "-,-,-");
    add(&r, "packed", (clf_tile){{0, 2}}, "", 0.8, 1.02, 0.0);
    check_choice(&r, "packed:vectors=2,packed:vectors=2,-");
    add(&r, "gemv", own, "", 0.1, 2.0, 0.0);
    check_choice(&r, "gemv,gemv,-");
    add(&r, "tiled", own, "", 3.0, 1.1, 0.0);
    check_choice(&r, "gemv,tiled,-");
    clfi_tune_results_free(&r);
}

/* On devices whose reference is another engine, ratios are taken to the table's choice. */
static void test_other_reference(void **state)
{
    clfi_tune_results r = {.is_reference_table = false};
    (void)state;
    add(&r, NULL, own, "gemv", 0.5, 0.5, 0.5);
    add(&r, "tiled", own, "", 1.0, 0.45, 0.6);
    check_choice(&r, "-,tiled,-");
    assert_true(within(clfi_tune_ratio(&r, 1, 0), 2, 1e-12));
    clfi_tune_results_free(&r);
}

/* A choice that the second measurement does not confirm is undone, with all products of its weight. */
static void test_confirm(void **state)
{
    clfi_tune_results r = {.is_reference_table = true};
    clf_tuning tuning;
    (void)state;
    add(&r, NULL, own, "packed", 1.0, 1.0, 1.0);
    add(&r, "packed", (clf_tile){{6}}, "", 0.8, 0.8, 0.8);
    CHECK_OK(clfi_tune_choose(&r, &products, &tuning));
    tuning.clblast.is_set[CLFI_CLBLAST_ROUTINE] = true;
    add(&r, NULL, own, "packed", 1.1, 0.95, 0.8);
    clfi_tune_confirm(&r, 2, &products, &tuning);
    assert_true(!tuning.rules[0].engine && !tuning.rules[1].engine && tuning.rules[2].engine);
    assert_int_equal(tuning.rules[0].tile.value[0], 0);
    assert_false(clfi_clblast_is_any(&tuning.clblast)); /* no rule uses it */
    clfi_tuning_clear(&tuning);
    clfi_tune_results_free(&r);
}

/* Down from the engine's own value until that is worse, then up; each improvement is the base of the next parameter. */
static void test_walk(void **state)
{
    static const struct {
        int rows, super;
        double ratio;
    } want[] = {{7, 0, 0.9}, {6, 0, 0.8}, {5, 0, 1.0}, {6, 8, 1.2}, {6, 32, 0.7}, {6, 64, 0.9}};
    clfi_tune_results r = {.is_reference_table = true};
    const clf_tile standard = {{8, 3, 16}};
    clfi_tune_walk walk = {.engine = clfi_engine_find(CLF_OP_GEMM, "packed"), .standard = &standard, .best_score = NAN};
    clf_tile tile;
    (void)state;
    add(&r, NULL, own, "packed", 1.0, 1.0, 1.0);
    add(&r, "packed", own, "", 1.0, 1.0, 1.0);
    clfi_tune_walk_learn(&walk, &r, 1, products.count);
    for (size_t i = 0; i < COUNT(want); i++) {
        do {
            assert_true(clfi_tune_walk_next(&walk, &tile));
            if (tile.value[1]) { /* vectors: no better */
                add(&r, "packed", tile, "", 1.5, 1.5, 1.5);
                clfi_tune_walk_learn(&walk, &r, r.count - 1, products.count);
            }
        } while (tile.value[1]);
        CHECK(tile.value[0] == want[i].rows && tile.value[2] == want[i].super, "step %zu: rows %d super_rows %d", i, tile.value[0],
              tile.value[2]);
        add(&r, "packed", tile, "", want[i].ratio, want[i].ratio, want[i].ratio);
        clfi_tune_walk_learn(&walk, &r, r.count - 1, products.count);
    }
    assert_int_equal(walk.best.value[0], 6);
    assert_int_equal(walk.best.value[2], 32);
    size_t steps = 0;
    while (clfi_tune_walk_next(&walk, &tile) && steps++ < 100) {
        add(&r, "packed", tile, "", 2, 2, 2);
        clfi_tune_walk_learn(&walk, &r, r.count - 1, products.count);
    }
    assert_in_range(steps, 1, 20);
    assert_true(clfi_tune_is_promising(&r, walk.engine, products.count));
    add(&r, "tiled", own, "", 9, 9, 9);
    assert_false(clfi_tune_is_promising(&r, clfi_engine_find(CLF_OP_GEMM, "tiled"), products.count));
    clfi_tune_results_free(&r);
}

static void test_products(void **state)
{
    static const char *const broken[][2] = {
        {"{\"model_type\": \"gpt7\"}", "gpt7"},
        {"{\"model_type\": \"bert\", \"hidden_size\": 0}", "hidden_size"},
        {"{\"model_type\": \"bert\", \"hidden_size\": 8, \"intermediate_size\": 8, \"num_attention_heads\": 9, \"num_hidden_layers\": 1, "
         "\"vocab_size\": 9, \"max_position_embeddings\": 8}",
         "num_attention_heads"},
        {"{\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 8, \"num_attention_heads\": 16777216, \"head_dim\": "
         "16777216, "
         "\"num_hidden_layers\": 1, \"vocab_size\": 9, \"max_position_embeddings\": 8}",
         "expected sizes up to"},
        {"{}", "model_type"}};
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clfi_tune_products list;
    (void)state;
    CHECK_OK(clfi_tune_model_products(NULL, &list));
    assert_true(list.count > 8);
    temp_directory_make(directory);
    const char *good = "{\"model_type\": \"bert\", \"hidden_size\": 32, \"intermediate_size\": 32, \"num_attention_heads\": 2, "
                       "\"num_hidden_layers\": 1, \"vocab_size\": 9, \"max_position_embeddings\": 8}";
    temp_file(directory, "config.json", good, strlen(good), path);
    CHECK_OK(clfi_tune_model_products(directory, &list));
    assert_int_equal(list.count, 2 * 4 + 3); /* 96 x 32, and 32 x 32 once, each at four numbers of rows; attention */
    for (size_t i = 0; i < COUNT(broken); i++) {
        temp_file(directory, "config.json", broken[i][0], strlen(broken[i][0]), path);
        CHECK(clfi_tune_model_products(directory, &list) != CLF_OK && strstr(clf_last_error(), broken[i][1]), "config %zu: %s", i,
              clf_last_error());
    }
    temp_directory_remove(directory);
    CHECK_FAILS(clfi_tune_model_products(directory, &list), CLF_NOT_FOUND, "model directory");
}

/* Checks the products measured at 16 rows, and those of attention. */
static void check_products(const char *model, const char *want)
{
    clfi_tune_products list;
    clf_str text = CLF_STR_INIT;
    char path[TEMP_PATH_BYTES], one[CLFI_TUNE_PRODUCT_BYTES];
    snprintf(path, sizeof path, CLF_TEST_DATA "/%s", model);
    CHECK_OK(clfi_tune_model_products(path, &list));
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].kind != CLF_GEMM_LINEAR || list.items[i].m == 16)
            CHECK_OK(clfi_str_appendf(&text, "%s%s", clfi_str_text(&text)[0] ? ", " : "", clfi_tune_product_text(&list.items[i], one)));
    CHECK(strcmp(clfi_str_text(&text), want) == 0, "%s: %s; want %s", model, clfi_str_text(&text), want);
    clfi_str_free(&text);
}

/* Key heads of their own number, heads whose sizes do not add up to the width, keys named otherwise, attention to a source, GGUF. */
static void test_families(void **state)
{
    (void)state;
    check_products("generation/llama", "linear 16 x 40 x 24, linear 16 x 24 x 24, product 48 x 128 x 128 x 4, product 48 x 128 x 4 x 128, "
                                       "interleaved 48 x 128 x 128 x 4, linear 16 x 24 x 40");
    check_products("generation/qwen3", "linear 16 x 48 x 24, linear 16 x 24 x 24, product 32 x 128 x 128 x 6, product 32 x 128 x 6 x 128, "
                                       "interleaved 32 x 128 x 128 x 6, linear 16 x 40 x 24, linear 16 x 24 x 40");
    check_products("generation/gemma3", "linear 16 x 48 x 24, linear 16 x 24 x 24, product 32 x 128 x 128 x 6, product 32 x 128 x 6 x 128, "
                                        "interleaved 32 x 128 x 128 x 6");
    check_products("generation/gpt2_scaled", "linear 16 x 72 x 24, linear 16 x 24 x 24, product 24 x 128 x 128 x 8, "
                                             "product 24 x 128 x 8 x 128, interleaved 24 x 128 x 128 x 8, linear 16 x 96 x 24, "
                                             "linear 16 x 24 x 96");
    check_products("encoders/nomic_authors", "linear 16 x 36 x 12, linear 16 x 12 x 12, product 24 x 128 x 128 x 4, "
                                             "product 24 x 128 x 4 x 128, interleaved 24 x 128 x 128 x 4, linear 16 x 20 x 12, "
                                             "linear 16 x 12 x 20");
    check_products("translation/t5", "linear 16 x 90 x 24, linear 16 x 24 x 30, product 40 x 128 x 128 x 6, product 40 x 128 x 6 x 128, "
                                     "interleaved 40 x 128 x 128 x 6, linear 16 x 40 x 24, linear 16 x 24 x 40, linear 16 x 30 x 24, "
                                     "linear 16 x 60 x 24");
    check_products("generation/llama/model.gguf", "linear 16 x 40 x 24, linear 16 x 24 x 24, product 48 x 128 x 128 x 4, "
                                                  "product 48 x 128 x 4 x 128, interleaved 48 x 128 x 128 x 4, linear 16 x 24 x 40");
}

static size_t models_read;

/* Every model of the test data, whatever its family, has products. */
static int check_model(const char *path, const struct stat *facts, int type, struct FTW *place)
{
    static const char config[] = "config.json", gguf[] = "model.gguf";
    const char *name = path + place->base;
    char model[TEMP_PATH_BYTES];
    clf_str text = CLF_STR_INIT;
    clfi_tune_products list;
    (void)facts;
    snprintf(model, sizeof model, "%s", path);
    if (type != FTW_F || (strcmp(name, config) != 0 && strcmp(name, gguf) != 0))
        return 0;
    if (strcmp(name, config) == 0) {
        CHECK_OK(clfi_file_read(path, 1 << 20, &text));
        const bool is_model = strstr(clfi_str_text(&text), "model_type") != NULL;
        clfi_str_free(&text);
        if (!is_model)
            return 0; /* of a part of a pipeline */
        model[place->base - 1] = '\0';
    }
    CHECK_OK(clfi_tune_model_products(model, &list));
    CHECK(list.count >= 11, "%s: %zu products", model, list.count);
    models_read++;
    return 0;
}

static void test_every_model(void **state)
{
    (void)state;
    CHECK(nftw(CLF_TEST_DATA, check_model, 8, FTW_PHYS) == 0, "walk");
    assert_true(models_read > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gains),           cmocka_unit_test(test_noise),    cmocka_unit_test(test_packing),
        cmocka_unit_test(test_other_reference), cmocka_unit_test(test_confirm),  cmocka_unit_test(test_walk),
        cmocka_unit_test(test_products),        cmocka_unit_test(test_families), cmocka_unit_test(test_every_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
