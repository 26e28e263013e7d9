/* SPDX-License-Identifier: MIT */
/* Lists devices in a child process, which may crash. */
#include "jobs/device_listing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "process/child.h"
#include "process/mpirun.h"
#include "jobs/patience.h"
#include "jobs/platform_guard.h"
#include "clformer/device.h"
#include "runtime/device.h"

enum { REASON_BYTES = 1024 };

typedef struct listing_answer {
    clf_status status;
    char reason[REASON_BYTES];
    cli_device_listing listing;
} listing_answer;

/* Chooses among usable devices that are one piece of hardware: the default one, else what "cpu" means, else the first. */
static void choose(const clf_device_list *list, size_t standard, cli_device_listing *out)
{
    size_t best[CLI_MOST_LISTED], cpu;
    if (clf_device_list_select(list, "cpu", &cpu) != CLF_OK)
        cpu = SIZE_MAX;
    for (size_t i = 0; i < out->count; i++)
        best[i] = SIZE_MAX;
    for (size_t i = 0; i < out->count; i++) {
        const int same = clf_device_list_get(list, i)->same_hardware_as;
        size_t *of_hardware = &best[same >= 0 ? (size_t)same : i];
        if (out->devices[i].is_usable && (*of_hardware == SIZE_MAX || i == standard || (i == cpu && *of_hardware != standard)))
            *of_hardware = i;
    }
    for (size_t i = 0; i < out->count; i++) {
        const int same = clf_device_list_get(list, i)->same_hardware_as;
        const size_t chosen = best[same >= 0 ? (size_t)same : i];
        out->devices[i].is_chosen = chosen == i;
        out->devices[i].same_as = out->devices[i].is_usable && chosen != i ? (int)chosen : -1;
    }
}

static void describe(const clf_device_list *list, cli_device_listing *out)
{
    size_t standard;
    if (clf_device_list_select(list, NULL, &standard) != CLF_OK)
        standard = SIZE_MAX;
    const clf_device_info *like = clf_device_list_get(list, standard);
    out->count = clf_device_list_count(list) < CLI_MOST_LISTED ? clf_device_list_count(list) : CLI_MOST_LISTED;
    for (size_t i = 0; i < out->count; i++) {
        const clf_device_info *info = clf_device_list_get(list, i);
        out->devices[i].is_usable = !info->reason[0];
        out->devices[i].is_like_default =
            like && strcmp(info->name, like->name) == 0 && strcmp(info->platform_name, like->platform_name) == 0;
        snprintf(out->devices[i].name, sizeof out->devices[i].name, "%s", info->name);
        snprintf(out->devices[i].driver, sizeof out->devices[i].driver, "%s", info->driver_version);
    }
    choose(list, standard, out);
}

/* Finds the device of each name. A device that exists but cannot be used is no error here: opening it reports why. */
static clf_status find_names(const clf_device_list *list, const char *names, cli_device_listing *out)
{
    const char *at = names;
    for (size_t i = 0; i < CLI_MOST_ASKED; i++, at++) {
        char *name;
        size_t index = SIZE_MAX;
        const size_t length = strcspn(at, ",");
        CLF_TRY(clfi_strndup(at, length, &name));
        const clf_status st = clf_device_list_select(list, clfi_device_selector(name[0] ? name : NULL), &index);
        free(name);
        out->asked[i] = st == CLF_OK && index < out->count ? index : SIZE_MAX;
        at += length;
        if ((st != CLF_OK && st != CLF_UNSUPPORTED) || !*at)
            return st == CLF_UNSUPPORTED ? CLF_OK : st;
    }
    return CLF_OK;
}

/* Runs in the child and sends one answer. user: the names to look for; NULL: none. Output of the drivers is discarded here, because they
 * print it again when the program loads them. */
static void serve(int socket, const void *user)
{
    listing_answer out = {.listing = {.count = 0}};
    clf_device_list *list;
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    out.status = clf_device_list_create(&list);
    if (out.status == CLF_OK) {
        describe(list, &out.listing);
        out.status = user ? find_names(list, user, &out.listing) : CLF_OK;
        clf_device_list_destroy(list);
    } else {
        out.status = clfi_fail_prefix(out.status, "listing the devices");
    }
    if (out.status != CLF_OK)
        snprintf(out.reason, sizeof out.reason, "%s", clf_last_error());
    clfi_message_send_bytes(socket, &out, sizeof out);
}

/* *out_answered false: the child crashed or took too long. */
static clf_status ask(const char *names, cli_device_listing *out, bool *out_answered)
{
    const clfi_patience patience = {cli_mpirun_size() > 1 ? cli_patience.listing_of_ranks : cli_patience.listing, NULL};
    clfi_child worker;
    listing_answer found;
    *out_answered = true; /* a system that refuses the process says nothing about the drivers */
    CLF_TRY(clfi_child_fork(serve, names, &worker));
    const clfi_message_end end = clfi_message_receive_bytes(worker.socket, &patience, &found, sizeof found);
    *out_answered = end == CLFI_MESSAGE_OK;
    clf_status st = CLF_OK;
    if (end == CLFI_MESSAGE_LATE)
        st = clfi_fail(CLF_DEVICE, "listing the devices: not finished within %g s", patience.seconds);
    else if (end != CLFI_MESSAGE_OK)
        st = clfi_fail_prefix(clfi_child_lost(&worker, end), "listing the devices");
    else if (found.status != CLF_OK)
        st = clfi_fail(found.status, "%.*s", REASON_BYTES - 1, found.reason);
    clfi_child_stop(&worker);
    *out = found.listing;
    return st;
}

clf_status cli_devices_list(bool tells, const char *names, cli_device_listing *out)
{
    bool answered;
    cli_platforms_stay();
    const clf_status st = ask(names, out, &answered);
    if (answered)
        return st;
    CLF_TRY(cli_platforms_leave_out(tells, NULL));
    return ask(names, out, &answered);
}

clf_status cli_devices_asked(const char *device, const char **out)
{
    static char *of_environment;
    const char *asked = clfi_device_selector(device);
    const bool are_several = asked && (strcmp(asked, "all") == 0 || strchr(asked, ','));
    *out = are_several ? asked : NULL;
    if (!are_several || device)
        return CLF_OK;
    CLF_TRY(clfi_strdup(asked, &of_environment));
    unsetenv("CLF_DEVICE");
    *out = of_environment;
    return CLF_OK;
}
