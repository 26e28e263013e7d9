/* SPDX-License-Identifier: MIT */
/* Records launches instead of enqueueing them, so that they become one launch (runtime/launch_graph.h). */
#ifndef CLFI_RUNTIME_RECORDING_H
#define CLFI_RUNTIME_RECORDING_H

#include "runtime/buffer.h"
#include "runtime/program_build.h"

typedef struct clf_recorded_argument {
    const char *type;   /* the value's type in OpenCL C, a literal; NULL: a buffer */
    clf_buffer *buffer; /* NULL: a null pointer */
    size_t at, size;    /* offset and bytes of the value in clf_recording.records */
} clf_recorded_argument;

typedef struct clf_recorded_launch {
    clf_program_part *part;
    size_t first, arguments; /* the first argument in clf_recording.arguments, and their number */
    size_t groups[3], local[3];
    clf_work work;
} clf_recorded_launch;

typedef struct clf_recording {
    clf_program_part **parts; /* the kernels of all recordings, each once */
    size_t part_count, part_capacity;
    clf_recorded_launch *launches;
    size_t launch_count, launch_capacity;
    clf_recorded_argument *arguments;
    size_t argument_count, argument_capacity;
    clf_str records;   /* what the device reads: each launch's header and arguments; addresses of buffers are filled in at the end */
    size_t end;        /* offset after the last complete record */
    clf_buffer **held; /* the arguments' buffers, each once, retained */
    size_t held_count, held_capacity;
    uint64_t number; /* of the recording, unique in the process */
    int group;       /* work-items of the graph's work-groups; 1: all parts run as single work-items */
    bool is_unfit;   /* a part that runs as work-groups was launched with another size of work-group */
} clf_recording;

/* Drops the launches and releases their buffers. The parts stay. */
void clfi_recording_clear(clf_recording *recording);
void clfi_recording_free(clf_recording *recording);

/* Begins a new recording; drops the last one. */
void clfi_recording_start(clf_recording *recording);

/* Begins a launch; drops an unfinished one. asker: context->asker. *out_is_taken false: the kernel cannot be part of a graph.
 * OUT_OF_MEMORY. */
clf_status clfi_recording_launch(clf_recording *recording, const clf_kernel_spec *spec, uint64_t asker, bool *out_is_taken);

/* The kernel's name of the launch that was begun. */
const char *clfi_recording_kernel(const clf_recording *recording);

/* Adds the next argument of the launch that was begun. value: INTERNAL if type is NULL. buffer: NULL is a null pointer. OUT_OF_MEMORY. */
clf_status clfi_recording_value(clf_recording *recording, const char *type, const void *value, size_t size);
clf_status clfi_recording_buffer(clf_recording *recording, clf_buffer *buffer);

/* Ends the launch. It is dropped if a dimension has no work-groups. OUT_OF_MEMORY. */
clf_status clfi_recording_end(clf_recording *recording, const clf_work *work, cl_uint dimensions, const size_t *groups,
                              const size_t *local);

/* Writes the buffers' addresses, which must all be known, into the records. */
void clfi_recording_put_addresses(clf_recording *recording);

#endif
