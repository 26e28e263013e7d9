/* SPDX-License-Identifier: MIT */
/* Element types of files: one table, and one loader for each type that can be converted. */
#include "io/file_dtype.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files are read in place: a little-endian host is needed"
#endif

typedef struct file_dtype_row {
    size_t bytes;
    const char *name;
    const char *numpy;
} file_dtype_row;

static const file_dtype_row rows[] = {
#define X(id, bytes, name, numpy) {bytes, name, numpy},
    CLFI_FILE_DTYPE_MAP(X)
#undef X
};
_Static_assert(COUNT(rows) == CLF_FILE_DTYPE_COUNT, "one row per dtype");

size_t clfi_file_dtype_bytes(clf_file_dtype dtype)
{
    return rows[dtype].bytes;
}

const char *clfi_file_dtype_name(clf_file_dtype dtype)
{
    return rows[dtype].name;
}

const char *clfi_file_dtype_numpy(clf_file_dtype dtype)
{
    return rows[dtype].numpy;
}

bool clfi_file_dtype_from_name(const char *name, clf_file_dtype *out)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(name, rows[i].name) == 0) {
            *out = (clf_file_dtype)i;
            return true;
        }
    }
    return false;
}

bool clfi_file_dtype_from_numpy(const char *kind_and_size, clf_file_dtype *out)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].numpy[0] && strcmp(kind_and_size, rows[i].numpy) == 0) {
            *out = (clf_file_dtype)i;
            return true;
        }
    }
    return false;
}

bool clfi_file_bytes(clf_file_dtype dtype, int rank, const int64_t *dim, size_t *out)
{
    /* Dimensions other than 0 must fit even beside a 0: strides are made of them. */
    size_t all = clfi_file_dtype_bytes(dtype);
    bool empty = false;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0 || (uint64_t)(size_t)dim[i] != (uint64_t)dim[i])
            return false;
        if (dim[i] == 0)
            empty = true;
        else if (!clfi_mul_size(all, (size_t)dim[i], &all))
            return false;
    }
    if (all > PTRDIFF_MAX)
        return false;
    *out = empty ? 0 : all;
    return true;
}

/* The element's bits, in host order, in the low bytes of a 64-bit word. */
static uint64_t load_bits(const unsigned char *from, size_t bytes, bool swapped)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes; i++)
        bits |= (uint64_t)from[swapped ? bytes - 1 - i : i] << 8 * i;
    return bits;
}

static double f64_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* LOAD(bits) for every convertible dtype: the value of the narrowest C type that holds it exactly. */
#define LOADERS(X)                                       \
    X(F64, 8, f64_from_bits(bits))                       \
    X(F32, 4, clfi_f32_from_bits((uint32_t)bits))        \
    X(F16, 2, clfi_f32_from_f16((uint16_t)bits))         \
    X(BF16, 2, clfi_f32_from_bf16((uint16_t)bits))       \
    X(I64, 8, (int64_t)bits)                             \
    X(I32, 4, (int32_t)(uint32_t)bits)                   \
    X(I16, 2, (int16_t)(uint16_t)bits)                   \
    X(I8, 1, (int8_t)(uint8_t)bits)                      \
    X(U64, 8, bits)                                      \
    X(U32, 4, (uint32_t)bits)                            \
    X(U16, 2, (uint16_t)bits)                            \
    X(U8, 1, (uint8_t)bits)                              \
    X(BOOL, 1, (int)((uint8_t)bits != 0))

/* Elements of any type one by one, as values of type T. Returns from the function that it stands in. */
#define CONVERT(T)                                                                                                    \
    const unsigned char *from = data;                                                                                 \
    switch (dtype) {                                                                                                  \
        LOADERS(CONVERT_CASE_##T)                                                                                     \
    default:                                                                                                          \
        CLF_FAIL(CLF_UNSUPPORTED, "elements of type %s cannot be converted to float32", clfi_file_dtype_name(dtype)); \
    }
#define CONVERT_CASE(T, id, bytes, value)                                                       \
    case CLF_FILE_##id:                                                                         \
        for (size_t i = 0; i < count; i++) {                                                    \
            const uint64_t bits = load_bits(from + (ptrdiff_t)i * step_bytes, bytes, swapped);  \
            out[i] = (T)(value);                                                                \
        }                                                                                       \
        return CLF_OK;
#define CONVERT_CASE_float(id, bytes, value) CONVERT_CASE(float, id, bytes, value)
#define CONVERT_CASE_double(id, bytes, value) CONVERT_CASE(double, id, bytes, value)

clf_status clfi_file_to_f32(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, float *out)
{
    if (count && !swapped && step_bytes == (ptrdiff_t)rows[dtype].bytes) { /* the bulk of every model */
        switch (dtype) {
        case CLF_FILE_F32:
            memcpy(out, data, count * sizeof(float));
            return CLF_OK;
        case CLF_FILE_F16:
            clfi_f32_from_f16_array(data, count, out);
            return CLF_OK;
        case CLF_FILE_BF16:
            clfi_f32_from_bf16_array(data, count, out);
            return CLF_OK;
        default:
            break;
        }
    }
    CONVERT(float)
}

clf_status clfi_file_to_f64(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, double *out)
{
    CONVERT(double)
}
