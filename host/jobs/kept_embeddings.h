/* SPDX-License-Identifier: MIT */
/* Keeps the embeddings of a corpus from one search to the next. Each file of texts has an index of its own: a .npy file with its
 * fingerprint, which also holds a hash of each text. */
#ifndef CLFI_JOBS_KEPT_EMBEDDINGS_H
#define CLFI_JOBS_KEPT_EMBEDDINGS_H

#include "jobs/corpus.h"
#include "jobs/kept_index.h"

/* Reads the texts of `files` into the corpus, without blank lines, and embeds only texts that their file's index lacks. All texts are
 * embedded if the index was made by another model or with other options, or is damaged. At the end an index is written again unless its
 * texts are the same as before. It is also written after a window of new texts, so that an interrupted search loses little, but not if the
 * last writing took more than a twentieth of the time since. If an index cannot be read or written, a line on standard error says why, and
 * the search goes on. Nothing is kept for a file that is not regular, or while --engine or CLF_ENGINE forces an engine, which the user
 * wants to see run. An index is never written through a link or over a file that search did not make. Earlier versions kept
 * F.embeddings.npy beside the corpus: it is read if the index does not exist yet. */
clf_status cli_kept_embed(cli_session *session, const cli_embedding *options, const char *directory, const cli_index_place *place,
                          const char *const *files, size_t count, cli_corpus *out, clf_embed_stats *stats);

#endif
