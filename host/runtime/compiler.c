/* SPDX-License-Identifier: MIT */
/* One compiling process. */
#include "runtime/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "clformer/context.h"

enum { LAST_BYTES = 2048, FIRST_FREE = 16 /* above every descriptor that the child is given */ };

extern char **environ;

/* The descriptor as one that no other child inherits, above those that the child gets. Closes the given one in any case. */
static int move_up(int descriptor)
{
    const int moved = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_FREE);
    if (descriptor >= 0)
        close(descriptor);
    return moved;
}

static int open_words(void)
{
#ifdef MFD_CLOEXEC
    return move_up(memfd_create("clformer-compile", MFD_CLOEXEC));
#else
    return -1;
#endif
}

static int set_files(posix_spawn_file_actions_t *files, int socket, int words)
{
    int code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (code == 0)
        code = words >= 0 ? posix_spawn_file_actions_adddup2(files, words, STDERR_FILENO)
                          : posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(files, socket, CLFI_COMPILE_SOCKET);
    return code;
}

/* No signal is blocked or ignored there, and its group is its own: what the terminal sends ends this process, which ends the other. */
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

static int spawn(const char *path, int socket, int words, pid_t *out)
{
    char *arguments[] = {(char *)path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&files);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = set_files(&files, socket, words);
        if (code == 0)
            code = set_signals(&attributes);
        if (code == 0)
            code = posix_spawn(out, path, &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return code;
}

clf_status clfi_compiler_start(const char *path, clf_compiler *out)
{
    int pair[2];
    pid_t process = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        CLF_FAIL(CLF_IO, "%s: no socket: %s", path, strerror(errno));
    const int own = move_up(pair[0]), others = move_up(pair[1]), words = open_words();
    const int code = own < 0 || others < 0 ? EMFILE : spawn(path, others, words, &process);
    if (others >= 0)
        close(others);
    if (code != 0) {
        if (own >= 0)
            close(own);
        if (words >= 0)
            close(words);
        CLF_FAIL(CLF_IO, "%s: cannot be started: %s", path, strerror(code));
    }
    memset(out, 0, sizeof *out);
    out->process = process;
    out->socket = own;
    out->words = words;
    return CLF_OK;
}

bool clfi_compiler_ask(clf_compiler *c, const clf_str *request, double seconds)
{
    const struct timeval limit = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) + 1};
    c->deadline_ns = clfi_now_ns() + (uint64_t)(seconds * 1e9);
    setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return clfi_compile_send(c->socket, CLFI_COMPILE_REQUEST, request->data, request->length);
}

/* The first message of c->reply, if it is whole, is taken out of the way when the next one is read. */
static clf_compile_state read_message(clf_compiler *c, clf_compile_word *out_word, const char **out_text)
{
    clf_compile_header header;
    if (c->reply_bytes < sizeof header)
        return CLFI_COMPILE_RUNS;
    memcpy(&header, c->reply, sizeof header);
    if (header.mark != CLFI_COMPILE_MARK || header.word > CLFI_COMPILE_USELESS || header.bytes >= CLFI_COMPILE_REPLY_BYTES)
        return CLFI_COMPILE_BROKEN;
    const size_t bytes = (size_t)header.bytes, whole = sizeof header + bytes;
    if (c->reply_bytes < whole)
        return CLFI_COMPILE_RUNS;
    const bool is_greeting = header.word == CLFI_COMPILE_HELLO;
    if (is_greeting == c->is_ready)
        return CLFI_COMPILE_BROKEN;
    if (is_greeting) {
        if (bytes != strlen(clf_version()) || memcmp(c->reply + sizeof header, clf_version(), bytes) != 0)
            return CLFI_COMPILE_BROKEN;
        c->is_ready = true;
        c->reply_bytes -= whole;
        memmove(c->reply, c->reply + whole, c->reply_bytes);
        return read_message(c, out_word, out_text);
    }
    if (c->reply_bytes > whole || header.word == CLFI_COMPILE_REQUEST)
        return CLFI_COMPILE_BROKEN;
    c->reply[whole] = '\0';
    c->reply_bytes = 0;
    *out_word = (clf_compile_word)header.word;
    *out_text = c->reply + sizeof header;
    return CLFI_COMPILE_REPLIED;
}

clf_compile_state clfi_compiler_look(clf_compiler *c, clf_compile_word *out_word, const char **out_text)
{
    for (;;) {
        const ssize_t got = recv(c->socket, c->reply + c->reply_bytes, sizeof c->reply - 1 - c->reply_bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return clfi_now_ns() > c->deadline_ns ? CLFI_COMPILE_LATE : CLFI_COMPILE_RUNS;
        if (got <= 0)
            return CLFI_COMPILE_GONE;
        c->reply_bytes += (size_t)got;
        const clf_compile_state state = read_message(c, out_word, out_text);
        if (state != CLFI_COMPILE_RUNS)
            return state;
    }
}

/* The last line that is not blank of what the process wrote; "" where it wrote nothing. */
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

/* How `status`, of waitpid, reads; false: nothing in the process itself was the reason. */
static bool describe(int status, char *out, size_t size)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    if (!WIFSIGNALED(status)) {
        snprintf(out, size, "ended with status %d", WEXITSTATUS(status));
        return WEXITSTATUS(status) != CLFI_COMPILER_IDLE;
    }
    const int number = WTERMSIG(status);
    snprintf(out, size, "was ended by signal %d (%s)", number, strsignal(number));
    for (size_t i = 0; i < COUNT(faults); i++)
        if (number == faults[i])
            return true;
    return false;
}

bool clfi_compiler_stop(clf_compiler *c, char *how)
{
    char end[96] = "ended", words[256];
    int status = 0;
    pid_t ended;
    if (c->process == 0)
        return false;
    if (how) /* it closed its socket by ending, which may not be over */
        for (int i = 0; i < 200 && (ended = waitpid(c->process, &status, WNOHANG)) == 0; i++)
            usleep(5000);
    else
        ended = 0;
    if (ended == 0) {
        kill(c->process, SIGKILL);
        while ((ended = waitpid(c->process, &status, 0)) < 0 && errno == EINTR)
            ;
    }
    const bool is_fault = ended == c->process && describe(status, end, sizeof end);
    last_line(c->words, words, sizeof words);
    if (how)
        snprintf(how, CLFI_COMPILER_WORDS, "%s%s%s", end, words[0] ? ": " : "", words);
    close(c->socket);
    if (c->words >= 0)
        close(c->words);
    memset(c, 0, sizeof *c);
    return is_fault;
}
