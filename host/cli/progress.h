/* SPDX-License-Identifier: MIT */
/* One line on a terminal's standard error that shows how far a job is; nothing where that is no terminal. */
#ifndef CLFI_CLI_PROGRESS_H
#define CLFI_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_progress {
    const char *unit; /* "texts" */
    bool enabled;
    uint64_t start_ns, shown_ns;
    size_t base; /* done before the current window */
} cli_progress;

cli_progress cli_progress_start(const char *unit);

/* clf_embed_params.progress; user is a cli_progress. total 0: unknown. */
void cli_progress_update(void *user, size_t done, size_t total);

/* The next calls count from here. */
void cli_progress_window(cli_progress *progress, size_t done);

void cli_progress_end(cli_progress *progress);

#endif
