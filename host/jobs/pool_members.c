/* SPDX-License-Identifier: MIT */
/* Starts a process for each device and tracks which of them take part. */
#include "jobs/pool_members.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/clock.h"
#include "jobs/device_listing.h"
#include "jobs/patience.h"
#include "console/progress.h"

enum { TICK_MS = 100 };

static clf_status add_member(cli_pool_members *members, const char *device, size_t length)
{
    if (members->count == CLI_MOST_DEVICES || length >= CLI_MEMBER_NAME_BYTES)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--device: expected at most %d devices, each with a name of at most %d bytes", CLI_MOST_DEVICES,
                 CLI_MEMBER_NAME_BYTES - 1);
    if (length == 3 && memcmp(device, "all", 3) == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--device: expected all alone, or names of devices without it");
    cli_pool_member *m = &members->at[members->count++];
    m->worker = (clfi_child)CLFI_CHILD_INIT;
    snprintf(m->device, sizeof m->device, "%.*s", (int)length, device);
    return CLF_OK;
}

clf_status cli_member_receive(clfi_child *worker, void *data, size_t size)
{
    const clfi_patience patience = {cli_patience.move, NULL};
    const clfi_message_end end = clfi_message_receive_bytes(worker->socket, &patience, data, size);
    if (end == CLFI_MESSAGE_LATE) {
        clfi_child_stop(worker);
        CLF_FAIL(CLF_DEVICE, "the device's process stopped in the middle of an answer");
    }
    return end == CLFI_MESSAGE_OK ? CLF_OK : clfi_child_lost(worker, end);
}

clf_status cli_member_receive_answer(clfi_child *worker, cli_pool_reply *answer)
{
    CLF_TRY(cli_member_receive(worker, answer, sizeof *answer));
    answer->reason[CLI_POOL_REASON_BYTES - 1] = '\0';
    return answer->status == CLF_OK ? CLF_OK : clfi_fail(answer->status, "%s", answer->reason);
}

static void describe(cli_pool_member *m, const cli_listed *device)
{
    memcpy(m->name, device->name, sizeof m->name);
    memcpy(m->driver, device->driver, sizeof m->driver);
}

/* Adds the devices of "all". Standard error names devices that are left out because they are the same hardware as another. */
static clf_status add_all(cli_pool_members *members, const cli_device_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        const cli_listed *device = &listing->devices[i];
        char text[32];
        const int length = snprintf(text, sizeof text, "%zu", i);
        if (device->is_chosen) {
            CLF_TRY(add_member(members, text, (size_t)length));
            describe(&members->at[members->count - 1], device);
        }
        if (!device->is_chosen && device->same_as >= 0)
            fprintf(stderr, "clformer: device %zu is the same hardware as device %d: --device all leaves it out\n", i, device->same_as);
    }
    return CLF_OK;
}

clf_status cli_members_list(cli_pool_members *members, const char *devices)
{
    cli_device_listing listing;
    const bool are_all = strcmp(devices, "all") == 0;
    for (const char *at = devices; !are_all; at++) {
        const size_t length = strcspn(at, ",");
        CLF_TRY(add_member(members, at, length));
        at += length;
        if (!*at)
            break;
    }
    CLF_TRY(cli_devices_list(true, are_all ? NULL : devices, &listing));
    if (are_all)
        return add_all(members, &listing);
    for (size_t i = 0; i < members->count; i++)
        if (listing.asked[i] < listing.count)
            describe(&members->at[i], &listing.devices[listing.asked[i]]);
    return CLF_OK;
}

const char *cli_member_name(const cli_pool_member *m)
{
    return m->device[0] ? m->device : "default";
}

void cli_member_say_lost(cli_pool_member *m, const char *what)
{
    cli_line_clear();
    fprintf(stderr, "clformer: device %s: %s; %s\n", cli_member_name(m), clf_last_error(), what);
    clfi_child_stop(&m->worker);
}

double cli_seconds_since(uint64_t ns)
{
    return (double)(clfi_now_ns() - ns) / 1e9;
}

bool cli_member_is_alive(const cli_pool_member *m)
{
    return m->worker.process > 0;
}

bool cli_member_is_opening(const cli_pool_member *m)
{
    return cli_member_is_alive(m) && !m->is_open;
}

bool cli_member_is_open(const cli_pool_member *m)
{
    return cli_member_is_alive(m) && m->is_open;
}

bool cli_member_is_free(const cli_pool_member *m)
{
    return cli_member_is_open(m) && !m->is_busy;
}

size_t cli_members_count(const cli_pool_members *members, bool (*which)(const cli_pool_member *))
{
    size_t count = 0;
    for (size_t i = 0; i < members->count; i++)
        count += which(&members->at[i]);
    return count;
}

bool cli_members_is_last(const cli_pool_members *members, const cli_pool_member *m)
{
    return cli_members_count(members, cli_member_is_alive) == (size_t)cli_member_is_alive(m);
}

clf_status cli_members_wait(cli_pool_members *members, bool (*which)(const cli_pool_member *), cli_pool_member *out[CLI_MOST_DEVICES],
                            size_t *out_count)
{
    struct pollfd polls[CLI_MOST_DEVICES];
    cli_pool_member *who[CLI_MOST_DEVICES];
    nfds_t count = 0;
    *out_count = 0;
    for (size_t i = 0; i < members->count; i++)
        if (which(&members->at[i])) {
            who[count] = &members->at[i];
            polls[count++] = (struct pollfd){.fd = members->at[i].worker.socket, .events = POLLIN};
        }
    const int ready = poll(polls, count, TICK_MS);
    if (ready < 0 && errno != EINTR)
        CLF_FAIL(CLF_IO, "poll: %s", strerror(errno));
    for (nfds_t i = 0; ready > 0 && i < count; i++)
        if (polls[i].revents)
            out[(*out_count)++] = who[i];
    return CLF_OK;
}

clf_status cli_members_take_opening(cli_pool_members *members, cli_pool_member *m)
{
    cli_pool_reply answer;
    const clf_status st = cli_member_receive_answer(&m->worker, &answer);
    m->is_open = st == CLF_OK;
    m->linear_engine = m->is_open ? answer.linear_engine : NULL;
    m->is_told = false;
    if (st == CLF_OK || cli_members_is_last(members, m))
        return st;
    cli_member_say_lost(m, "it is left out");
    return CLF_OK;
}

static clf_status fork_member(cli_pool_member *m, const cli_session *session, const char *directory)
{
    const cli_pool_place at = {session, directory, m->device};
    const struct timeval limit = {.tv_sec = (time_t)cli_patience.move};
    m->since_ns = clfi_now_ns();
    CLF_TRY(clfi_child_fork(cli_pool_serve, &at, &m->worker));
    if (setsockopt(m->worker.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) /* for a member that no longer reads */
        CLF_FAIL(CLF_IO, "setsockopt: %s", strerror(errno));
    return CLF_OK;
}

clf_status cli_members_start(cli_pool_members *members, const cli_session *session, const char *directory)
{
    const uint64_t start_ns = clfi_now_ns();
    double until = cli_patience.lost;
    if (!members->count)
        CLF_FAIL(CLF_NOT_FOUND, "no usable device");
    for (size_t i = 0; i < members->count; i++)
        CLF_TRY(fork_member(&members->at[i], session, directory));
    while (cli_members_count(members, cli_member_is_opening) && cli_seconds_since(start_ns) < until) {
        cli_pool_member *ready[CLI_MOST_DEVICES];
        size_t count;
        CLF_TRY(cli_members_wait(members, cli_member_is_opening, ready, &count));
        for (size_t i = 0; i < count; i++)
            CLF_TRY(cli_members_take_opening(members, ready[i]));
        const double took = cli_seconds_since(start_ns);
        if (until == cli_patience.lost && cli_members_count(members, cli_member_is_open))
            until = took + fmax(CLI_TIMES_LATE * took, cli_patience.open);
    }
    if (!cli_members_count(members, cli_member_is_open))
        CLF_FAIL(CLF_DEVICE, "no device has opened the model within %g s", cli_patience.lost);
    for (size_t i = 0; i < members->count; i++)
        if (cli_member_is_opening(&members->at[i]))
            fprintf(stderr, "clformer: device %s: has not opened the model within %.0f s; it will join once it has\n",
                    cli_member_name(&members->at[i]), cli_seconds_since(start_ns));
    return CLF_OK;
}

void cli_members_stop(cli_pool_members *members)
{
    for (size_t i = 0; i < members->count; i++)
        clfi_child_stop(&members->at[i].worker);
}
