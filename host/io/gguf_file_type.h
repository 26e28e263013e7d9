/* SPDX-License-Identifier: MIT */
/* general.file_type: llama.cpp's numbers for what most of a GGUF file's matrices are; and names of types that tensors may have. */
#ifndef CLFI_IO_GGUF_FILE_TYPE_H
#define CLFI_IO_GGUF_FILE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/weight_type.h"

/* "q4_k_m"; NULL: a number without a name here. Static storage. */
const char *clfi_gguf_file_type_name(int64_t number);

/* The number of files that are mostly of the type; false: files of it are not written. */
bool clfi_gguf_file_type_of(clf_weight_type type, uint64_t *out);

/* The name of a tensor's type that is not read: "q2_k"; NULL: one that is, or of no known name. Static storage. */
const char *clfi_gguf_unread_type_name(uint32_t number);

#endif
