/* SPDX-License-Identifier: MIT */
/* Checks masks and brings them to the shape of the scores that they apply to. */
#include "op/mask.h"

#include <stdio.h>

#include "base/options.h"

CLFI_OPTIONS(clf_attention_masks, CLF_ATTENTION_MASKS_INIT)

/* Returns the axis of the scores that axis `axis` of the mask applies to. */
static int axis_of(const clf_mask_form *form, int rank, int axis)
{
    for (int i = 0; i < rank; i++)
        if (form->map[i] == axis)
            return i;
    return -1;
}

/* Writes the expected shape, "[2 or 1,3]"; "or 1" follows sizes that may be repeated. */
static void expected_shape(const clf_mask_form *form, const clf_view *scores, char *out, size_t size)
{
    int length = snprintf(out, size, "[");
    for (int i = 0; i < form->rank; i++) {
        const int64_t want = scores->dim[axis_of(form, scores->rank, i)];
        const bool may_be_one = want != 1 && (form->repeats & 1u << i);
        length += snprintf(out + length, size - (size_t)length, "%s%lld%s", i ? "," : "", (long long)want, may_be_one ? " or 1" : "");
    }
    snprintf(out + length, size - (size_t)length, "]");
}

clf_status clfi_mask_bind(const clf_context *context, const char *op, const clf_mask_form *form, const clf_tensor *tensor,
                          const clf_view *scores, clf_view *out)
{
    char name[96], found[CLFI_SHAPE_TEXT_BYTES], expected[2 * CLFI_SHAPE_TEXT_BYTES];
    *out = (clf_view){.buffer = NULL};
    if (!tensor)
        return CLF_OK;
    snprintf(name, sizeof name, "%s %s", op, form->name);
    CLF_TRY(clfi_tensor_check(context, name, tensor));
    const clf_view *view = clfi_tensor_view(tensor);
    if (view->dtype != form->dtype)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: %s is %s, expected %s", name, clf_dtype_name(view->dtype), clf_dtype_name(form->dtype));
    bool fits = view->rank == form->rank;
    for (int i = 0; fits && i < form->rank; i++)
        fits = view->dim[i] == scores->dim[axis_of(form, scores->rank, i)] || (view->dim[i] == 1 && (form->repeats & 1u << i));
    if (!fits) {
        expected_shape(form, scores, expected, sizeof expected);
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s is %s, expected %s", name, clfi_shape_text(view->rank, view->dim, found), expected);
    }
    clf_view wide = {.buffer = view->buffer, .dtype = view->dtype, .rank = scores->rank, .offset = view->offset};
    for (int i = 0; i < scores->rank; i++) {
        wide.dim[i] = scores->dim[i];
        if (form->map[i] >= 0 && view->dim[form->map[i]] != 1)
            wide.stride[i] = view->stride[form->map[i]];
    }
    *out = wide;
    return CLF_OK;
}

clf_status clfi_lengths_bind(const clf_context *context, const char *op, const clf_tensor *lengths, const clf_view *scores, int batch_axis,
                             int query_axis, clf_view *out)
{
    char found[CLFI_SHAPE_TEXT_BYTES];
    clf_mask_form form = {"lengths", CLF_I32, lengths ? clf_tensor_rank(lengths) : 0, {0}, 0};
    if (lengths && (form.rank < 1 || form.rank > 2) && clf_tensor_dtype(lengths) == CLF_I32) {
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s lengths is %s, expected [%lld] or [%lld,%lld]", op,
                 clfi_shape_text(form.rank, clf_tensor_dim(lengths), found), (long long)scores->dim[batch_axis],
                 (long long)scores->dim[batch_axis], (long long)scores->dim[query_axis]);
    }
    for (int i = 0; i < scores->rank; i++)
        form.map[i] = i == batch_axis ? 0 : i == query_axis && form.rank == 2 ? 1 : -1;
    return clfi_mask_bind(context, op, &form, lengths, scores, out);
}

clf_status clfi_masks_read(const char *op, const clf_attention_masks *given, clf_attention_masks *out)
{
    CLF_TRY(clf_attention_masks_read(given, out));
    if ((unsigned)out->empty_rows > CLF_EMPTY_ROWS_UNIFORM)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: %s: policy %d for empty rows is unknown", op, (int)out->empty_rows);
    return CLF_OK;
}
