/* SPDX-License-Identifier: MIT */
/* Shows the progress line on standard error. */
#include "console/progress.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "console/terminal.h"
#include "console/terminal_stream.h"
#include "runtime/context.h"

enum { UPDATE_NS = 100000000, QUIET_NS = 1000000000, BAR = 16, LINE_BYTES = 512, NOTICE_BYTES = 256 };

/* A process has one terminal, and a signal handler sees nothing but such variables. */
static volatile sig_atomic_t is_shown, is_terminal; /* is_terminal: standard error, where interrupts are watched */
static uint64_t began_ns, shown_ns;
static char notices[2][NOTICE_BYTES];
static const char *volatile notice = "";
static char unfinished[PATH_MAX];
static volatile sig_atomic_t has_unfinished;
static volatile sig_atomic_t *stopped;
static volatile sig_atomic_t is_held, held_number;
static volatile sig_atomic_t is_midline; /* standard output ends in an unfinished line */

static bool is_due(uint64_t now)
{
    if (began_ns == 0)
        began_ns = now;
    return now - began_ns >= QUIET_NS && now - shown_ns >= UPDATE_NS && isatty(STDERR_FILENO);
}

void cli_line_show(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    const uint64_t now = clfi_now_ns();
    if (!is_due(now) || (is_midline && isatty(STDOUT_FILENO)))
        return;
    shown_ns = now;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    is_shown = 1;
    cli_terminal_control("\r\033[K");
    cli_print_line(stderr, line, strlen(line), cli_terminal_columns(STDERR_FILENO) - 1); /* the last column would begin a new line */
    fflush(stderr);
}

void cli_line_clear(void)
{
    if (!is_shown)
        return;
    cli_terminal_control("\r\033[K");
    fflush(stderr);
    is_shown = 0;
    shown_ns = 0;
}

void cli_line_keep(bool is_midline_now)
{
    if (is_midline_now)
        cli_line_clear();
    is_midline = is_midline_now;
}

void cli_line_end(void)
{
    cli_line_clear();
    if (is_midline && isatty(STDOUT_FILENO))
        putchar('\n');
    is_midline = 0;
}

const char *cli_duration(double seconds, char text[32])
{
    const unsigned long whole = seconds < 1e8 ? (unsigned long)(seconds + 0.5) : 100000000;
    if (whole >= 3600)
        snprintf(text, 32, "%lu h %lu min", whole / 3600, whole % 3600 / 60);
    else if (whole >= 60)
        snprintf(text, 32, "%lu min %lu s", whole / 60, whole % 60);
    else
        snprintf(text, 32, "%lu s", whole);
    return text;
}

static uint64_t build_ns(const clf_context *context)
{
    clf_context_stats stats = {0};
    if (context)
        clf_context_get_stats(context, &stats);
    return stats.build_ns;
}

cli_progress cli_progress_start(const char *unit, const clf_context *context)
{
    return (cli_progress){.unit = unit, .start_ns = clfi_now_ns(), .build_ns = build_ns(context), .context = context, .until = NAN};
}

void cli_progress_window(cli_progress *progress, double until)
{
    progress->from = isnan(progress->until) ? 0 : progress->until;
    progress->until = until;
}

int cli_progress_update(void *user, size_t done, size_t total)
{
    const cli_progress *p = user;
    char bar[BAR + 1], left[32];
    const size_t all = p->base + done; /* done by this process */
    const double share = total ? p->from + (p->until - p->from) * (double)done / (double)total : NAN;
    const double built = (double)(build_ns(p->context) - p->build_ns) / 1e9;
    const double seconds = fmax((double)(clfi_now_ns() - p->start_ns) / 1e9 - built, 1e-3);
    if (isnan(share) || share <= 0) {
        cli_line_show("%zu %.*s, %.1f %s/s", all, (int)strlen(p->unit) - (all == 1), p->unit, (double)all / seconds, p->unit);
        return 0;
    }
    const size_t filled = (size_t)(share * BAR);
    for (size_t i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    const double own = fmax(share - p->passed, 1e-6), total_of_all = (double)all / own; /* both count skipped texts, too */
    cli_line_show("[%s] %.0f %%  %.0f/~%.0f %s, %.1f/s, %s left", bar, 100 * share, share * total_of_all, total_of_all, p->unit,
                  (double)all / seconds, cli_duration(seconds * (1 - share) / own, left)); /* 80 columns hold a million */
    return 0;
}

void cli_progress_count(cli_progress *progress, size_t done)
{
    progress->base += done;
}

static void on_build(void *user)
{
    const clf_context *context = user;
    const unsigned long long built = context->stats.programs_built, expected = context->builds_expected;
    if (built < expected)
        cli_line_show("compiling kernels for this device, once (%llu of %llu)", built + 1, expected);
    else
        cli_line_show("compiling kernels for this device, once (program %llu)", built + 1); /* their total is unknown */
}

/* A clf_log_function: prints the text on a line of its own. */
static void print_log(void *user, clf_log_level level, const char *text)
{
    (void)user;
    (void)level;
    cli_line_end();
    fprintf(stderr, "clformer: %s\n", text);
}

void cli_progress_watch_builds(clf_context *context)
{
    if (began_ns == 0)
        began_ns = clfi_now_ns();
    if (context->logs_to_stderr)
        context->log = print_log;
    context->on_build = on_build;
    context->on_build_user = context;
}

static void say(int descriptor, const char *text)
{
    const ssize_t ignored = write(descriptor, text, strlen(text));
    (void)ignored;
}

static void on_interrupt(int number)
{
    if (is_held) {
        held_number = number; /* the handler is gone: the next one ends the program */
        return;
    }
    if (is_shown || (is_terminal && notice[0] && !is_midline)) /* the ^C that the terminal shows, too */
        say(STDERR_FILENO, "\r\033[K");
    if (is_midline)
        say(STDOUT_FILENO, "\n");
    if (has_unfinished)
        unlink(unfinished);
    clfi_atomic_remove_named();
    if (notice[0])
        say(STDERR_FILENO, notice);
    raise(number); /* the handler is gone: now it ends the program */
}

static void on_stop(int number)
{
    *stopped = number;
}

static void handle_interrupts(void (*handler)(int))
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) /* nohup's stay ignored */
            sigaction(numbers[i], &action, NULL);
}

void cli_interrupts_watch(void)
{
    is_terminal = isatty(STDERR_FILENO);
    handle_interrupts(on_interrupt);
}

void cli_interrupts_stop(volatile sig_atomic_t *stop)
{
    stopped = stop;
    handle_interrupts(on_stop);
}

void cli_interrupts_hold(bool holds)
{
    is_held = holds;
    if (!holds && held_number)
        on_interrupt(held_number);
}

bool cli_interrupts_is_waiting(void)
{
    return held_number != 0;
}

void cli_interrupts_clear(void)
{
    if (isatty(STDERR_FILENO))
        cli_terminal_control("\r\033[K");
}

void cli_interrupts_say(const char *format, ...)
{
    char *free_one = notice == notices[0] ? notices[1] : notices[0], text[NOTICE_BYTES - 32];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (isatty(STDERR_FILENO)) /* the handler writes past the guarded stream */
        clfi_utf8_make_printable(text, strlen(text));
    snprintf(free_one, NOTICE_BYTES, "clformer: interrupted; %s\n", text);
    notice = free_one;
}

void cli_interrupts_remove(const char *path)
{
    has_unfinished = 0;
    if (!path || strlen(path) >= sizeof unfinished)
        return;
    strcpy(unfinished, path);
    has_unfinished = 1;
}
