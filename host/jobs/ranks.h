/* SPDX-License-Identifier: MIT */
/* Shares the work of a command among the processes (ranks) of one mpirun: chooses each rank's device, gives windows out, and has all ranks
 * write one file. */
#ifndef CLFI_JOBS_RANKS_H
#define CLFI_JOBS_RANKS_H

#include "jobs/part_file.h"

typedef struct cli_ranks cli_ranks;

/* *out NULL: mpirun did not start this process, or started no other. Chooses session->device. If it is a list or "all", the ranks of a
 * machine take its devices in turn; without a name they take the devices like the default one. A single name stays. Must come before the
 * session is opened. UNSUPPORTED: mpirun started several processes, and this program was built without MPI or with another one. INTERNAL:
 * MPI cannot start. INVALID_ARGUMENT: a name in the list is too long; *out is set, for cli_ranks_abort. Also as cli_devices_list. */
clf_status cli_ranks_open(cli_session *session, cli_ranks **out);
void cli_ranks_close(cli_ranks *ranks); /* NULL is a no-op; waits for the others */

/* Prints the last failure with this rank's number and host, and ends all ranks; no-op without ranks or for CLF_OK. */
void cli_ranks_abort(const cli_ranks *ranks, clf_status st);

/* This process's rank, from 0, and the number of ranks; 0 of 1 without ranks (NULL). */
void cli_ranks_place(const cli_ranks *ranks, size_t *out_rank, size_t *out_size);

/* Checks that this rank does the same job as rank 0. more: further options as text. INVALID_ARGUMENT: its model, texts or options differ.
 * FORMAT: its device computes other canaries. Collective; no-op without ranks. */
clf_status cli_ranks_agree(const cli_ranks *ranks, const cli_job *job, const char *more);

/* From now on the inputs give only the windows that this rank gets from the queue; no-op without ranks. */
void cli_ranks_take_windows(cli_ranks *ranks, cli_inputs *inputs);

/* Embeds the windows of `file` that this rank gets from the queue, if all ranks agree. Then all ranks write `output` in one collective
 * call, under a temporary name. At the end rank 0 renames it and writes the fingerprint beside it. Collective. */
clf_status cli_ranks_embed(cli_ranks *ranks, cli_session *session, const cli_embedding *options, const char *directory, const char *file,
                           cli_inputs *inputs, const char *output, clf_embed_stats *stats);

#endif
