/* SPDX-License-Identifier: MIT */
/* general.file_type: llama.cpp's numbers for what most of a GGUF file's matrices are; and names of types that tensors may have. */
#ifndef CLFI_IO_GGUF_FILE_TYPE_H
#define CLFI_IO_GGUF_FILE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/weight_type.h"

/* "q4_k_m"; NULL: a number without a name here. Static storage. */
const char *clfi_gguf_file_type_name(int64_t number);

/* A kind of file, and the types of its matrices where such files are written. */
typedef struct clf_gguf_file_type {
    int64_t number;
    const char *name;
    bool is_written;
    clf_weight_type most;   /* of most matrices */
    clf_weight_type better; /* of those that llama.cpp gives more bits: io/gguf_mix.h */
    clf_weight_type table;  /* of the table of tokens, where the head is a tensor of its own */
    clf_weight_type head;   /* of the head, or of the table that is the head too */
} clf_gguf_file_type;

/* The kind of that name, in static storage. INVALID_ARGUMENT: no such kind, or files of it are not written; the message lists those that
 * are. */
clf_status clfi_gguf_file_type_find(const char *name, const clf_gguf_file_type **out);

/* The name of a tensor's type that is not read: "q2_k"; NULL: one that is, or of no known name. Static storage. */
const char *clfi_gguf_unread_type_name(uint32_t number);

#endif
