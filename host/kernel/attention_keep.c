/* SPDX-License-Identifier: MIT */
/* Launches the packing of masks into bits, and passes them to kernels. */
#include "kernel/attention_keep.h"

#include "kernel/axes.h"
#include "kernel/loops.h"

enum { GROUP = 64 };

static void arg_mask(clf_launch *launch, const clf_view *mask, const clf_view *other)
{
    cl_long strides[2] = {0, 0};
    for (int i = 0; mask && i < 2; i++)
        strides[i] = mask->dim[mask->rank - 2 + i] > 1 ? mask->stride[mask->rank - 2 + i] : 0;
    clfi_arg_buffer(launch, mask ? mask->buffer : other->buffer);
    clfi_arg_long(launch, mask ? mask->offset : 0);
    clfi_arg_bytes(launch, strides, sizeof strides);
}

clf_status clfi_attention_keep_launch(clf_context *context, const clf_keep_masks *masks, int64_t queries, const clf_view *keep)
{
    const clf_view *const all[] = {keep, masks->mask, masks->padding, masks->attention, masks->lengths};
    const int leading = keep->rank - 2;
    const int64_t keys = keep->dim[keep->rank - 1], blocks = keep->dim[keep->rank - 2];
    clf_axes with_keep, axes;
    clfi_axes_merge(all, (const int[]){0, 0, 0, 0, 0}, COUNT(all), leading, &with_keep);
    axes = with_keep; /* keep is dense: its own strides are not needed */
    axes.operands = (int)COUNT(all) - 1;
    for (int o = 0; o < axes.operands; o++)
        for (int i = 0; i < axes.count; i++)
            axes.stride[o][i] = all[o + 1] ? with_keep.stride[o + 1][i] : 0;
    clf_kernel_spec spec = clfi_kernel_spec("attention_keep.cl", "attention_keep");
    clfi_spec_int(&spec, "HAS_MASK", masks->mask != NULL);
    clfi_spec_int(&spec, "HAS_PADDING", masks->padding != NULL);
    clfi_spec_int(&spec, "HAS_ATTENTION", masks->attention != NULL);
    clfi_spec_int(&spec, "HAS_LENGTHS", masks->lengths != NULL);
    clfi_spec_int(&spec, "IS_CAUSAL", masks->is_causal);
    clfi_spec_int(&spec, "AXES", axes.count);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_view(&launch, keep);
    for (size_t i = 1; i < COUNT(all); i++)
        arg_mask(&launch, all[i], keep);
    clfi_arg_axes(&launch, "mask_axes", &axes);
    clfi_arg_int(&launch, queries);
    clfi_arg_int(&launch, keys);
    const double pairs = (double)queries * (double)keys * (double)clfi_axes_size(&axes);
    clfi_launch_work(&launch, 8 * pairs, 4 * pairs);
    return clfi_launch_3d(&launch, (size_t[3]){((size_t)keys + GROUP - 1) / GROUP, (size_t)blocks, (size_t)clfi_axes_size(&axes)},
                          (size_t[3]){GROUP, 1, 1});
}

void clfi_arg_keep(clf_launch *launch, const clf_view *keep, const clf_view *other)
{
    const struct {
        cl_long batch, head, block;
        cl_int heads, unused;
    } strides = {keep ? keep->stride[0] : 0, keep ? keep->stride[1] : 0, keep ? keep->stride[2] : 0, keep ? (cl_int)keep->dim[1] : 1, 0};
    clfi_arg_buffer(launch, keep ? keep->buffer : other->buffer);
    clfi_arg_long(launch, keep ? keep->offset : 0);
    clfi_arg_struct(launch, "keep_strides", &strides, sizeof strides);
}
