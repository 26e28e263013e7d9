/* SPDX-License-Identifier: MIT */
/* Describes a kernel to build, for launchers and the program cache: its file, its name and its macros. */
#ifndef CLFI_RUNTIME_KERNEL_SPEC_H
#define CLFI_RUNTIME_KERNEL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/kernel_source.h"

enum { CLFI_SPEC_BYTES = 640 };

/* A kernel to build. Each launcher gives its macros in a fixed order, so the text of the options is the kernel's key. */
typedef struct clf_kernel_spec {
    const struct clf_program_parts *parts; /* runtime/program_build.h: the parts of a program linked from several files; else NULL */
    const clf_kernel_set *own;             /* kernel files that are searched before the library's; NULL: none */
    const char *file;                      /* "softmax_group.cl" */
    const char *kernel;                    /* "softmax_rows" */
    char options[CLFI_SPEC_BYTES];
    size_t length;
    bool overflow;
    size_t local[3]; /* work-group size of its launches; 0: not known yet. Not part of the key */
} clf_kernel_spec;

/* Makes a specification without macros. file and kernel are literals; they are not copied. */
clf_kernel_spec clfi_kernel_spec(const char *file, const char *kernel);
void clfi_spec_int(clf_kernel_spec *spec, const char *macro, long long value);
void clfi_spec_text(clf_kernel_spec *spec, const char *macro, const char *value);
void clfi_spec_joined(clf_kernel_spec *spec, const char *first, const char *second, const char *value); /* the macro's name in two pieces */

/* The driver compiles the kernel without optimisation: for tests, where compiling would take longer than running. */
void clfi_spec_unoptimised(clf_kernel_spec *spec);

/* Hash of the options. */
uint64_t clfi_spec_hash(const clf_kernel_spec *spec);

/* Whether `spec`, whose clfi_spec_hash is spec_hash, describes the kernel with this name and these options; hash: clfi_spec_hash of these
 * options. */
bool clfi_spec_is(const clf_kernel_spec *spec, uint64_t spec_hash, const char *kernel, const char *options, uint64_t hash);

#endif
