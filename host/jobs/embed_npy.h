/* SPDX-License-Identifier: MIT */
/* Embeddings into a NumPy file with its fingerprint, and with what a run that is ended must not lose beside it. */
#ifndef CLFI_JOBS_EMBED_NPY_H
#define CLFI_JOBS_EMBED_NPY_H

#include "jobs/embedding.h"

/* The output appears whole or not at all. `file`: where all texts come from, NULL if they cannot be read again; where they fill more than
 * one window, each is kept in <output>.part as it comes, until the output is there. resumes: windows that it holds are not embedded again.
 * INVALID_ARGUMENT: it is another job's (what differs is named). */
clf_status cli_embed_npy(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs, const char *file,
                         const char *output, bool resumes, clf_embed_stats *stats);

/* Without --resume, before any work: INVALID_ARGUMENT where <output>.part keeps embeddings, which that would lose. */
clf_status cli_embed_npy_check(const char *output);

#endif
