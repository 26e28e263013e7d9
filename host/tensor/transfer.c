/* SPDX-License-Identifier: MIT */
/* Moves elements between host and device: dense tensors in one transfer, strided ones through the span that they touch. */
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"
#include "tensor/view.h"

/* Elements from the first to one past the last that the view touches; 0 when it is empty. */
static size_t span_count(const clf_view *view)
{
    int64_t last = 0;
    for (int i = 0; i < view->rank; i++) {
        if (view->dim[i] == 0)
            return 0;
        last += (view->dim[i] - 1) * view->stride[i];
    }
    return (size_t)last + 1;
}

/* Copies between a strided span and C order, one innermost row at a time. */
static void copy_strided(const clf_view *view, char *span, char *dense, bool to_span)
{
    const size_t bytes = clf_dtype_bytes(view->dtype);
    const int inner = view->rank - 1;
    const int64_t columns = view->rank ? view->dim[inner] : 1, step = view->rank ? view->stride[inner] : 0;
    int64_t index[CLF_MAX_RANK] = {0}, at = 0;
    for (;;) {
        for (int64_t j = 0; j < columns; j++, dense += bytes) {
            char *element = span + (size_t)(at + j * step) * bytes;
            memcpy(to_span ? element : dense, to_span ? dense : element, bytes);
        }
        int axis = inner - 1;
        for (; axis >= 0; axis--) {
            at += view->stride[axis];
            if (++index[axis] < view->dim[axis])
                break;
            at -= view->stride[axis] * view->dim[axis];
            index[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}

static clf_status check_size(const char *verb, const clf_view *view, const void *data, size_t size_bytes)
{
    const size_t want = (size_t)clfi_view_count(view) * clf_dtype_bytes(view->dtype);
    if (!data && want)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor %s: data is NULL", verb);
    if (size_bytes != want)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor %s: %zu bytes given, the tensor has %zu", verb, size_bytes, want);
    return CLF_OK;
}

clf_status clf_tensor_read(const clf_tensor *tensor, void *data, size_t size_bytes)
{
    if (!tensor)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor read: tensor is NULL");
    const clf_view *view = clfi_tensor_view(tensor);
    const size_t bytes = clf_dtype_bytes(view->dtype);
    CLF_TRY(check_size("read", view, data, size_bytes));
    if (size_bytes == 0)
        return CLF_OK;
    if (clfi_view_is_dense(view))
        return clfi_buffer_read(view->buffer, (size_t)view->offset * bytes, data, size_bytes);
    char *span;
    const size_t count = span_count(view);
    CLF_TRY(clfi_alloc(count, bytes, "tensor read", &span));
    const clf_status st = clfi_buffer_read(view->buffer, (size_t)view->offset * bytes, span, count * bytes);
    if (st == CLF_OK)
        copy_strided(view, span, data, false);
    free(span);
    return st;
}

clf_status clf_tensor_write(clf_tensor *tensor, const void *data, size_t size_bytes)
{
    if (!tensor)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor write: tensor is NULL");
    const clf_view *view = clfi_tensor_view(tensor);
    const size_t bytes = clf_dtype_bytes(view->dtype);
    CLF_TRY(check_size("write", view, data, size_bytes));
    const int repeated = clfi_view_repeated_axis(view);
    if (repeated >= 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor write: axis %d has stride 0 and size %lld", repeated, (long long)view->dim[repeated]);
    if (view->buffer->map)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor write: the tensor is a read-only mapping of host memory");
    if (size_bytes == 0)
        return CLF_OK;
    if (clfi_view_is_dense(view))
        return clfi_buffer_write(view->buffer, (size_t)view->offset * bytes, data, size_bytes);
    char *span;
    const size_t count = span_count(view);
    CLF_TRY(clfi_alloc(count, bytes, "tensor write", &span));
    clf_status st = clfi_buffer_read(view->buffer, (size_t)view->offset * bytes, span, count * bytes); /* elements in between stay */
    if (st == CLF_OK) {
        copy_strided(view, span, (char *)data, true);
        st = clfi_buffer_write(view->buffer, (size_t)view->offset * bytes, span, count * bytes);
    }
    free(span);
    return st;
}

static clf_status check_count(const char *verb, const clf_tensor *tensor, const void *data, size_t count)
{
    if (!tensor || (!data && count))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor %s: tensor and data must not be NULL", verb);
    if (count != clf_tensor_count(tensor))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor %s: %zu values given, the tensor has %zu", verb, count, clf_tensor_count(tensor));
    return CLF_OK;
}

clf_status clf_tensor_write_f32(clf_tensor *tensor, const float *data, size_t count)
{
    CLF_TRY(check_count("write", tensor, data, count));
    const clf_dtype dtype = clf_tensor_dtype(tensor);
    if (dtype == CLF_F32)
        return clf_tensor_write(tensor, data, count * sizeof *data);
    if (dtype != CLF_F16 && dtype != CLF_BF16)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor write: float values into a tensor of %s", clf_dtype_name(dtype));
    uint16_t *bits;
    CLF_TRY(clfi_alloc(count, sizeof *bits, "tensor write", &bits));
    (dtype == CLF_F16 ? clfi_f16_from_f32_array : clfi_bf16_from_f32_array)(data, count, bits);
    const clf_status st = clf_tensor_write(tensor, bits, count * sizeof *bits);
    free(bits);
    return st;
}

clf_status clf_tensor_read_f32(const clf_tensor *tensor, float *data, size_t count)
{
    CLF_TRY(check_count("read", tensor, data, count));
    const clf_dtype dtype = clf_tensor_dtype(tensor);
    if (dtype == CLF_F32)
        return clf_tensor_read(tensor, data, count * sizeof *data);
    void *raw;
    CLF_TRY(clfi_alloc(count, clf_dtype_bytes(dtype), "tensor read", &raw));
    const clf_status st = clf_tensor_read(tensor, raw, count * clf_dtype_bytes(dtype));
    if (st == CLF_OK && (dtype == CLF_F16 || dtype == CLF_BF16))
        (dtype == CLF_F16 ? clfi_f32_from_f16_array : clfi_f32_from_bf16_array)(raw, count, data);
    else
        for (size_t i = 0; st == CLF_OK && i < count; i++)
            data[i] = dtype == CLF_I32 ? (float)((const int32_t *)raw)[i] : (float)((const uint8_t *)raw)[i];
    free(raw);
    return st;
}

clf_status clf_tensor_create_from(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim, const void *data, clf_tensor **out)
{
    clf_tensor *tensor;
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor create: context and out must not be NULL");
    CLF_TRY(clf_tensor_create(context, dtype, rank, dim, &tensor));
    const clf_status st = clf_tensor_write(tensor, data, clf_tensor_count(tensor) * clf_dtype_bytes(dtype));
    if (st != CLF_OK) {
        clf_tensor_destroy(tensor);
        return st;
    }
    *out = tensor;
    return CLF_OK;
}
