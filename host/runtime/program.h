/* SPDX-License-Identifier: MIT */
/* Turns a specification (file, kernel, macros) into a cl_kernel, once per context. Its program is built once for all contexts that share
 * programs and, through the cache, once per machine. */
#ifndef CLFI_RUNTIME_PROGRAM_H
#define CLFI_RUNTIME_PROGRAM_H

#include "runtime/kernel_spec.h"
#include "runtime/shared.h"

/* A kernel of one context. Threads cannot share a cl_kernel, because it holds arguments. */
typedef struct clf_kernel {
    cl_kernel handle;
    clf_program *program; /* of runtime/shared.h, borrowed */
    const char *name;     /* kernel name, unique in the project */
    const char *options;  /* with the name: the key of the kernel */
    uint64_t hash;        /* of the options */
    cl_uint argument_count;
    bool was_launched, is_saved; /* is_saved: nothing is left to do for the cache on disk */
} clf_kernel;

/* Finds or builds the kernel. *out: borrowed, valid until the context ends or is opened again. BUILD: the compiler's first messages; or the
 * driver's compiler crashes or hangs on it (runtime/outside_build.h); or it needs larger work-groups or more local memory than the driver
 * allows. In the last two cases context->unbuilt gets context->asker. INTERNAL: the options are too long. DEVICE: the driver refused.
 * Others as clfi_kernel_source. */
clf_status clfi_kernel_get(clf_context *context, const clf_kernel_spec *spec, clf_kernel **out);

/* Whether this context has launched the kernel. */
bool clfi_kernel_was_launched(const clf_context *context, const clf_kernel_spec *spec);

typedef enum clf_program_state {
    CLFI_PROGRAM_MISSING,
    CLFI_PROGRAM_THERE,
    CLFI_PROGRAM_UNUSABLE /* the driver's compiler crashes or hangs on it */
} clf_program_state;

/* Whether the program exists already. It is loaded if the cache on disk has it, and never compiled. Errors as clfi_kernel_source. */
clf_status clfi_program_find(clf_context *context, const clf_kernel_spec *spec, clf_program_state *out);

/* Whether clfi_programs_build would save time for `count` programs. */
bool clfi_programs_build_gains(const clf_context *context, size_t count);

/* Builds programs that clfi_program_find did not find, several at once: in other processes, else in threads. If one cannot be built,
 * clfi_kernel_get reports why. Errors as clfi_kernel_source. */
clf_status clfi_programs_build(clf_context *context, const clf_kernel_spec *const *specs, size_t count);

/* Marks engines (bits of context->asker) that need an unusable program in context->unbuilt. No-op if the program is not unusable. */
void clfi_program_blame(clf_context *context, const clf_kernel_spec *spec, uint64_t askers);

clf_status clfi_kernel_table_create(clf_kernel_table **out);
void clfi_kernel_table_destroy(clf_kernel_table *table);

/* Writes programs that were built from source and have been launched since to the cache on disk. (PoCL's binaries hold machine code only
 * after a launch.) A failure is logged, not returned, because it costs only time at the next start. */
void clfi_kernel_table_save(clf_context *context);

#endif
