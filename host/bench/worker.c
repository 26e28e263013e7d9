/* SPDX-License-Identifier: MIT */
/* Starting, asking and ending the process that holds a device. */
#include "bench/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static void serve_workloads(int socket, const void *workloads)
{
    clfi_worker_serve(socket, workloads);
}

clf_status clfi_worker_start(const clfi_workload_list *workloads, clfi_worker *out)
{
    return clfi_worker_fork(serve_workloads, workloads, out);
}

clf_status clfi_worker_fork(void (*serve)(int socket, const void *user), const void *user, clfi_worker *out)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        CLF_FAIL(CLF_IO, "socket to a device's process: %s", strerror(errno));
    fflush(NULL); /* what is buffered must not come out twice */
    const pid_t process = fork();
    if (process < 0) {
        close(pair[0]);
        close(pair[1]);
        CLF_FAIL(CLF_IO, "process for a device: %s", strerror(errno));
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
    *out = (clfi_worker){process, pair[0]};
    return CLF_OK;
}

/* Closes the socket and waits for the end. */
static int reap(clfi_worker *worker)
{
    int status = 0;
    close(worker->socket);
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    *worker = (clfi_worker)CLFI_WORKER_INIT;
    return status;
}

void clfi_worker_stop(clfi_worker *worker)
{
    if (worker->process <= 0)
        return;
    kill(worker->process, SIGKILL);
    reap(worker);
}

clf_status clfi_worker_lost(clfi_worker *worker, clfi_message_end end)
{
    if (end != CLFI_MESSAGE_CLOSED) {
        clfi_worker_stop(worker);
        return end == CLFI_MESSAGE_FAILED ? CLF_DEVICE /* the message tells the reason */ : clfi_fail(CLF_DEVICE, "interrupted");
    }
    const int status = reap(worker);
    if (WIFSIGNALED(status))
        CLF_FAIL(CLF_DEVICE, "the device's process ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    CLF_FAIL(CLF_DEVICE, "the device's process ended with status %d", WEXITSTATUS(status));
}

static clf_status check_reply(const json_t *reply)
{
    const json_int_t status = json_integer_value(json_object_get(reply, "status"));
    const char *reason = json_string_value(json_object_get(reply, "reason"));
    if (status == CLF_OK)
        return CLF_OK;
    if (status < 0 || status >= CLF_STATUS_COUNT)
        CLF_FAIL(CLF_INTERNAL, "a device's process answered with status %lld", (long long)status);
    CLF_FAIL((clf_status)status, "%s", reason ? reason : clf_status_text((clf_status)status));
}

clf_status clfi_worker_ask(clfi_worker *worker, json_t *request, const clfi_patience *patience, json_t **out)
{
    if (worker->process <= 0) {
        json_decref(request);
        CLF_FAIL(CLF_INTERNAL, "a device without a process was asked");
    }
    json_t *reply = NULL;
    clfi_message_end end = clfi_message_send(worker->socket, request);
    if (end == CLFI_MESSAGE_OK)
        end = clfi_message_receive(worker->socket, patience, &reply);
    if (end == CLFI_MESSAGE_LATE) {
        clfi_worker_stop(worker);
        CLF_FAIL(CLF_DEVICE, "no answer from the device's process within %g s; it was ended", patience->seconds);
    }
    if (end != CLFI_MESSAGE_OK)
        return clfi_worker_lost(worker, end);
    const clf_status st = check_reply(reply);
    if (st != CLF_OK) {
        json_decref(reply);
        return st;
    }
    *out = reply;
    return CLF_OK;
}
