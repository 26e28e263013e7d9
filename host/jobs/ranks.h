/* SPDX-License-Identifier: MIT */
/* Several processes of one mpirun: which device is a rank's, who takes which window, and the file that all of them write at once. */
#ifndef CLFI_JOBS_RANKS_H
#define CLFI_JOBS_RANKS_H

#include "jobs/part_file.h"

typedef struct cli_ranks cli_ranks;

/* *out NULL: this process was not started by mpirun, or alone. Chooses session->device: of the list in it the one that is this rank's turn
 * on its machine, of a single name that, and without one, of the devices like the default one. Must come before the session is opened.
 * UNSUPPORTED: several processes were started, and this program was built without MPI. */
clf_status cli_ranks_open(cli_session *session, cli_ranks **out);
void cli_ranks_close(cli_ranks *ranks); /* NULL is a no-op; waits for the others */

/* Says the last failure with this rank's name, and ends all ranks; no-op without ranks or for CLF_OK. */
void cli_ranks_abort(const cli_ranks *ranks, clf_status st);

/* Which of them this process is, from 0; without ranks (NULL) 0 of 1. */
void cli_ranks_place(const cli_ranks *ranks, size_t *out_rank, size_t *out_size);

/* Whether all ranks do one job: INVALID_ARGUMENT where this one's model, texts or options (the job, and `more` of them as text) are not
 * rank 0's, FORMAT where its device computes something else. Collective; no-op without ranks. */
clf_status cli_ranks_agree(const cli_ranks *ranks, const cli_job *job, const char *more);

/* From now on the inputs give only the windows that this rank gets from the queue; no-op without ranks. */
void cli_ranks_take_windows(cli_ranks *ranks, cli_inputs *inputs);

/* Embeds the windows of `file` that this rank gets from the queue, if all ranks agree, and has all ranks write the file in one collective
 * call. Rank 0 gives it its name, and the fingerprint beside it. Until then it has a temporary name of this run's own. Collective. */
clf_status cli_ranks_embed(cli_ranks *ranks, cli_session *session, const cli_embedding *options, const char *directory, const char *file,
                           cli_inputs *inputs, const char *output, clf_embed_stats *stats);

#endif
