/* SPDX-License-Identifier: MIT */
/* Where workloads that begin without a context begin. */
#include "workload/start_place.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/shared.h"

clf_status clfi_start_place_find(const clf_context *context, bool is_cold, clfi_start_place *out)
{
    if (!is_cold && !context->shared->cache)
        CLF_FAIL(CLF_UNSUPPORTED, "start: the context has no cache of programs to start from");
    snprintf(out->device, sizeof out->device, "%zu", clf_context_device(context)->index);
    return clfi_strdup(is_cold ? "" : context->shared->cache->path, &out->cache_dir);
}

void clfi_start_place_free(clfi_start_place *place)
{
    free(place->cache_dir);
    place->cache_dir = NULL;
}

clf_status clfi_start_context(const clfi_start_place *place, clf_context **out)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.device = place->device;
    params.cache_dir = place->cache_dir;
    return clf_context_create(&params, out);
}
