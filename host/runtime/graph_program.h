/* SPDX-License-Identifier: MIT */
/* The programs of a launch graph (runtime/launch_graph.h): each is linked from the kernels of one recording, or of all recordings of a
 * rehearsal. */
#ifndef CLFI_RUNTIME_GRAPH_PROGRAM_H
#define CLFI_RUNTIME_GRAPH_PROGRAM_H

#include "runtime/recording.h"

typedef struct clf_graph_program {
    clf_kernel_spec spec;
    clf_program_parts parts; /* in the order of their numbers, so that equal sets of kernels are equal programs */
    uint64_t rehearsal;      /* context->rehearsals when the program was made in a rehearsal; otherwise 0 */
} clf_graph_program;

typedef struct clf_graph_programs {
    clf_graph_program **list;
    size_t count, capacity, most;
} clf_graph_programs;

/* Finds or describes a program that has the recording's kernels. *out is valid until clfi_graph_programs_free; NULL: it would be one more
 * than `most`. The recordings of a rehearsal share the program that it makes. OUT_OF_MEMORY. */
clf_status clfi_graph_programs_find(const clf_context *context, clf_graph_programs *programs, const clf_recording *recording,
                                    const clf_kernel_spec **out);
void clfi_graph_programs_free(clf_graph_programs *programs);

#endif
