/* SPDX-License-Identifier: MIT */
/* Writes embeddings to a NumPy file with its fingerprint. A part file beside it keeps finished windows of an interrupted run. */
#ifndef CLFI_JOBS_EMBED_NPY_H
#define CLFI_JOBS_EMBED_NPY_H

#include "jobs/embedding.h"

/* Embeds all inputs; the output appears whole or not at all. `file`: the file that holds all texts; NULL if they cannot be read again. If
 * the texts of a file fill more than one window, finished windows are kept in <output>.part until the output is complete. resumes: windows
 * in that part file are not embedded again. INVALID_ARGUMENT: it belongs to another job (the reason names what differs). */
clf_status cli_embed_npy(cli_session *session, const cli_embedding *options, const char *directory, cli_inputs *inputs, const char *file,
                         const char *output, bool resumes, clf_embed_stats *stats);

/* For a run without --resume, before any work. INVALID_ARGUMENT: <output>.part keeps embeddings, which the run would overwrite. */
clf_status cli_embed_npy_check(const char *output);

#endif
