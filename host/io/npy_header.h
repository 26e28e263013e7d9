/* SPDX-License-Identifier: MIT */
/* The text header of a .npy file: a Python dictionary literal with the keys descr, fortran_order and shape. */
#ifndef CLFI_IO_NPY_HEADER_H
#define CLFI_IO_NPY_HEADER_H

#include "io/npy.h"

typedef struct npy_header {
    clf_file_dtype dtype;
    bool swapped;
    bool fortran;
    int rank;
    int64_t dim[CLFI_NPY_MAX_RANK];
} npy_header;

/* Parses text[0..size). `name` is the file's name for messages. FORMAT and UNSUPPORTED as clfi_npy_open. */
clf_status clfi_npy_parse_header(const char *text, size_t size, const char *name, npy_header *out);

#endif
