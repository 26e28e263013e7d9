/* SPDX-License-Identifier: MIT */
/* Tests that run on every GEMM engine. */
#include "support/gemm_engine.h"

#include <stdio.h>

#include "runtime/context.h"
#include "support/check.h"
#include "support/operand.h"

clf_context *gemm_engine_context(const char *engine)
{
    char forced[48];
    snprintf(forced, sizeof forced, engine[0] ? "gemm=%s" : "%s", engine);
    clf_context *context = engine_context(forced);
    if (!context->device.caps.slow_compiler || strcmp(engine, "packed") != 0)
        return context;
    clf_context_destroy(context);
    return NULL;
}

void on_gemm_engine(const char *engine, void (*run)(clf_context *context, const char *engine))
{
    clf_context *context = gemm_engine_context(engine);
    if (!context)
        skip();
    run(context, engine);
    clf_context_destroy(context);
}
