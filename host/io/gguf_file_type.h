/* SPDX-License-Identifier: MIT */
/* general.file_type: llama.cpp's numbers for the type that most matrices of a GGUF file have; and names of the types of tensors. */
#ifndef CLFI_IO_GGUF_FILE_TYPE_H
#define CLFI_IO_GGUF_FILE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/weight_type.h"

/* Name of a general.file_type, for example "q4_k_m"; NULL: unknown number. Static storage. */
const char *clfi_gguf_file_type_name(int64_t number);

/* A kind of file, and the types of its matrices where such files are written. */
typedef struct clf_gguf_file_type {
    int64_t number;
    const char *name;
    bool is_written;
    clf_weight_type most;   /* of most matrices */
    clf_weight_type better; /* of those that llama.cpp gives more bits: io/gguf_mix.h */
    clf_weight_type table;  /* of the token embedding table, where the head is a tensor of its own */
    clf_weight_type head;   /* of the head, or of the table that is the head too */
} clf_gguf_file_type;

/* The kind of file of that name, in static storage. INVALID_ARGUMENT: unknown, or a kind that is not written; the message lists those that
 * are written. */
clf_status clfi_gguf_file_type_find(const char *name, const clf_gguf_file_type **out);

/* Name of a type of tensors that is not read, for example "q2_k"; NULL: a type that is read, or an unknown number. Static storage. */
const char *clfi_gguf_unread_type_name(uint32_t number);

#endif
