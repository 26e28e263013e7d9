/* SPDX-License-Identifier: MIT */
/* The state of an output's destination before anything is written: for the writer of files and for checks of what a command will write. */
#ifndef CLFI_BASE_OUTPUT_PLACE_H
#define CLFI_BASE_OUTPUT_PLACE_H

#include <sys/stat.h>

#include "base/file.h"

typedef struct clf_output_state {
    struct stat info;
    bool exists, is_stream; /* stream: a pipe or device, or standard output by whatever name */
    bool is_standard_output;
    bool needs_name; /* the temporary file has one from the beginning */
    char *target;    /* owned; NULL for streams */
} clf_output_state;

/* *out: the state of `path`; the caller frees out->target. IO: a directory, a loop of links, or another error of the system. */
clf_status clfi_output_look(const char *path, clf_output_state *out);

/* Fails with IO, because renaming a file over a pipe or device would replace it. */
clf_status clfi_output_refuse_stream(const char *path);

#endif
