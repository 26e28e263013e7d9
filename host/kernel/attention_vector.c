/* SPDX-License-Identifier: MIT */
/* Launches attention_vector.cl for CPU devices, where queries are the lanes of vectors. */
#include "kernel/attention.h"

enum { LANES = 16, LARGEST_HEAD = 256 };

/* Devices with short loops are software rasterizers. Their compilers take minutes for this much unrolled code. */
bool clfi_attention_vector_supports(const clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const clf_device_caps *caps = &context->device.caps;
    const int64_t d = call->q->dim[2], dv = call->v->dim[2];
    return caps->is_cpu && !caps->short_loops && call->q->dtype == CLF_F32 && call->out->dtype == CLF_F32 && d % LANES == 0 &&
           dv % LANES == 0 && d <= LARGEST_HEAD && dv <= LARGEST_HEAD;
}

/* Keys (and columns of v) whose sums are in registers at once, if a tile has this number of vectors of queries. */
static int64_t step_of(const clf_context *context, int64_t vectors)
{
    return context->device.caps.vector_width == LANES ? 8 : 4 / vectors;
}

clf_status clfi_attention_vector_run(clf_context *context, const void *arguments)
{
    const clf_attention_call *call = arguments;
    const int64_t vectors = call->tile_queries / LANES;
    clf_kernel_spec spec = clfi_kernel_spec("attention_vector.cl", "attention_vector");
    clfi_spec_dtype(&spec, "IN", call->q->dtype);
    clfi_spec_dtype(&spec, "OUT", call->out->dtype);
    clfi_spec_int(&spec, "TILE_V", vectors);
    clfi_spec_int(&spec, "STEP", step_of(context, vectors));
    clfi_spec_int(&spec, "WIDTH", LANES);
    clfi_attention_spec(&spec, call);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_attention_arguments(&launch, call);
    clfi_attention_work(&launch, call);
    return clfi_launch_2d(&launch, (size_t)call->tile_count, (size_t)call->q->dim[0], 1, 1);
}
