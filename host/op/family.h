/* SPDX-License-Identifier: MIT */
/* The engine table that most row ops share: two rows, the CPU family first on CPUs and the GPU family first elsewhere. */
#ifndef CLFI_OP_FAMILY_H
#define CLFI_OP_FAMILY_H

#include "op/engines.h"

static inline clf_status clfi_family_run(clf_context *context, const char *op, const clf_engine *cpu, const clf_engine *gpu, const void *args)
{
    const bool is_cpu = context->device.caps.is_cpu;
    const clf_engine engines[2] = {is_cpu ? *cpu : *gpu, is_cpu ? *gpu : *cpu};
    const clf_engine_table table = {op, engines, COUNT(engines)};
    return clfi_engine_run(context, &table, args);
}

#endif
