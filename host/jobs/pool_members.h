/* SPDX-License-Identifier: MIT */
/* Starts, awaits and ends the processes of a pool, one for each device. jobs/pool.c gives them work. */
#ifndef CLFI_JOBS_POOL_MEMBERS_H
#define CLFI_JOBS_POOL_MEMBERS_H

#include "process/child.h"
#include "jobs/device_listing.h"
#include "jobs/pool_device.h"

/* CLI_TIMES_LATE: how many times as long as usual is late (jobs/patience.h). */
enum { CLI_MOST_DEVICES = CLI_MOST_ASKED, CLI_MEMBER_NAME_BYTES = 256, CLI_TIMES_LATE = 4 };

typedef struct cli_pool_member {
    char device[CLI_MEMBER_NAME_BYTES]; /* selector of clformer/device.h; "" = default */
    char name[CLI_LISTED_NAME_BYTES], driver[CLI_LISTED_NAME_BYTES];
    clfi_child worker;
    bool is_open;              /* has opened the model */
    const char *linear_engine; /* of that model; NULL: not open */
    bool is_busy;              /* works on window `number`, which another may have finished meanwhile */
    bool is_told;              /* standard error has said that it takes long */
    uint64_t number;
    uint64_t since_ns;    /* start of its window, or of opening the model (clfi_now_ns) */
    double work, seconds; /* of all windows that it has answered */
} cli_pool_member;

typedef struct cli_pool_members {
    cli_pool_member at[CLI_MOST_DEVICES];
    size_t count;
} cli_pool_members;

/* Adds the devices of --device: "all", or names separated by commas. NOT_FOUND: no device matches a name. INVALID_ARGUMENT: "all"
 * beside names, too many names, or a name that is too long. Other failures as cli_devices_list. */
clf_status cli_members_list(cli_pool_members *members, const char *devices);

/* Starts the processes. Waits until all have opened the model or failed, or some have opened it and the others are late. NOT_FOUND: there
 * are no members. DEVICE: none has opened the model in time. If all fail, the last one's failure. */
clf_status cli_members_start(cli_pool_members *members, const cli_session *session, const char *directory);

/* Ends all processes. */
void cli_members_stop(cli_pool_members *members);

/* Conditions for `which` of the functions below. Alive: the process runs, or its end has not been noticed. Free: open and not busy. */
bool cli_member_is_alive(const cli_pool_member *m);
bool cli_member_is_opening(const cli_pool_member *m);
bool cli_member_is_open(const cli_pool_member *m);
bool cli_member_is_free(const cli_pool_member *m);

size_t cli_members_count(const cli_pool_members *members, bool (*which)(const cli_pool_member *));

/* Whether no other member is alive. */
bool cli_members_is_last(const cli_pool_members *members, const cli_pool_member *m);

/* Waits at most 0.1 s for members that satisfy `which`: *out gets those that have sent something or whose process has ended. IO. */
clf_status cli_members_wait(cli_pool_members *members, bool (*which)(const cli_pool_member *), cli_pool_member *out[CLI_MOST_DEVICES],
                            size_t *out_count);

/* Reads whether a member has opened the model. If not, it is left out with a line on standard error; if no other member is alive, its
 * failure is returned. */
clf_status cli_members_take_opening(cli_pool_members *members, cli_pool_member *m);

/* Reads `size` bytes of an answer that has begun. DEVICE: it ends early; the reason says why. */
clf_status cli_member_receive(clfi_child *worker, void *data, size_t size);

/* Reads an answer without its rows. Returns its status, with its reason as the last error, or as cli_member_receive. */
clf_status cli_member_receive_answer(clfi_child *worker, cli_pool_reply *answer);

/* The member's selector for messages, "default" if it is empty. */
const char *cli_member_name(const cli_pool_member *m);

/* Ends the member's process. Standard error gets a line with the last error as the reason, and `what`, the consequence. */
void cli_member_say_lost(cli_pool_member *m, const char *what);

double cli_seconds_since(uint64_t ns);

#endif
