/* SPDX-License-Identifier: MIT */
/* Kernels: a specification (file, kernel, macros) becomes a built cl_kernel, once per context and, through the cache, once per machine. */
#ifndef CLFI_RUNTIME_PROGRAM_H
#define CLFI_RUNTIME_PROGRAM_H

#include "runtime/context.h"

enum { CLFI_SPEC_BYTES = 640 };

/* What to build. Macros are given in a fixed order by each launcher, so the text of the options is the key of the kernel. */
typedef struct clf_kernel_spec {
    const char *file;   /* "softmax.cl" */
    const char *kernel; /* "softmax_rows" */
    char options[CLFI_SPEC_BYTES];
    size_t length;
    uint64_t hash; /* of the options */
    bool overflow;
} clf_kernel_spec;

typedef struct clf_kernel {
    cl_kernel handle;
    cl_program program;
    char *name;    /* kernel name, unique in the project */
    char *options; /* with the name: the key of the kernel */
    uint64_t hash; /* of the options */
    char *path;    /* cache file that is still to be written after the first launch; NULL: none */
    cl_uint argument_count;
    bool was_launched;
} clf_kernel;

/* file and kernel are literals; they are not copied. */
clf_kernel_spec clfi_kernel_spec(const char *file, const char *kernel);
void clfi_spec_int(clf_kernel_spec *spec, const char *macro, long long value);
void clfi_spec_text(clf_kernel_spec *spec, const char *macro, const char *value);

/* The built kernel; borrowed, lives as long as the context. BUILD: the compiler's first messages. */
clf_status clfi_kernel_get(clf_context *context, const clf_kernel_spec *spec, clf_kernel **out);

clf_status clfi_program_table_create(clf_program_table **out);
void clfi_program_table_destroy(clf_program_table *table);

/* Writes programs that were built from source and have been launched since to the disk cache. A failure only costs the next start its
 * time, so it is logged, never returned. (After the launch: PoCL's binaries hold machine code only then.) */
void clfi_program_table_save(clf_context *context);

#endif
