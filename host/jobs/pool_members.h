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
    char device[CLI_MEMBER_NAME_BYTES]; /* selector; "" = default */
    char name[CLI_LISTED_NAME_BYTES], driver[CLI_LISTED_NAME_BYTES];
    clfi_child worker;
    bool is_open;              /* has the model, */
    const char *linear_engine; /* of which this is */
    bool is_busy;              /* with the job of this number, which another may have done meanwhile */
    bool is_told;              /* that it takes long */
    uint64_t number;
    uint64_t since_ns;    /* that it works, or opens the model */
    double work, seconds; /* of all windows that it has answered */
} cli_pool_member;

typedef struct cli_pool_members {
    cli_pool_member at[CLI_MOST_DEVICES];
    size_t count;
} cli_pool_members;

/* Those of --device: "all", or names with commas between. NOT_FOUND: a name that no device of the machine has. */
clf_status cli_members_list(cli_pool_members *members, const char *devices);

/* Until all have opened the model or failed, or some have and the others are late. */
clf_status cli_members_start(cli_pool_members *members, const cli_session *session, const char *directory);

/* Ends all processes. */
void cli_members_stop(cli_pool_members *members);

/* Which of them, for the functions below. */
bool cli_member_is_alive(const cli_pool_member *m);
bool cli_member_is_opening(const cli_pool_member *m);
bool cli_member_is_open(const cli_pool_member *m);
bool cli_member_is_free(const cli_pool_member *m);

size_t cli_members_count(const cli_pool_members *members, bool (*which)(const cli_pool_member *));

/* Whether no other lives. */
bool cli_members_is_last(const cli_pool_members *members, const cli_pool_member *m);

/* Waits for a moment: who of those for whom `which` holds has something to tell, or is gone. */
clf_status cli_members_wait(cli_pool_members *members, bool (*which)(const cli_pool_member *), cli_pool_member *out[CLI_MOST_DEVICES],
                            size_t *out_count);

/* The answer of a member that has opened the model, or not. A failure is returned only where there is no other member. */
clf_status cli_members_take_opening(cli_pool_members *members, cli_pool_member *m);

/* Reads `size` bytes of an answer that has begun. CLF_OK, or the reason why it ends early. */
clf_status cli_member_receive(clfi_child *worker, void *data, size_t size);

/* CLF_OK, or why there is no answer or a bad one. */
clf_status cli_member_receive_answer(clfi_child *worker, cli_pool_reply *answer);

/* For messages. */
const char *cli_member_name(const cli_pool_member *m);

/* The member is gone; the reason is the last error's. */
void cli_member_say_lost(cli_pool_member *m, const char *what);

double cli_seconds_since(uint64_t ns);

#endif
