/* SPDX-License-Identifier: MIT */
/* The kernels of a first pass are counted before the first of them is compiled, and the pass gives the same numbers as without
 * compiling. */
#include <stdio.h>
#include <string.h>

#include "clformer/model.h"
#include "runtime/context.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

#define FAMILIES CLF_TEST_DATA "/families/"

enum { WIDTH_MOST = 64 };

/* What on_build was told: programs built before, programs expected. */
typedef struct watched {
    clf_context *context;
    uint64_t calls_before, first_expected;
} watched;

static void on_build(void *user)
{
    watched *w = user;
    const uint64_t built = w->context->stats.programs_built, expected = w->context->builds_expected;
    if (expected == 0) {
        w->calls_before++; /* weights are packed while the model is opened */
        return;
    }
    if (w->first_expected == 0)
        w->first_expected = expected;
    CHECK(built < expected, "program %llu of %llu", (unsigned long long)built + 1, (unsigned long long)expected);
}

static void embed(const char *family, const char *cache, float *out, size_t *width, watched *w, clf_context_stats *stats)
{
    char path[TEMP_PATH_BYTES];
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    clf_model *model;
    const clf_text texts[] = {{"the cat sat", 11}, {"a", 1}};
    params.cache_dir = cache;
    snprintf(path, sizeof path, FAMILIES "%s", family);
    CHECK_OK(clf_context_create(&params, &context));
    *w = (watched){.context = context};
    context->on_build = on_build;
    context->on_build_user = w;
    CHECK_OK(clf_model_open(context, path, &model));
    *width = (size_t)clf_model_get_info(model)->width;
    CHECK_OK(clf_model_embed(model, texts, COUNT(texts), NULL, out, NULL));
    clf_context_get_stats(context, stats);
    clf_model_destroy(model);
    clf_context_destroy(context);
}

static void check_family(const char *family)
{
    char root[TEMP_PATH_BYTES], cache[TEMP_PATH_BYTES];
    float cold[2 * WIDTH_MOST], warm[2 * WIDTH_MOST];
    size_t width;
    watched w;
    clf_context_stats stats;
    temp_directory_make(root);
    temp_path(root, "cache", cache);
    embed(family, cache, cold, &width, &w, &stats);
    CHECK(width <= WIDTH_MOST, "%zu", width);
    CHECK(w.first_expected > w.calls_before && w.first_expected == stats.programs_built, "%s: %llu programs expected, %llu built", family,
          (unsigned long long)w.first_expected, (unsigned long long)stats.programs_built);
    embed(family, cache, warm, &width, &w, &stats);
    CHECK(stats.programs_built == w.first_expected, "%s: %llu programs expected with a cache, %llu built", family,
          (unsigned long long)w.first_expected, (unsigned long long)stats.programs_built);
    CHECK(memcmp(cold, warm, 2 * width * sizeof *cold) == 0, "%s: other embeddings", family);
    temp_directory_remove(root);
}

static void test_kernels_are_counted_first(void **state)
{
    (void)state;
    check_family("distilbert");
    check_family("modernbert");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_are_counted_first)};
    return cmocka_run_group_tests(tests, device_setup_cached, device_teardown);
}
