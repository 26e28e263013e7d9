/* SPDX-License-Identifier: MIT */
/* Keeps the embeddings of a corpus from one search to the next. Each file of texts has an index of its own: a .npy file with its
 * fingerprint, which also holds a hash of each text. */
#ifndef CLFI_JOBS_KEPT_EMBEDDINGS_H
#define CLFI_JOBS_KEPT_EMBEDDINGS_H

#include "jobs/corpus.h"
#include "jobs/kept_index.h"

/* The corpus with the texts of `files`, blank lines left out, but only texts that are not in their file's index are embedded. The index is
 * replaced where something is new, and already after a window of new texts, so that an interrupted search loses little. It is left for
 * later where writing took more than a twentieth of the time since the last writing. All texts are embedded where the index was made by
 * another model or with other options, or is damaged. A line on standard error says so, and another why an index cannot be read or written.
 * Neither fails the search. Nothing is kept for what is not a regular file, and where an engine is forced, which one does to see it run. An
 * index is never written through a link or over a file that search did not make. F.embeddings.npy, which earlier versions kept beside the
 * corpus, serves once in the place of an index that does not exist yet. */
clf_status cli_kept_embed(cli_session *session, const cli_embedding *options, const char *directory, const cli_index_place *place,
                          const char *const *files, size_t count, cli_corpus *out, clf_embed_stats *stats);

#endif
