/* SPDX-License-Identifier: MIT */
/* Launches attention_vector.cl: CPU devices, queries in vector lanes. */
#include "kernel/attention.h"

#include "kernel/loops.h"

enum { LANES = 16, STEP = 8 };

/* Loop iterations of one work-item; matters on devices that cut loops short. */
static int64_t iterations(const clf_attention_call *call)
{
    const int64_t d = call->q->dim[2], dv = call->v->dim[2], tail = call->max_keys < STEP ? STEP : 1;
    const int64_t uniform = call->empty_rows == CLF_EMPTY_ROWS_UNIFORM ? dv : 0;
    return call->max_keys * (d * tail / STEP + 2 + dv / STEP + uniform) + d + 2 * dv;
}

bool clfi_attention_vector_supports(const clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const clf_device_caps *caps = &context->device.caps;
    return caps->is_cpu && call->q->dtype == CLF_F32 && call->out->dtype == CLF_F32 && call->q->dim[2] % LANES == 0 &&
           call->v->dim[2] % LANES == 0 && call->q->dim[2] <= 256 && call->v->dim[2] <= 256 &&
           clfi_loops_fit(context, iterations(call));
}

clf_status clfi_attention_vector_run(clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    clf_kernel_spec spec = clfi_kernel_spec("attention_vector.cl", "attention_vector");
    clfi_spec_int(&spec, "TILE_V", call->tile_queries / LANES);
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    return clfi_launch_2d(&launch, (size_t)call->tile_count, (size_t)call->q->dim[0], 1, 1);
}
