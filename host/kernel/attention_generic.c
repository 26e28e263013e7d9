/* SPDX-License-Identifier: MIT */
/* Launches attention_generic.cl, which takes any head size and storage type on any kind of device. */
#include "kernel/attention.h"

#include "kernel/loops.h"

enum { LARGEST_CHUNK = 32 };

static int64_t chunk(const clf_attention_call *call)
{
    return call->v->dim[2] < LARGEST_CHUNK ? call->v->dim[2] : LARGEST_CHUNK;
}

/* Most loop iterations of one work-item: every key makes it rescale its sums. */
static int64_t iterations(const clf_attention_call *call)
{
    const int64_t d = call->q->dim[2], uniform = call->empty_rows == CLF_EMPTY_ROWS_UNIFORM ? 1 : 0;
    return call->max_keys * (d / 8 + d % 8 + 1 + (2 + uniform) * chunk(call)) + 2 * chunk(call);
}

bool clfi_attention_generic_supports(const clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const clf_device_caps *caps = &context->device.caps;
    return caps->max_work_group_size >= (size_t)call->tile_queries && clfi_loops_fit(context, iterations(call));
}

clf_status clfi_attention_generic_run(clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    clf_kernel_spec spec = clfi_kernel_spec("attention_generic.cl", "attention_generic");
    clfi_spec_dtype(&spec, "IN", call->q->dtype);
    clfi_spec_dtype(&spec, "OUT", call->out->dtype);
    clfi_spec_int(&spec, "CHUNK", chunk(call));
    clfi_spec_int(&spec, "QUERIES", call->tile_queries);
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    clfi_attention_work(&launch, call);
    const size_t chunks = (size_t)((call->v->dim[2] + chunk(call) - 1) / chunk(call));
    return clfi_launch_3d(&launch, (size_t[3]){(size_t)call->tile_count, (size_t)call->q->dim[0], chunks},
                          (size_t[3]){(size_t)call->tile_queries, 1, 1});
}
