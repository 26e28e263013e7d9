/* SPDX-License-Identifier: MIT */
/* Launches the copy of keys and values into a cache. */
#include "kernel/kv_cache.h"

enum { GROUP = 64 };

/* The same struct as in cl/any/kv_cache.cl. */
typedef struct head_layout {
    cl_long offset, head_stride, stride;
} head_layout;

int64_t clfi_kv_row(clf_dtype dtype, int64_t size)
{
    if (dtype != CLF_U8)
        return size;
    return size % CLFI_KV_BLOCK == 0 ? size / CLFI_KV_BLOCK * (CLFI_KV_BLOCK + 2) : 0;
}

clf_status clfi_kv_cache_launch(clf_context *context, const clf_view *k, const clf_view *v, const clf_buffer *cache, clf_dtype dtype,
                                int64_t capacity, const clf_view *rows)
{
    const clf_device_caps *caps = &context->device.caps;
    const int64_t size = k->dim[2], columns = k->dim[0] * size;
    int width = caps->is_cpu ? caps->vector_width : 1;
    while (width > 1 && (size % width != 0 || width == 2))
        width /= 2;
    const size_t local = caps->is_cpu ? 1 : GROUP;
    const size_t groups = caps->is_cpu ? 1 : (size_t)((columns + GROUP - 1) / GROUP);
    const head_layout k_at = {k->offset, k->stride[0], k->stride[1]}, v_at = {v->offset, v->stride[0], v->stride[1]};
    clf_kernel_spec spec = clfi_kernel_spec("kv_cache.cl", "kv_cache_store");
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_int(&spec, "IS_Q8", dtype == CLF_U8);
    clfi_spec_dtype(&spec, "FROM", k->dtype);
    clfi_spec_dtype(&spec, "TO", dtype);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, k->buffer);
    clfi_arg_struct(&launch, "head_layout", &k_at, sizeof k_at);
    clfi_arg_buffer(&launch, v->buffer);
    clfi_arg_struct(&launch, "head_layout", &v_at, sizeof v_at);
    clfi_arg_buffer(&launch, cache);
    clfi_arg_long(&launch, capacity);
    clfi_arg_view(&launch, rows);
    clfi_arg_int(&launch, k->dim[0]);
    clfi_arg_int(&launch, size);
    clfi_arg_int(&launch, (int64_t)(groups * local));
    clfi_launch_work(&launch, 0, 16.0 * (double)columns * (double)k->dim[1]);
    return clfi_launch_2d(&launch, groups, (size_t)k->dim[1], local, 1);
}
