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

/* The built kernel; borrowed, lives as long as the context. BUILD: the compiler's first messages. */
clf_status clfi_kernel_get(clf_context *context, const clf_kernel_spec *spec, clf_kernel **out);

/* Whether the program is there already, loading it where the cache on disk has it. OUT_OF_MEMORY and what makes clfi_kernel_get fail before
 * it compiles. */
clf_status clfi_program_find(clf_context *context, const clf_kernel_spec *spec, bool *out_found);

/* Builds programs that clfi_program_find did not find, several at once, for a device whose compiler allows it. One that cannot be built is
 * left to clfi_kernel_get, which tells why. OUT_OF_MEMORY, NOT_FOUND. */
clf_status clfi_programs_build(clf_context *context, const clf_kernel_spec *const *specs, size_t count);

clf_status clfi_kernel_table_create(clf_kernel_table **out);
void clfi_kernel_table_destroy(clf_kernel_table *table);

/* Writes programs that were built from source and have been launched since to the disk cache. A failure only costs the next start its
 * time, so it is logged, never returned. (After the launch: PoCL's binaries hold machine code only then.) */
void clfi_kernel_table_save(clf_context *context);

#endif
