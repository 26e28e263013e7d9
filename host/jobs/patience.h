/* SPDX-License-Identifier: MIT */
/* Time limits of the program for the processes that it starts for devices, and for clients of the server. */
#ifndef CLFI_JOBS_PATIENCE_H
#define CLFI_JOBS_PATIENCE_H

/* In seconds. The first five are of the pool (jobs/pool.h). A process may compile kernels for minutes without an answer, so a slow one goes
 * on while another process repeats its window. */
typedef struct cli_limits {
    double open;             /* wait for other devices after the first has opened the model, at least 4 times as long as the first took */
    double move;             /* for the bytes of a request or an answer that has begun */
    double stalled;          /* without an answer, and 4 times as long as usual: another device repeats the window */
    double told;             /* without an answer, and 4 times as long as usual: a line on standard error says so */
    double lost;             /* without an answer, and 20 times as long as usual: the process is ended */
    double listing;          /* for listing the devices (jobs/device_listing.h) */
    double idle;             /* of a client's connection without a request (serve/watch.h) */
    double listing_of_ranks; /* the same when several ranks of mpirun load drivers at once */
} cli_limits;

/* In a file of its own, because the tests link the program with shorter limits. */
extern const cli_limits cli_patience;

#endif
