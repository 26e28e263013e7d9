/* SPDX-License-Identifier: MIT */
/* Kernels: a specification (file, kernel, macros) becomes a cl_kernel, once per context; its program is built once for all contexts that
 * share theirs and, through the cache, once per machine. */
#ifndef CLFI_RUNTIME_PROGRAM_H
#define CLFI_RUNTIME_PROGRAM_H

#include "runtime/kernel_spec.h"
#include "runtime/shared.h"

/* A context's own: a cl_kernel holds arguments, so that threads cannot share it. */
typedef struct clf_kernel {
    cl_kernel handle;
    clf_program *program; /* of runtime/shared.h, borrowed */
    const char *name;     /* kernel name, unique in the project */
    const char *options;  /* with the name: the key of the kernel */
    uint64_t hash;        /* of the options */
    cl_uint argument_count;
    bool was_launched, is_saved; /* is_saved: nothing is left to do for the cache on disk */
} clf_kernel;

/* The built kernel; borrowed, lives as long as the context. BUILD: the compiler's first messages; or the driver's compiler crashes or hangs
 * on it (runtime/outside_build.h), or the driver allows it smaller work-groups than it has. In the last two cases context->unbuilt gets
 * context->asker. */
clf_status clfi_kernel_get(clf_context *context, const clf_kernel_spec *spec, clf_kernel **out);

typedef enum clf_program_state {
    CLFI_PROGRAM_MISSING,
    CLFI_PROGRAM_THERE,
    CLFI_PROGRAM_UNUSABLE /* the driver's compiler crashes or hangs on it */
} clf_program_state;

/* Whether the program is there already, loading it where the cache on disk has it. OUT_OF_MEMORY and what makes clfi_kernel_get fail before
 * it compiles. */
clf_status clfi_program_find(clf_context *context, const clf_kernel_spec *spec, clf_program_state *out);

/* Whether clfi_programs_build builds so many at once, so that it gains something. */
bool clfi_programs_build_gains(const clf_context *context, size_t count);

/* Builds programs that clfi_program_find did not find, several at once: in other processes, else in threads. One that cannot be built is
 * left to clfi_kernel_get, which tells why. OUT_OF_MEMORY, NOT_FOUND. */
clf_status clfi_programs_build(clf_context *context, const clf_kernel_spec *const *specs, size_t count);

/* Notes that engines (bits of context->asker) need a program that is unusable. */
void clfi_program_blame(clf_context *context, const clf_kernel_spec *spec, uint64_t askers);

clf_status clfi_kernel_table_create(clf_kernel_table **out);
void clfi_kernel_table_destroy(clf_kernel_table *table);

/* Writes programs that were built from source and have been launched since to the disk cache. A failure only costs the next start its
 * time, so it is logged, never returned. (After the launch: PoCL's binaries hold machine code only then.) */
void clfi_kernel_table_save(clf_context *context);

#endif
