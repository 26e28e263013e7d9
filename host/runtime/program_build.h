/* SPDX-License-Identifier: MIT */
/* Programs from source: of one file, or linked from parts that are compiled apart, each with macros of its own. */
#ifndef CLFI_RUNTIME_PROGRAM_BUILD_H
#define CLFI_RUNTIME_PROGRAM_BUILD_H

#include "base/str.h"
#include "runtime/context.h"
#include "runtime/kernel_spec.h"

enum { CLFI_GRAPH_SPACE_BYTES = 32768 }; /* local memory of parts that are made of work-groups */

typedef struct clf_program_part {
    clf_kernel_spec spec;
    uint64_t hash;   /* of the options */
    bool is_group;   /* its work-groups are what there is to do, not its work-items */
    uint64_t askers; /* engines that ask for it: bits of context->asker */
    clf_str tail;    /* OpenCL C behind its source: the function by which the program's own file calls it */
} clf_program_part;

/* The parts that a specification is linked from. The maker of the specification owns them. */
typedef struct clf_program_parts {
    clf_str head; /* before the source of the program's own file */
    clf_program_part *list;
    size_t count, capacity;
} clf_program_parts;

/* Appends the text of the program, includes resolved; of one with parts all of them with their macros, which is no source but tells one
 * program from another. NOT_FOUND, OUT_OF_MEMORY. */
clf_status clfi_program_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out);

/* Input of the compiler: one text with its options, or several that are compiled apart and then linked. */
typedef struct clf_program_text {
    clf_str options, source;
} clf_program_text;

typedef struct clf_program_texts {
    clf_program_text *list;
    size_t count;
} clf_program_texts;

/* The texts of a specification; source: what clfi_program_source gave. *out is to be freed in any case. */
clf_status clfi_program_texts(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, clf_program_texts *out);
void clfi_program_texts_free(clf_program_texts *texts);

/* Compiles and links them, and nothing of the context changes. BUILD: the first messages of the compiler. */
clf_status clfi_program_texts_build(const clf_context *context, const char *kernel, const clf_program_texts *texts, cl_program *out);

/* Compiles; source: what clfi_program_source gave. BUILD: the compiler's first messages. */
clf_status clfi_program_build(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out);

/* The same in any thread: nothing of the context changes and nobody is told. NULL: it could not be built. */
cl_program clfi_program_try(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source);

#endif
