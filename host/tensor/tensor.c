/* SPDX-License-Identifier: MIT */
/* The public tensor: a view that owns a reference to its buffer. */
#include "base/alloc.h"
#include "clformer/opencl.h"
#include "tensor/view.h"

struct clf_tensor {
    clf_view view;
};

const clf_view *clfi_tensor_view(const clf_tensor *tensor)
{
    return &tensor->view;
}

clf_context *clfi_tensor_context(const clf_tensor *tensor)
{
    return tensor->view.buffer->context;
}

clf_status clfi_tensor_from_view(const clf_view *view, clf_tensor **out)
{
    CLF_TRY(clfi_alloc(1, sizeof **out, "tensor", out));
    (*out)->view = *view;
    clfi_buffer_retain(view->buffer);
    return CLF_OK;
}

clf_status clfi_tensor_check(const clf_context *context, const char *what, const clf_tensor *tensor)
{
    if (!context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context is NULL");
    if (!tensor)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s is NULL", what);
    if (tensor->view.buffer->context != context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s belongs to another context", what);
    return CLF_OK;
}

clf_status clf_tensor_create(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim, clf_tensor **out)
{
    size_t count;
    clf_buffer *buffer;
    if (!context || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor create: context and out must not be NULL");
    CLF_TRY(clfi_shape_count("tensor", dtype, rank, dim, &count));
    CLF_TRY(clfi_buffer_create(context, count * clf_dtype_bytes(dtype), &buffer));
    const clf_view view = clfi_view_dense(buffer, dtype, 0, rank, dim);
    const clf_status st = clfi_tensor_from_view(&view, out);
    clfi_buffer_release(buffer);
    return st;
}

void clf_tensor_destroy(clf_tensor *tensor)
{
    if (!tensor)
        return;
    clfi_buffer_release(tensor->view.buffer);
    free(tensor);
}

/* Offset from the first to the last element a view touches, in elements; false when it does not fit. Strides are not negative. */
static bool extent(int rank, const int64_t *dim, const int64_t *stride, int64_t *out)
{
    int64_t last = 0, step;
    for (int i = 0; i < rank; i++) {
        if (dim[i] == 0)
            continue;
        if (__builtin_mul_overflow(dim[i] - 1, stride[i], &step) || __builtin_add_overflow(last, step, &last))
            return false;
    }
    *out = last;
    return true;
}

clf_status clf_tensor_view(const clf_tensor *base, int rank, const int64_t *dim, const int64_t *stride, int64_t offset, clf_tensor **out)
{
    size_t count;
    int64_t last, end;
    if (!base || !out || (rank > 0 && !stride))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor view: base, stride and out must not be NULL");
    CLF_TRY(clfi_shape_count("tensor view", base->view.dtype, rank, dim, &count));
    for (int i = 0; i < rank; i++)
        if (stride[i] < 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor view: stride[%d] = %lld is negative", i, (long long)stride[i]);
    const int64_t room = (int64_t)(base->view.buffer->size_bytes / clf_dtype_bytes(base->view.dtype));
    if (offset < 0 || !extent(rank, dim, stride, &last) || __builtin_add_overflow(base->view.offset, offset, &end) ||
        __builtin_add_overflow(end, count ? last : 0, &end) || end > room || (count && end >= room))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor view: offset %lld leaves a buffer of %lld elements", (long long)offset, (long long)room);
    clf_view view = {.buffer = base->view.buffer, .dtype = base->view.dtype, .rank = rank, .offset = base->view.offset + offset};
    for (int i = 0; i < rank; i++) {
        view.dim[i] = dim[i];
        view.stride[i] = stride[i];
    }
    return clfi_tensor_from_view(&view, out);
}

clf_status clf_tensor_permute(const clf_tensor *base, const int *axis, clf_tensor **out)
{
    unsigned seen = 0;
    if (!base || !out || (base->view.rank > 0 && !axis))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor permute: base, axis and out must not be NULL");
    clf_view view = base->view;
    for (int i = 0; i < view.rank; i++) {
        if (axis[i] < 0 || axis[i] >= view.rank || (seen >> axis[i] & 1))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor permute: axis[%d] = %d is out of range or repeats (rank %d)", i, axis[i], view.rank);
        seen |= 1u << axis[i];
        view.dim[i] = base->view.dim[axis[i]];
        view.stride[i] = base->view.stride[axis[i]];
    }
    return clfi_tensor_from_view(&view, out);
}

clf_status clf_tensor_slice(const clf_tensor *base, int axis, int64_t start, int64_t count, int64_t step, clf_tensor **out)
{
    if (!base || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor slice: base and out must not be NULL");
    clf_view view = base->view;
    if (axis < 0 || axis >= view.rank)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor slice: axis %d, rank %d", axis, view.rank);
    const int64_t size = view.dim[axis];
    if (start < 0 || count < 0 || step < 1 || start > size || (count > 0 && (count - 1 > (size - 1 - start) / step || start >= size)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor slice: %lld elements from %lld by %lld leave axis %d of size %lld", (long long)count,
                 (long long)start, (long long)step, axis, (long long)size);
    if (count > 0)
        view.offset += start * view.stride[axis];
    view.dim[axis] = count;
    view.stride[axis] *= count > 1 ? step : 1;
    return clfi_tensor_from_view(&view, out);
}

clf_status clf_tensor_reshape(const clf_tensor *base, int rank, const int64_t *dim, clf_tensor **out)
{
    size_t count;
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    if (!base || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor reshape: base and out must not be NULL");
    const clf_view *old = &base->view;
    CLF_TRY(clfi_shape_count("tensor reshape", old->dtype, rank, dim, &count));
    if (count != clf_tensor_count(base))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor reshape: %s has %zu elements, %s has %zu", clfi_shape_text(old->rank, old->dim, have),
                 clf_tensor_count(base), clfi_shape_text(rank, dim, want), count);
    clf_view view = clfi_view_dense(old->buffer, old->dtype, old->offset, rank, dim);
    if (count > 0 && !clfi_view_is_dense(old)) {
        /* Walk both shapes from the right; a new dimension may split an old run of axes that is itself evenly strided. */
        int o = old->rank - 1, n = rank - 1;
        while (n >= 0 || o >= 0) {
            while (o >= 0 && old->dim[o] == 1)
                o--;
            while (n >= 0 && dim[n] == 1)
                n--;
            if (o < 0 || n < 0)
                break;
            const int64_t unit = old->stride[o];
            int64_t old_size = old->dim[o], new_size = dim[n];
            view.stride[n] = unit;
            while (old_size != new_size) {
                if (old_size < new_size) {
                    if (old->dim[--o] != 1 && old->stride[o] != unit * old_size)
                        CLF_FAIL(CLF_INVALID_ARGUMENT, "tensor reshape: the strides of %s do not allow %s without a copy",
                                 clfi_shape_text(old->rank, old->dim, have), clfi_shape_text(rank, dim, want));
                    old_size *= old->dim[o];
                } else {
                    view.stride[--n] = unit * new_size;
                    new_size *= dim[n];
                }
            }
            o--;
            n--;
        }
    }
    return clfi_tensor_from_view(&view, out);
}

clf_dtype clf_tensor_dtype(const clf_tensor *tensor)
{
    return tensor ? tensor->view.dtype : CLF_DTYPE_COUNT;
}

int clf_tensor_rank(const clf_tensor *tensor)
{
    return tensor ? tensor->view.rank : 0;
}

const int64_t *clf_tensor_dim(const clf_tensor *tensor)
{
    return tensor ? tensor->view.dim : NULL;
}

const int64_t *clf_tensor_stride(const clf_tensor *tensor)
{
    return tensor ? tensor->view.stride : NULL;
}

size_t clf_tensor_count(const clf_tensor *tensor)
{
    return tensor ? (size_t)clfi_view_count(&tensor->view) : 0;
}

cl_mem clf_tensor_opencl(const clf_tensor *tensor, size_t *out_offset_bytes)
{
    if (out_offset_bytes)
        *out_offset_bytes = tensor ? (size_t)tensor->view.offset * clf_dtype_bytes(tensor->view.dtype) : 0;
    return tensor ? tensor->view.buffer->memory : NULL;
}
