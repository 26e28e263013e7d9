/* SPDX-License-Identifier: MIT */
/* Reads .npy files: preamble, layout, and conversion in C order. */
#include "io/npy.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "io/npy_header.h"

static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum {
    VERSION_BYTES = 2,
    MAX_HEADER = 1 << 20 /* 64 dimensions need less than two thousand bytes */
};

/* Finds the header's text and the data after it. */
static clf_status split(const unsigned char *bytes, size_t size, const char *name, const char **text, size_t *text_bytes)
{
    size_t at = sizeof magic + VERSION_BYTES;
    if (size < at || memcmp(bytes, magic, sizeof magic) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected the magic bytes of a .npy file, found %s", name, size < at ? "a shorter file" : "other bytes");
    const unsigned major = bytes[sizeof magic], minor = bytes[sizeof magic + 1];
    if (major < 1 || major > 3 || minor != 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected version 1.0, 2.0 or 3.0, found %u.%u", name, major, minor);
    const size_t length_bytes = major == 1 ? 2 : 4;
    if (size - at < length_bytes)
        CLF_FAIL(CLF_FORMAT, "%s: expected a header size of %zu bytes, found %zu", name, length_bytes, size - at);
    size_t length = 0;
    for (size_t i = 0; i < length_bytes; i++)
        length |= (size_t)bytes[at + i] << 8 * i;
    at += length_bytes;
    if (length > size - at || length > MAX_HEADER)
        CLF_FAIL(CLF_FORMAT, "%s: header size: expected at most %zu bytes, found %zu", name,
                 size - at < MAX_HEADER ? size - at : (size_t)MAX_HEADER, length);
    *text = (const char *)bytes + at;
    *text_bytes = length;
    return CLF_OK;
}

/* Sets the strides by C or Fortran order. The products fit because the array's bytes do, with sizes of 0 counted as 1. */
static void lay_out(const npy_header *header, clf_npy *npy)
{
    int64_t step = 1, c_step = 1;
    npy->contiguous = true;
    for (int i = 0; i < npy->rank; i++) {
        const int axis = header->fortran ? i : npy->rank - 1 - i;
        npy->dim[axis] = header->dim[axis];
        npy->stride[axis] = step;
        step *= header->dim[axis] ? header->dim[axis] : 1;
    }
    for (int axis = npy->rank - 1; axis >= 0; axis--) {
        if (npy->dim[axis] > 1 && npy->stride[axis] != c_step)
            npy->contiguous = false;
        c_step *= npy->dim[axis] ? npy->dim[axis] : 1;
    }
}

clf_status clfi_npy_parse(const void *data, size_t size, const char *name, clf_npy *out)
{
    const char *text = NULL;
    size_t text_bytes = 0, need = 0;
    npy_header header = {0};
    CLF_TRY(split(data, size, name, &text, &text_bytes));
    CLF_TRY(clfi_npy_parse_header(text, text_bytes, name, &header));
    if (!clfi_file_bytes(header.dtype, header.rank, header.dim, &need))
        CLF_FAIL(CLF_FORMAT, "%s: header: \"shape\": it takes more bytes than this machine can address", name);
    const unsigned char *elements = (const unsigned char *)text + text_bytes;
    const size_t found = size - (size_t)(elements - (const unsigned char *)data);
    if (found != need)
        CLF_FAIL(CLF_FORMAT, "%s: expected %zu bytes of %s data for its shape, found %zu", name, need, clfi_file_dtype_numpy(header.dtype),
                 found);
    clf_npy npy = {.dtype = header.dtype, .swapped = header.swapped, .rank = header.rank};
    lay_out(&header, &npy);
    npy.count = need / clfi_file_dtype_bytes(header.dtype);
    npy.data = npy.count ? elements : NULL;
    *out = npy;
    return CLF_OK;
}

clf_status clfi_npy_open(const char *path, clf_npy *out)
{
    clf_file_map *map;
    CLF_TRY(clfi_file_map(path, &map));
    clf_npy npy;
    const clf_status st = clfi_npy_parse(map->data, map->size, path, &npy);
    if (st != CLF_OK) {
        clfi_file_map_release(map);
        return st;
    }
    npy.map = map;
    *out = npy;
    return CLF_OK;
}

void clfi_npy_close(clf_npy *npy)
{
    clfi_file_map_release(npy->map);
    *npy = (clf_npy){0};
}

typedef clf_status convert_function(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, void *out);

static clf_status convert_f32(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, void *out)
{
    return clfi_file_to_f32(dtype, swapped, data, step_bytes, count, out);
}

static clf_status convert_f64(clf_file_dtype dtype, bool swapped, const void *data, ptrdiff_t step_bytes, size_t count, void *out)
{
    return clfi_file_to_f64(dtype, swapped, data, step_bytes, count, out);
}

/* Converts runs along the last axis, from the C-order position `first`; size: bytes of an output element. */
static clf_status convert_runs(const clf_npy *npy, size_t first, size_t count, convert_function *convert, unsigned char *out, size_t size)
{
    const size_t bytes = clfi_file_dtype_bytes(npy->dtype);
    const int last = npy->rank - 1;
    while (count) {
        size_t offset = 0, rest = first;
        for (int axis = last; axis >= 0; axis--) {
            offset += rest % (size_t)npy->dim[axis] * (size_t)npy->stride[axis];
            rest /= (size_t)npy->dim[axis];
        }
        const size_t left = (size_t)npy->dim[last] - first % (size_t)npy->dim[last];
        const size_t run = left < count ? left : count;
        CLF_TRY(convert(npy->dtype, npy->swapped, (const unsigned char *)npy->data + offset * bytes,
                        (ptrdiff_t)((size_t)npy->stride[last] * bytes), run, out));
        out += run * size;
        first += run;
        count -= run;
    }
    return CLF_OK;
}

static clf_status read_range(const clf_npy *npy, size_t first, size_t count, convert_function *convert, void *out, size_t size)
{
    const size_t bytes = clfi_file_dtype_bytes(npy->dtype);
    if (first > npy->count || count > npy->count - first)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "array of %zu elements: cannot read %zu from %zu", npy->count, count, first);
    if (count == 0)
        return CLF_OK;
    if (npy->contiguous)
        CLF_TRY(convert(npy->dtype, npy->swapped, (const unsigned char *)npy->data + first * bytes, (ptrdiff_t)bytes, count, out));
    else
        CLF_TRY(convert_runs(npy, first, count, convert, out, size));
    return npy->map ? clfi_file_map_check(npy->map) : CLF_OK;
}

clf_status clfi_npy_read_f32(const clf_npy *npy, size_t first, size_t count, float *out)
{
    return read_range(npy, first, count, convert_f32, out, sizeof *out);
}

clf_status clfi_npy_read_f64(const clf_npy *npy, size_t first, size_t count, double *out)
{
    return read_range(npy, first, count, convert_f64, out, sizeof *out);
}
