/* SPDX-License-Identifier: MIT */
/* Launches that are noted instead of enqueued, to become one launch (runtime/chain.h). */
#ifndef CLFI_RUNTIME_CHAIN_RECORD_H
#define CLFI_RUNTIME_CHAIN_RECORD_H

#include "runtime/buffer.h"
#include "runtime/program_build.h"

typedef struct clf_chain_argument {
    const char *type;   /* of the value, a literal; NULL: a buffer */
    clf_buffer *buffer; /* NULL: a null pointer */
    size_t at, size;    /* the value in the record's bytes */
} clf_chain_argument;

typedef struct clf_chain_step {
    size_t part; /* which kernel */
    size_t first, arguments;
    size_t groups[3], local[3];
} clf_chain_step;

typedef struct clf_chain_record clf_chain_record;

struct clf_chain_record {
    clf_program_parts parts; /* the kernels, each once; they stay from one recording to the next */
    clf_chain_step *steps;
    size_t step_count, step_capacity;
    clf_chain_argument *arguments;
    size_t argument_count, argument_capacity;
    clf_str bytes;     /* values */
    clf_buffer **held; /* the arguments' buffers, each once, retained */
    size_t held_count, held_capacity;
    uint64_t number; /* of the recording, never that of another */
};

/* Forgets the steps; buffers are let go. */
void clfi_chain_record_clear(clf_chain_record *record);
void clfi_chain_record_free(clf_chain_record *record);

/* A new recording. */
void clfi_chain_record_start(clf_chain_record *record);

/* Begins a step. *out_is_taken false: the kernel cannot be part of a chain. */
clf_status clfi_chain_note(clf_chain_record *record, const clf_kernel_spec *spec, bool *out_is_taken);

/* The next argument of the step that was begun. */
clf_status clfi_chain_note_value(clf_chain_record *record, const char *type, const void *value, size_t size);
clf_status clfi_chain_note_buffer(clf_chain_record *record, clf_buffer *buffer);

/* Ends the step. A dimension without groups: there is nothing to do, and no step. */
clf_status clfi_chain_note_end(clf_chain_record *record, cl_uint dimensions, const size_t *groups, const size_t *local);

/* Where an argument of `size` bytes lies in a step's arguments when `offset` bytes are taken: vectors are loaded from there. */
size_t clfi_chain_place(size_t offset, size_t size);

#endif
