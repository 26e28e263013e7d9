/* SPDX-License-Identifier: MIT */
/* Installs handlers of signals and of exit around enumeration, which start the program again. */
#include "jobs/platform_guard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "jobs/platform_probe.h"

#define CRASHED "CLF_DRIVER_CRASHED" /* in the environment of the second start */

extern char **environ;

static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
static struct sigaction before[COUNT(numbers)];
static const int asked[] = {SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2}; /* PoCL's LLVM handles these, and the first of each is lost */
static struct sigaction asked_before[COUNT(asked)];
static bool is_armed, stays;
static char **arguments, *folder;
static pid_t armed_by;
static pid_t owner; /* the process that made the folder and removes it; its forks do not */

/* Copies the pointers, because parsing the options reorders argv. Without memory for the copy nothing is guarded. */
void cli_platforms_arguments(int argc, char **argv)
{
    if (clfi_alloc((size_t)argc + 1, sizeof *arguments, "arguments", &arguments) == CLF_OK)
        memcpy(arguments, argv, (size_t)argc * sizeof *argv);
}

/* execve is one of the calls that POSIX allows here. */
static void start_again(int number)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL); /* a blocked signal stays blocked in what is started */
    execve("/proc/self/exe", arguments, environ);
    signal(number, SIG_DFL);
    raise(number);
}

/* Handles a second crash: the drivers that are left load without a crash, but one crashes when its device is used. */
static void tell_crash(int number)
{
    static const char text[] = "clformer: an OpenCL driver crashed while its device was opened (clformer devices lists the drivers; "
                               "OCL_ICD_VENDORS=FILE.icd loads only one)\n";
    const ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    raise(number); /* the handler is gone: it ends the program when this one returns */
}

/* Handles a driver that calls exit while it is loaded. */
static void tell_exit(void)
{
    static const char text[] =
        "clformer: an OpenCL driver ended the program while its device was opened (clformer devices lists the drivers)\n";
    if (!is_armed || getpid() != armed_by) /* a process that the driver forked */
        return;
    if (!stays)
        execve("/proc/self/exe", arguments, environ);
    const ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(EXIT_FAILURE);
}

static void arm(void (*handler)(int number))
{
    armed_by = getpid();
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < COUNT(numbers); i++)
        sigaction(numbers[i], &action, &before[i]);
    for (size_t i = 0; i < COUNT(asked); i++)
        sigaction(asked[i], NULL, &asked_before[i]);
    is_armed = true;
}

void cli_platforms_clean(void)
{
    if (getpid() == owner)
        cli_platforms_release(folder);
    folder = NULL;
}

void cli_platforms_stay(void)
{
    stays = true;
}

clf_status cli_platforms_leave_out(bool tells, clf_str *notes)
{
    clf_str found = CLF_STR_INIT;
    unsetenv(CRASHED);
    owner = getpid();
    atexit(cli_platforms_clean);
    clf_status st = cli_platforms_probe(&found, &folder);
    cli_platforms_stay();
    if (st == CLF_OK && notes)
        st = clfi_str_append_text(notes, clfi_str_text(&found));
    for (const char *at = clfi_str_text(&found); *at && tells; at += strcspn(at, "\n") + 1)
        fprintf(stderr, "clformer: %.*s\n", (int)strcspn(at, "\n"), at);
    clfi_str_free(&found);
    return st;
}

clf_status cli_platforms_enter(void)
{
    static bool is_watched;
    if (!is_watched)
        is_watched = atexit(tell_exit) == 0;
    if (getenv(CRASHED))
        CLF_TRY(cli_platforms_leave_out(true, NULL));
    if (stays) {
        arm(tell_crash);
    } else if (arguments && setenv(CRASHED, "1", 1) == 0) {
        arm(start_again);
    }
    return CLF_OK;
}

void cli_platforms_leave(void)
{
    for (size_t i = 0; is_armed && i < COUNT(numbers); i++)
        sigaction(numbers[i], &before[i], NULL);
    for (size_t i = 0; is_armed && i < COUNT(asked); i++)
        sigaction(asked[i], &asked_before[i], NULL);
    if (is_armed)
        unsetenv(CRASHED);
    is_armed = false;
}
