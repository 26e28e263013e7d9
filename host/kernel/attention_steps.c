/* SPDX-License-Identifier: MIT */
/* Launches the steps of attention that are not matrix products. */
#include "kernel/attention_steps.h"

#include "kernel/axes.h"
#include "kernel/loops.h"

enum { GROUP = 64, ROWS = 4 };

static clf_status check_loops(const clf_context *context, const char *what, int64_t iterations)
{
    if (!clfi_loops_fit(context, iterations))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %lld loop iterations are more than %s runs", what, (long long)iterations, context->device.info.name);
    return CLF_OK;
}

static void arg_matrix(clf_launch *launch, const clf_view *view, int axes)
{
    cl_long strides[3];
    clfi_arg_view(launch, view);
    for (int i = 0; i < axes; i++)
        strides[i] = view->stride[view->rank - axes + i];
    clfi_arg_bytes(launch, strides, (size_t)axes * sizeof strides[0]);
}

static clf_status launch_scores(clf_context *context, const char *kernel, const clf_view *q, const clf_view *k, const clf_view *w,
                                float scale, const clf_view *scores)
{
    clf_kernel_spec spec = clfi_kernel_spec("attention_scores.cl", kernel);
    CLF_TRY(check_loops(context, kernel, q->dim[2]));
    clfi_spec_dtype(&spec, "Q", q->dtype);
    clfi_spec_dtype(&spec, "K", k->dtype);
    clfi_spec_dtype(&spec, "W", w->dtype);
    clfi_spec_dtype(&spec, "SCORE", scores->dtype);
    clf_launch launch = clfi_launch(context, &spec);
    arg_matrix(&launch, q, 3);
    arg_matrix(&launch, k, 3);
    clfi_arg_view(&launch, w);
    clfi_arg_long(&launch, w->stride[0]);
    arg_matrix(&launch, scores, 3);
    clfi_arg_int(&launch, k->dim[1]);
    clfi_arg_int(&launch, q->dim[2]);
    clfi_arg_float(&launch, scale);
    const double products = (double)clfi_view_count(scores) * (double)q->dim[2];
    clfi_launch_work(&launch, 16 * products, 2 * sizeof(float) * products);
    return clfi_launch_3d(&launch, (size_t[3]){((size_t)k->dim[1] + GROUP - 1) / GROUP, (size_t)q->dim[1], (size_t)q->dim[0]},
                          (size_t[3]){GROUP, 1, 1});
}

clf_status clfi_attention_distance_launch(clf_context *context, const clf_view *q, const clf_view *k, float scale, const clf_view *scores)
{
    return launch_scores(context, "attention_scores_distance", q, k, q, scale, scores);
}

clf_status clfi_attention_additive_launch(clf_context *context, const clf_view *q, const clf_view *k, const clf_view *w, float scale,
                                          const clf_view *scores)
{
    return launch_scores(context, "attention_scores_additive", q, k, w, scale, scores);
}

clf_status clfi_attention_context_launch(clf_context *context, const clf_view *weights, const clf_view *v, const clf_view *keep,
                                         const clf_view *out)
{
    const int batch_axes = out->rank - 2;
    const int64_t queries = out->dim[out->rank - 2], columns = out->dim[out->rank - 1], keys = v->dim[v->rank - 2];
    const clf_device_caps *caps = &context->device.caps;
    clf_axes axes;
    clfi_axes_merge((const clf_view *const[]){weights, v, out, keep}, (const int[]){0, 0, 0, 0}, 4, batch_axes, &axes);
    const bool is_vector =
        caps->is_cpu && columns % caps->vector_width == 0 && v->stride[v->rank - 1] == 1 && out->stride[out->rank - 1] == 1;
    const int64_t width = is_vector ? caps->vector_width : 1;
    const size_t local = is_vector ? 1 : GROUP;
    CLF_TRY(check_loops(context, "attention_context", keys));
    clf_kernel_spec spec = clfi_kernel_spec("attention_context.cl", "attention_context");
    clfi_spec_dtype(&spec, "WEIGHT", weights->dtype);
    clfi_spec_dtype(&spec, "V", v->dtype);
    clfi_spec_dtype(&spec, "OUT", out->dtype);
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_int(&spec, "AXES", axes.count);
    clf_launch launch = clfi_launch(context, &spec);
    arg_matrix(&launch, weights, 2);
    arg_matrix(&launch, v, 2);
    arg_matrix(&launch, out, 2);
    clfi_arg_view(&launch, keep);
    clfi_arg_long(&launch, keep->stride[keep->rank - 2]);
    clfi_arg_axes(&launch, "batch_axes", &axes);
    clfi_arg_int(&launch, queries);
    clfi_arg_int(&launch, keys);
    clfi_arg_int(&launch, columns);
    const double products = (double)clfi_view_count(weights) * (double)columns;
    clfi_launch_work(&launch, products, sizeof(float) * products);
    const size_t vectors = (size_t)((columns + width - 1) / width);
    return clfi_launch_3d(&launch,
                          (size_t[3]){(vectors + local - 1) / local, ((size_t)queries + ROWS - 1) / ROWS, (size_t)clfi_axes_size(&axes)},
                          (size_t[3]){local, 1, 1});
}

clf_status clfi_dropout_launch(clf_context *context, const clf_view *x, float probability, uint64_t seed, const clf_view *y)
{
    clf_axes axes;
    clfi_axes_merge((const clf_view *const[]){x, y}, (const int[]){0, 0}, 2, x->rank, &axes);
    const int64_t count = clfi_axes_size(&axes);
    clf_kernel_spec spec = clfi_kernel_spec("attention_dropout.cl", "attention_dropout");
    clfi_spec_dtype(&spec, "X", x->dtype);
    clfi_spec_dtype(&spec, "Y", y->dtype);
    clfi_spec_int(&spec, "AXES", axes.count);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, y);
    clfi_arg_axes(&launch, "element_axes", &axes);
    clfi_arg_long(&launch, count);
    clfi_arg_float(&launch, probability);
    clfi_arg_uint(&launch, (uint32_t)seed);
    clfi_arg_uint(&launch, (uint32_t)(seed >> 32));
    clfi_launch_work(&launch, 32.0 * (double)count, 2.0 * sizeof(float) * (double)count);
    return clfi_launch_1d(&launch, (size_t)(count + 4 * GROUP - 1) / (4 * GROUP), GROUP);
}
