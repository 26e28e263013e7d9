/* SPDX-License-Identifier: MIT */
/* Divides a file of texts among runs that do not communicate: shard i of N embeds every N-th window into a part file of its own. */
#ifndef CLFI_JOBS_SHARDS_H
#define CLFI_JOBS_SHARDS_H

#include "jobs/part_file.h"

/* Parses "i/N", 1 <= i <= N <= CLI_MOST_SHARDS. INVALID_ARGUMENT otherwise. */
clf_status cli_shard_parse(const char *text, size_t *out_shard, size_t *out_shards);

/* *out: the path directory/manifest.json, the file of the job that all shards share; the caller frees it. */
clf_status cli_manifest_path(const char *directory, char **out);

/* *out: the path directory/shard-i-of-N.part of an unfinished shard, or .done of a complete one; the caller frees it. */
clf_status cli_shard_path(const char *directory, size_t shard, size_t shards, bool is_done, char **out);

/* Embeds the windows that are missing in the job's shard. INVALID_ARGUMENT: the directory holds another job's shards. */
clf_status cli_embed_shard(cli_session *session, const cli_embedding *options, const cli_job *job, cli_inputs *inputs,
                           const char *directory, clf_embed_stats *stats);

#endif
