/* SPDX-License-Identifier: MIT */
/* Progress line. */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

enum { UPDATE_NS = 100000000, BAR = 24 };

cli_progress cli_progress_start(const char *unit)
{
    return (cli_progress){.unit = unit, .enabled = isatty(STDERR_FILENO) != 0, .start_ns = clfi_now_ns()};
}

void cli_progress_update(void *user, size_t done, size_t total)
{
    cli_progress *progress = user;
    const uint64_t now = clfi_now_ns();
    if (!progress->enabled || now - progress->shown_ns < UPDATE_NS)
        return;
    progress->shown_ns = now;
    const double seconds = (double)(now - progress->start_ns) / 1e9;
    const size_t all = progress->base + done;
    char bar[BAR + 1];
    const size_t filled = total ? done * BAR / total : 0;
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    fprintf(stderr, "\r[%s] %zu %s, %.1f %s/s \033[K", bar, all, progress->unit, (double)all / seconds, progress->unit);
}

void cli_progress_window(cli_progress *progress, size_t done)
{
    progress->base += done;
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->enabled && progress->shown_ns)
        fprintf(stderr, "\r\033[K");
}
