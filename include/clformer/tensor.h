/* SPDX-License-Identifier: MIT */
/* Tensors: typed, strided views of device memory. */
#ifndef CLFORMER_TENSOR_H
#define CLFORMER_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "clformer/context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CLF_MAX_RANK = 16 };

/* id, bytes, OpenCL C storage type, suffix of the kernels' load and store functions, name */
#define CLF_DTYPE_MAP(X)                       \
    X(F32, 4, "float", "f32", "float32")       \
    X(F16, 2, "half", "f16", "float16")        \
    X(BF16, 2, "ushort", "bf16", "bfloat16")   \
    X(I32, 4, "int", "i32", "int32")           \
    X(U8, 1, "uchar", "u8", "uint8")

typedef enum clf_dtype {
#define CLF_ENUM_ROW(id, bytes, cl, suffix, name) CLF_##id,
    CLF_DTYPE_MAP(CLF_ENUM_ROW)
#undef CLF_ENUM_ROW
        CLF_DTYPE_COUNT
} clf_dtype;

CLF_API size_t clf_dtype_bytes(clf_dtype dtype);     /* 0 for an unknown value */
CLF_API const char *clf_dtype_name(clf_dtype dtype); /* "float32"; never NULL */

typedef struct clf_tensor clf_tensor;

/* New dense row-major tensor of shape dim[0..rank), contents undefined. rank 0 is one element; a dimension may be 0.
 * INVALID_ARGUMENT: rank outside 0..16, a negative dimension, a product that does not fit. OUT_OF_MEMORY. *out: the caller destroys it. */
CLF_API CLF_NODISCARD clf_status clf_tensor_create(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim, clf_tensor **out);

/* clf_tensor_create, filled from host data in C order with elements of `dtype` (f16 and bf16 as their 16 bits). Synchronous. */
CLF_API CLF_NODISCARD clf_status clf_tensor_create_from(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim,
                                                        const void *data, clf_tensor **out);

/* A view of the same memory: element (i0, i1, ...) is element offset + sum i_k * stride[k] of `base`'s own first element. Strides in
 * elements, 0 repeats; negative strides are refused. The view keeps the memory alive. INVALID_ARGUMENT: it would leave the memory. */
CLF_API CLF_NODISCARD clf_status clf_tensor_view(const clf_tensor *base, int rank, const int64_t *dim, const int64_t *stride,
                                                 int64_t offset, clf_tensor **out);

/* Common views. permute: axes in the order axis[0..rank). slice: `count` elements start, start+step, ... along an axis, step >= 1. reshape:
 * the same elements in another shape; INVALID_ARGUMENT where strides do not allow it without a copy. */
CLF_API CLF_NODISCARD clf_status clf_tensor_permute(const clf_tensor *base, const int *axis, clf_tensor **out);
CLF_API CLF_NODISCARD clf_status clf_tensor_slice(const clf_tensor *base, int axis, int64_t start, int64_t count, int64_t step,
                                                  clf_tensor **out);
CLF_API CLF_NODISCARD clf_status clf_tensor_reshape(const clf_tensor *base, int rank, const int64_t *dim, clf_tensor **out);

CLF_API void clf_tensor_destroy(clf_tensor *tensor);

CLF_API clf_dtype clf_tensor_dtype(const clf_tensor *tensor); /* CLF_DTYPE_COUNT of NULL */
CLF_API int clf_tensor_rank(const clf_tensor *tensor);
CLF_API const int64_t *clf_tensor_dim(const clf_tensor *tensor);    /* borrowed, rank values */
CLF_API const int64_t *clf_tensor_stride(const clf_tensor *tensor); /* borrowed, rank values, in elements */
CLF_API size_t clf_tensor_count(const clf_tensor *tensor);          /* number of elements */

/* All elements in C order, in the tensor's own type; size_bytes must be exactly count x element size (INVALID_ARGUMENT). Synchronous.
 * Writing to a tensor with a 0 stride on a dimension larger than 1 is refused. */
CLF_API CLF_NODISCARD clf_status clf_tensor_write(clf_tensor *tensor, const void *data, size_t size_bytes);
CLF_API CLF_NODISCARD clf_status clf_tensor_read(const clf_tensor *tensor, void *data, size_t size_bytes);

/* The same as float32 values, converted on the host: f16 and bf16 round to nearest even; for i32 and u8 only reading is defined. */
CLF_API CLF_NODISCARD clf_status clf_tensor_write_f32(clf_tensor *tensor, const float *data, size_t count);
CLF_API CLF_NODISCARD clf_status clf_tensor_read_f32(const clf_tensor *tensor, float *data, size_t count);

#ifdef __cplusplus
}
#endif
#endif
