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
    uint64_t hash; /* of the options */
    bool is_group; /* its work-groups are what there is to do, not its work-items */
    clf_str tail;  /* OpenCL C behind its source: the function by which the program's own file calls it */
} clf_program_part;

/* What a specification with parts is linked from. Belongs to whoever made the specification. */
typedef struct clf_program_parts {
    clf_str head; /* before the source of the program's own file */
    clf_program_part *list;
    size_t count, capacity;
} clf_program_parts;

/* Appends the text of the program, includes resolved; of one with parts all of them with their macros, which is no source but tells one
 * program from another. NOT_FOUND, OUT_OF_MEMORY. */
clf_status clfi_program_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out);

/* Compiles; source: what clfi_program_source gave. BUILD: the compiler's first messages. */
clf_status clfi_program_build(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out);

/* The same of a program without parts in any thread: nothing of the context changes and nobody is told. NULL: it could not be built. */
cl_program clfi_program_try(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source);

#endif
