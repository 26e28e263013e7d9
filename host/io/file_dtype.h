/* SPDX-License-Identifier: MIT */
/* Element types as files store them, and their conversion to float and double. There are more than devices compute with, so readers of
 * weights and arrays convert. */
#ifndef CLFI_IO_FILE_DTYPE_H
#define CLFI_IO_FILE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* id, bytes, safetensors name, NumPy kind and size (without byte order; "" = NumPy has none, or it is not read). In the order of the
 * safetensors reference implementation, which writes the last ones first: element sizes never fall. */
#define CLFI_FILE_DTYPE_MAP(X)       \
    X(BOOL, 1, "BOOL", "b1")         \
    X(U8, 1, "U8", "u1")             \
    X(I8, 1, "I8", "i1")             \
    X(F8_E5M2, 1, "F8_E5M2", "")     \
    X(F8_E4M3, 1, "F8_E4M3", "")     \
    X(F8_E8M0, 1, "F8_E8M0", "")     \
    X(I16, 2, "I16", "i2")           \
    X(U16, 2, "U16", "u2")           \
    X(F16, 2, "F16", "f2")           \
    X(BF16, 2, "BF16", "")           \
    X(I32, 4, "I32", "i4")           \
    X(U32, 4, "U32", "u4")           \
    X(F32, 4, "F32", "f4")           \
    X(C64, 8, "C64", "")             \
    X(F64, 8, "F64", "f8")           \
    X(I64, 8, "I64", "i8")           \
    X(U64, 8, "U64", "u8")

typedef enum clf_file_dtype {
#define X(id, bytes, name, numpy) CLF_FILE_##id,
    CLFI_FILE_DTYPE_MAP(X)
#undef X
        CLF_FILE_DTYPE_COUNT
} clf_file_dtype;

size_t clfi_file_dtype_bytes(clf_file_dtype dtype);

/* The name that safetensors uses, for example "BF16". Static storage. */
const char *clfi_file_dtype_name(clf_file_dtype dtype);

/* NumPy's kind and size, for example "f4"; "" when NumPy has no such type. Static storage. */
const char *clfi_file_dtype_numpy(clf_file_dtype dtype);

/* The dtype of a safetensors name, or of a NumPy kind and size. False when there is none. */
bool clfi_file_dtype_from_name(const char *name, clf_file_dtype *out);
bool clfi_file_dtype_from_numpy(const char *kind_and_size, clf_file_dtype *out);

/* The bytes that a dtype and shape need; false when a dim is negative or the product of those that are not 0 does not fit. */
bool clfi_file_bytes(clf_file_dtype dtype, int rank, const int64_t *dim, size_t *out);

/* `count` elements, `step_bytes` apart (any alignment; 0 repeats one element), each byte-reversed first when `swapped`, to out[0..count).
 * Integers and doubles round to nearest even; BOOL gives 0 or 1. UNSUPPORTED: the 8-bit floats and C64. */
clf_status clfi_file_to_f32(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, float *out);
clf_status clfi_file_to_f64(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, double *out);

#endif
