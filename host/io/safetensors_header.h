/* SPDX-License-Identifier: MIT */
/* The header of one safetensors file: every check on it, and the tensors it declares. */
#ifndef CLFI_IO_SAFETENSORS_HEADER_H
#define CLFI_IO_SAFETENSORS_HEADER_H

#include "io/safetensors_file.h"

/* Checks the shard's bytes and appends its tensors to file->tensors. */
clf_status clfi_safetensors_read_header(clf_safetensors *file, size_t shard);

#endif
