/* SPDX-License-Identifier: MIT */
/* Starts, watches and ends one child process. */
#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* LAST_BYTES: read from the end of the child's standard error. MOMENTS of MOMENT_US: time to end by itself, one second. */
enum { LAST_BYTES = 2048, MOMENTS = 200, MOMENT_US = 5000 };

extern char **environ;

clf_status clfi_child_fork(void (*serve)(int socket, const void *user), const void *user, clfi_child *out)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        CLF_FAIL(CLF_IO, "cannot start a process: socketpair: %s", strerror(errno));
    fflush(NULL); /* else both processes would write what is buffered */
    const pid_t process = fork();
    if (process < 0) {
        close(pair[0]);
        close(pair[1]);
        CLF_FAIL(CLF_IO, "cannot start a process: fork: %s", strerror(errno));
    }
    if (process == 0) {
        close(pair[0]);
        signal(SIGINT, SIG_IGN); /* the parent decides what an interruption means */
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        serve(pair[1], user);
        _exit(0);
    }
    close(pair[1]);
    *out = (clfi_child){process, pair[0], -1};
    return CLF_OK;
}

/* Moves a descriptor above those that a child gets, and marks it close-on-exec. The old one is closed, also on failure. */
static int move_up(int descriptor)
{
    const int moved = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, CLFI_CHILD_SOCKETS);
    if (descriptor >= 0)
        close(descriptor);
    return moved;
}

static int open_words(void)
{
#ifdef MFD_CLOEXEC
    return move_up(memfd_create("words", MFD_CLOEXEC));
#else
    return -1;
#endif
}

static int set_files(posix_spawn_file_actions_t *files, int others, int socket, int words)
{
    int code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (code == 0)
        code = words >= 0 ? posix_spawn_file_actions_adddup2(files, words, STDERR_FILENO)
                          : posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(files, others, socket);
    return code;
}

/* The child starts with no signal blocked or ignored, in a process group of its own. So signals of the terminal end only this process,
 * and the child notices that by its socket. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0)
        code = posix_spawnattr_setsigdefault(attributes, &all);
    if (code == 0)
        code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0)
        code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return code;
}

static int spawn(const char *path, int others, int socket, int words, pid_t *out)
{
    char *arguments[] = {(char *)path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&files);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = set_files(&files, others, socket, words);
        if (code == 0)
            code = set_signals(&attributes);
        if (code == 0)
            code = posix_spawn(out, path, &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return code;
}

static void close_files(clfi_child *child)
{
    if (child->socket >= 0)
        close(child->socket);
    if (child->words >= 0)
        close(child->words);
    *child = (clfi_child)CLFI_CHILD_INIT;
}

clf_status clfi_child_start(const char *path, int socket, clfi_child *out)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        CLF_FAIL(CLF_IO, "%s: cannot be started: socketpair: %s", path, strerror(errno));
    const int own = move_up(pair[0]), others = move_up(pair[1]);
    clfi_child child = {0, own, open_words()};
    const int code = own < 0 || others < 0 ? EMFILE : spawn(path, others, socket, child.words, &child.process);
    if (others >= 0)
        close(others);
    if (code != 0) {
        close_files(&child);
        CLF_FAIL(CLF_IO, "%s: cannot be started: %s", path, strerror(code));
    }
    *out = child;
    return CLF_OK;
}

bool clfi_child_has_ended(clfi_child *child, int *out_status)
{
    int status = 0;
    const pid_t ended = waitpid(child->process, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno != ECHILD))
        return false;
    *out_status = ended == child->process ? status : -1;
    close_files(child);
    return true;
}

/* Waits for the end of a child; returns the status from waitpid, or -1 if another part of this process has already taken it. */
static int wait_for_end(pid_t process)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(process, &status, 0)) < 0 && errno == EINTR)
        ;
    return ended == process ? status : -1;
}

void clfi_child_stop(clfi_child *child)
{
    if (child->process <= 0)
        return;
    kill(child->process, SIGKILL);
    wait_for_end(child->process);
    close_files(child);
}

/* Writes the last line of the child's standard error that is not blank; "" if there is none. */
static void last_line(int words, char *out, size_t size)
{
    char text[LAST_BYTES + 1];
    const off_t end = words >= 0 ? lseek(words, 0, SEEK_END) : 0;
    const off_t from = end > LAST_BYTES ? end - LAST_BYTES : 0;
    ssize_t length = end > 0 ? pread(words, text, LAST_BYTES, from) : 0;
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        length--;
    text[length > 0 ? length : 0] = '\0';
    const char *line = strrchr(text, '\n');
    snprintf(out, size, "%.*s", (int)size - 1, line ? line + 1 : text);
}

/* Puts a status of waitpid into words. Returns whether the process ended by its own fault (clfi_child_end). */
static bool describe(int status, int idle, char *out, size_t size)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    if (!WIFSIGNALED(status)) {
        snprintf(out, size, "ended with status %d", WEXITSTATUS(status));
        return WEXITSTATUS(status) != idle;
    }
    const int number = WTERMSIG(status);
    snprintf(out, size, "was ended by signal %d (%s)", number, strsignal(number));
    for (size_t i = 0; i < COUNT(faults); i++)
        if (number == faults[i])
            return true;
    return false;
}

bool clfi_child_end(clfi_child *child, int idle, char *how)
{
    char end[96] = "ended", words[256];
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < MOMENTS && (ended = waitpid(child->process, &status, WNOHANG)) == 0; i++)
        usleep(MOMENT_US); /* the end that closed its socket may still be in progress */
    if (ended == 0) {
        kill(child->process, SIGKILL);
        status = wait_for_end(child->process);
        ended = status == -1 ? -1 : child->process;
    }
    const bool is_fault = ended == child->process && describe(status, idle, end, sizeof end);
    last_line(child->words, words, sizeof words);
    snprintf(how, CLFI_CHILD_WORDS, "%s%s%s", end, words[0] ? ": " : "", words);
    close_files(child);
    return is_fault;
}

clf_status clfi_child_lost(clfi_child *child, clfi_message_end end)
{
    if (end != CLFI_MESSAGE_CLOSED) {
        clfi_child_stop(child);
        return end == CLFI_MESSAGE_FAILED ? CLF_DEVICE /* clf_last_error() has the reason */ : clfi_fail(CLF_DEVICE, "interrupted");
    }
    close(child->socket); /* a child that only closed its end can notice that it is no longer wanted */
    child->socket = -1;
    const int status = wait_for_end(child->process);
    close_files(child);
    if (status == -1)
        CLF_FAIL(CLF_DEVICE, "the device's process ended");
    if (WIFSIGNALED(status))
        CLF_FAIL(CLF_DEVICE, "the device's process ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    CLF_FAIL(CLF_DEVICE, "the device's process ended with status %d", WEXITSTATUS(status));
}
