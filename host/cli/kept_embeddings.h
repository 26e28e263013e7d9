/* SPDX-License-Identifier: MIT */
/* The embeddings of a corpus of texts, kept beside it from one search to the next: F.embeddings.npy and its fingerprint, which also holds a
 * hash of each text. */
#ifndef CLFI_CLI_KEPT_EMBEDDINGS_H
#define CLFI_CLI_KEPT_EMBEDDINGS_H

#include "cli/embedding.h"

/* Whether embeddings of `corpus` are kept: it is a regular file, and no engine is forced, which one does to see it run. */
bool cli_keeps_embeddings(const cli_session *session, const char *corpus);

/* The corpus with its texts, as cli_pool_embed and cli_collect give it, but only texts that are not in F.embeddings.npy are embedded, and
 * the file is replaced where something is new. All are embedded where it was made by another model or with other options, or is damaged,
 * which one line on standard error tells, as it tells why the new file cannot be written; neither fails the search. A file of that name
 * that is not of this making is neither used nor replaced. */
clf_status cli_kept_embed(cli_session *session, const cli_embedding *options, const char *directory, const char *corpus,
                          cli_collection *out, clf_embed_stats *stats);

#endif
