/* SPDX-License-Identifier: MIT */
/* A library to preload that ends the program at one of its own calls, as kill -9 would: at moments that are the same in every run.
 *
 *   CLF_TEST_KILL=CALL:N        at the N-th call of that name, counted from 1 in each process; half of a write is done before
 *   CLF_TEST_KILL_CHILD=N       only in processes that were forked from the first, from the N-th on
 *   CLF_TEST_KILL_SIGNAL=S      by that signal instead and before a write, which goes on if the process does
 *   CLF_TEST_KILL_RANK=R        only in this rank of mpirun
 *   CLF_TEST_KILL_ONCE=FILE     only in the process that comes first: it makes the file */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/types.h>
#include <unistd.h>

static long count, forks;
static pid_t first_process;

static void count_fork(void)
{
    forks++;
}

__attribute__((constructor)) static void start(void)
{
    first_process = getpid();
    pthread_atfork(count_fork, NULL, NULL);
}

static bool is_program(const void *caller)
{
    Dl_info here, entry;
    return dladdr(caller, &here) && dladdr((const void *)getauxval(AT_ENTRY), &entry) && here.dli_fbase == entry.dli_fbase;
}

static bool is_meant(void)
{
    const char *rank = getenv("CLF_TEST_KILL_RANK"), *own = getenv("OMPI_COMM_WORLD_RANK"), *child = getenv("CLF_TEST_KILL_CHILD");
    return (!child || (getpid() != first_process && forks >= atol(child))) && (!rank || (own && strcmp(rank, own) == 0));
}

static bool strikes(const char *call, const void *caller)
{
    const char *wanted = getenv("CLF_TEST_KILL"), *once = getenv("CLF_TEST_KILL_ONCE");
    const size_t length = strlen(call);
    if (!wanted || strncmp(wanted, call, length) != 0 || wanted[length] != ':' || !is_meant() || !is_program(caller))
        return false;
    return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == atol(wanted + length + 1) &&
           (!once || open(once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) >= 0);
}

static void end(void)
{
    const char *other = getenv("CLF_TEST_KILL_SIGNAL");
    kill(getpid(), other ? atoi(other) : SIGKILL);
    while (!other)
        pause();
}

static bool ends_at_half(void)
{
    return !getenv("CLF_TEST_KILL_SIGNAL");
}

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define STRIKES strikes(__func__, __builtin_return_address(0))
#define CALL(name, parameters, arguments) \
    int name parameters                   \
    {                                     \
        REAL(name);                       \
        if (STRIKES)                      \
            end();                        \
        return real arguments;            \
    }
#define WRITE(name, parameters, whole, half) \
    ssize_t name parameters                  \
    {                                        \
        REAL(name);                          \
        if (STRIKES) {                       \
            if (ends_at_half())              \
                (void)!real half;            \
            end();                           \
        }                                    \
        return real whole;                   \
    }

CALL(fdatasync, (int fd), (fd))
CALL(fsync, (int fd), (fd))
CALL(linkat, (int from_at, const char *from, int to_at, const char *to, int flags), (from_at, from, to_at, to, flags))
CALL(rename, (const char *from, const char *to), (from, to))
CALL(unlink, (const char *path), (path))
int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
CALL(renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags), (from_at, from, to_at, to, flags))
int MPI_Win_flush(int rank, void *window);
CALL(MPI_Win_flush, (int rank, void *window), (rank, window))
int MPI_File_sync(void *file);
CALL(MPI_File_sync, (void *file), (file))
WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at), (fd, data, size / 2, at))
#define RECEIVE(name, parameters, arguments) \
    ssize_t name parameters                  \
    {                                        \
        REAL(name);                          \
        if (STRIKES)                         \
            end();                           \
        return real arguments;               \
    }
ssize_t recv(int fd, void *data, size_t size, int flags);
RECEIVE(recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
ssize_t send(int fd, const void *data, size_t size, int flags);
WRITE(send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags), (fd, data, size / 2, flags))
