/* SPDX-License-Identifier: MIT */
/* Tests that run on every GEMM engine. */
#ifndef CLF_TEST_GEMM_ENGINE_H
#define CLF_TEST_GEMM_ENGINE_H

#include <stdbool.h>

#include "clformer/context.h"

/* A context on the device under test with that engine forced ("": none); NULL where the engine leaves the device alone, whose compiler is not made for
 * it. */
clf_context *gemm_engine_context(const char *engine);

/* run(context, engine) on such a context; the running test is skipped where there is none. */
void on_gemm_engine(const char *engine, void (*run)(clf_context *context, const char *engine));

#define ON_GEMM_ENGINE(test, engine, run) \
    static void test(void **state)        \
    {                                     \
        (void)state;                      \
        on_gemm_engine(engine, run);      \
    }

/* A test of `run` for the default engine and for each one, and their rows of a cmocka list. */
#define ON_EVERY_GEMM_ENGINE(run)              \
    ON_GEMM_ENGINE(test_default, "", run)      \
    ON_GEMM_ENGINE(test_packed, "packed", run) \
    ON_GEMM_ENGINE(test_gemv, "gemv", run)     \
    ON_GEMM_ENGINE(test_tiled, "tiled", run)   \
    ON_GEMM_ENGINE(test_clblast, "clblast", run)

#define GEMM_ENGINE_TESTS                                                                                                     \
    cmocka_unit_test(test_default), cmocka_unit_test(test_packed), cmocka_unit_test(test_gemv), cmocka_unit_test(test_tiled), \
        cmocka_unit_test(test_clblast)

#endif
