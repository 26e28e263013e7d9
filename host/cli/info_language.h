/* SPDX-License-Identifier: MIT */
/* Collects the rows of clformer info about a model's files, its memory plan and language models. */
#ifndef CLFI_CLI_INFO_LANGUAGE_H
#define CLFI_CLI_INFO_LANGUAGE_H

#include "cli/info_rows.h"
#include "jobs/session.h"
#include "model/family.h"
#include "model/memory_plan.h"

/* Adds the number of tensors of each stored type. */
clf_status cli_info_types(cli_info_rows *info, const char *path);

/* Adds the adapter that is merged into the model: its type, the model's directory, and how many tensors are merged and replaced. Adds
 * nothing if there is none. */
clf_status cli_info_adapter(cli_info_rows *info, const char *path);

/* Adds the memory plan: bytes of weights and scratch, for a language model also those of a token in the cache, and the device's memory.
 * Adds the engine that multiplies each quantised type. */
clf_status cli_info_plan(cli_info_rows *info, const clf_model *model, const char *path);

/* Adds a GGUF file's name and type, whether there is a chat template, the tokens that end texts, and the settings of generation_config.json
 * that no command follows. */
clf_status cli_info_generation(cli_info_rows *info, const clf_model *model, const char *path);

/* Describes a model that could not be opened for lack of memory: family, types, plan, and as "does_not_fit" the message of
 * clfi_memory_plan_check. *told false: nothing was added, because the plan has room and the cause was another. Statuses: those of reading
 * the model's files. */
clf_status cli_info_unopened(cli_info_rows *info, const cli_session *session, const char *path, bool *told);

#endif
