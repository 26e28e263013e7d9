/* SPDX-License-Identifier: MIT */
/* Launches that are recorded instead of enqueued, to become one launch (runtime/launch_graph.h). */
#ifndef CLFI_RUNTIME_RECORDING_H
#define CLFI_RUNTIME_RECORDING_H

#include "runtime/buffer.h"
#include "runtime/program_build.h"

typedef struct clf_recorded_argument {
    const char *type;   /* of the value, a literal; NULL: a buffer */
    clf_buffer *buffer; /* NULL: a null pointer */
    size_t at, size;    /* the value in the recording's bytes */
} clf_recorded_argument;

typedef struct clf_recorded_launch {
    size_t part;             /* which kernel */
    size_t first, arguments; /* in the recording's list */
    size_t groups[3], local[3];
    clf_work work;
} clf_recorded_launch;

typedef struct clf_recording {
    clf_program_parts parts; /* the kernels, each once; they stay from one recording to the next */
    clf_recorded_launch *launches;
    size_t launch_count, launch_capacity;
    clf_recorded_argument *arguments;
    size_t argument_count, argument_capacity;
    clf_str records;   /* what the device reads: of each launch its header and its arguments; buffers' addresses come last */
    size_t end;        /* of the last whole record */
    clf_buffer **held; /* the arguments' buffers, each once, retained */
    size_t held_count, held_capacity;
    uint64_t number; /* of the recording, never that of another */
    int group;       /* work-items of the graph's work-groups; 1: all parts are made of work-items */
    bool is_unfit;   /* a launch has work-groups of another size */
} clf_recording;

/* Forgets the launches and releases their buffers. */
void clfi_recording_clear(clf_recording *recording);
void clfi_recording_free(clf_recording *recording);

/* A new recording. */
void clfi_recording_start(clf_recording *recording);

/* Begins a launch; asker: context->asker. *out_is_taken false: the kernel cannot be part of a graph. */
clf_status clfi_recording_launch(clf_recording *recording, const clf_kernel_spec *spec, uint64_t asker, bool *out_is_taken);

/* The next argument of the launch that was begun. */
clf_status clfi_recording_value(clf_recording *recording, const char *type, const void *value, size_t size);
clf_status clfi_recording_buffer(clf_recording *recording, clf_buffer *buffer);

/* Ends the launch. A dimension without groups: there is nothing to do, and no launch. */
clf_status clfi_recording_end(clf_recording *recording, const clf_work *work, cl_uint dimensions, const size_t *groups,
                              const size_t *local);

/* Writes the buffers' addresses into the records; all are known. */
void clfi_recording_put_addresses(clf_recording *recording);

#endif
