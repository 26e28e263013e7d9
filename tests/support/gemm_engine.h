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

#endif
