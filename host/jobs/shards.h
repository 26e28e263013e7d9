/* SPDX-License-Identifier: MIT */
/* A file of texts shared among runs that know nothing of each other: shard i of N embeds every N-th window into a part file of its own. */
#ifndef CLFI_JOBS_SHARDS_H
#define CLFI_JOBS_SHARDS_H

#include "jobs/part_file.h"

/* "i/N", 1 <= i <= N. INVALID_ARGUMENT otherwise. */
clf_status cli_shard_parse(const char *text, size_t *out_shard, size_t *out_shards);

/* directory/manifest.json, which tells the job that all shards share. */
clf_status cli_manifest_path(const char *directory, char **out);

/* directory/shard-i-of-N.part while it grows, .done once nothing is missing. */
clf_status cli_shard_path(const char *directory, size_t shard, size_t shards, bool is_done, char **out);

/* Embeds what the shard still lacks. INVALID_ARGUMENT: the directory holds another job's shards. */
clf_status cli_embed_shard(cli_session *session, const cli_embedding *options, const cli_job *job, cli_inputs *inputs,
                           const char *directory, clf_embed_stats *stats);

#endif
