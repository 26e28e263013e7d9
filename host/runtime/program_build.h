/* SPDX-License-Identifier: MIT */
/* Builds programs from source: from one file, or linked from parts that are compiled separately, each with its own macros. */
#ifndef CLFI_RUNTIME_PROGRAM_BUILD_H
#define CLFI_RUNTIME_PROGRAM_BUILD_H

#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

enum { CLFI_GRAPH_SPACE_BYTES = 32768 }; /* local memory that a launch graph gives to parts that run as work-groups */

typedef struct clf_program_part {
    clf_kernel_spec spec;
    uint64_t hash;      /* hash of the options */
    uint32_t number;    /* from the kernel's name and options, so that it is the same in every process */
    bool is_group;      /* the graph's work-groups take whole work-groups of this kernel; false: single work-items */
    uint64_t askers;    /* engines that need the part, one bit each, as in context->asker */
    uint64_t recording; /* the last one with the part: clf_recording.number */
    clf_str tail;       /* OpenCL C appended to its source: the function part_<number>, through which the graph's kernel calls the part */
} clf_program_part;

/* The parts that a specification is linked from. The maker of the specification owns them. */
typedef struct clf_program_parts {
    clf_str head; /* text before the source of the program's own file */
    clf_program_part **list;
    size_t count, capacity;
} clf_program_parts;

/* Appends the text of the program, includes resolved. A program with parts gets the texts and macros of all its parts; this text is not
 * compiled, but identifies the program in the cache. Errors as clfi_kernel_source. */
clf_status clfi_program_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out);

/* Input of the compiler: one text with its options, or several that are compiled separately and then linked. */
typedef struct clf_program_text {
    clf_str options, source;
} clf_program_text;

typedef struct clf_program_texts {
    clf_program_text *list;
    size_t count;
} clf_program_texts;

/* Makes the texts of a specification. source: from clfi_program_source. The caller frees *out, also after a failure. Errors as
 * clfi_kernel_source. */
clf_status clfi_program_texts(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, clf_program_texts *out);
void clfi_program_texts_free(clf_program_texts *texts);

/* Compiles and links the texts; the context does not change. BUILD: the compiler's first messages. DEVICE, OUT_OF_MEMORY. */
clf_status clfi_program_texts_build(const clf_context *context, const char *kernel, const clf_program_texts *texts, cl_program *out);

/* Calls context->on_build, builds the program, and counts it in the statistics. source: from clfi_program_source. BUILD: the compiler's
 * first messages. DEVICE. Others as clfi_kernel_source. */
clf_status clfi_program_build(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out);

/* As clfi_program_build, for any thread: neither changes the context, nor calls its callbacks, nor logs. NULL: it could not be built. */
cl_program clfi_program_try(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source);

#endif
