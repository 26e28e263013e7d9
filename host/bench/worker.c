/* SPDX-License-Identifier: MIT */
/* Starts the process that holds a device, and sends it requests. */
#include "bench/worker.h"

#include "base/status.h"

static void serve_workloads(int socket, const void *workloads)
{
    clfi_worker_serve(socket, workloads);
}

clf_status clfi_worker_start(const clfi_workload_list *workloads, clfi_child *out)
{
    return clfi_child_fork(serve_workloads, workloads, out);
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

clf_status clfi_worker_ask(clfi_child *worker, json_t *request, const clfi_patience *patience, json_t **out)
{
    if (worker->process <= 0) {
        json_decref(request);
        CLF_FAIL(CLF_INTERNAL, "a request to a device whose process is not running");
    }
    json_t *reply = NULL;
    clfi_message_end end = clfi_message_send(worker->socket, request);
    if (end == CLFI_MESSAGE_OK)
        end = clfi_message_receive(worker->socket, patience, &reply);
    if (end == CLFI_MESSAGE_LATE) {
        clfi_child_stop(worker);
        CLF_FAIL(CLF_DEVICE, "no answer from the device's process within %g s; it was ended", patience->seconds);
    }
    if (end != CLFI_MESSAGE_OK)
        return clfi_child_lost(worker, end);
    const clf_status st = check_reply(reply);
    if (st != CLF_OK) {
        json_decref(reply);
        return st;
    }
    *out = reply;
    return CLF_OK;
}
