/* SPDX-License-Identifier: MIT */
/* How long the program waits for its own processes. */
#ifndef CLFI_JOBS_PATIENCE_H
#define CLFI_JOBS_PATIENCE_H

/* Seconds. First of the pool (jobs/pool.h), where a process that compiles kernels for minutes is only slow: what it works at is given to
 * another as well, and it goes on. */
typedef struct cli_limits {
    double open;             /* after the first device has opened the model, or four times as long as that took: others join later */
    double move;             /* for the bytes of a request or an answer that has begun */
    double stalled;          /* and four times as long as its windows took: another takes the texts as well */
    double told;             /* no answer for so long is told */
    double lost;             /* and twenty times as long as its windows took: the process is ended */
    double listing;          /* of the devices (jobs/device_listing.h), */
    double listing_of_ranks; /* and where ranks of a machine all load drivers at once */
} cli_limits;

/* In a file of its own: the tests link the program with another that has less. */
extern const cli_limits cli_patience;

#endif
