/* SPDX-License-Identifier: MIT */
/* The part of info about files and language models. */
#ifndef CLFI_CLI_INFO_LANGUAGE_H
#define CLFI_CLI_INFO_LANGUAGE_H

#include "cli/info_rows.h"
#include "jobs/session.h"
#include "model/family.h"
#include "model/memory_plan.h"

/* The types that tensors are stored in. */
clf_status cli_info_types(cli_info_rows *info, const char *path);

/* The adapter that is merged into the model: its type, the model's directory, how many tensors are merged and replaced. Nothing where
 * there is none. */
clf_status cli_info_adapter(cli_info_rows *info, const char *path);

/* Weights and scratch, of a language model also its cache, beside the device's memory, and how its quantised types are multiplied. */
clf_status cli_info_plan(cli_info_rows *info, const clf_model *model, const char *path);

/* A GGUF file's name and type; whether there is a chat template; tokens that end texts; settings of generation_config.json that no command
 * follows. */
clf_status cli_info_generation(cli_info_rows *info, const clf_model *model, const char *path);

/* Describes a model that could not be opened for lack of memory: family, types, plan, and as "does_not_fit" the message of
 * clfi_memory_plan_check. *told false: the plan has room, so the cause was another. Statuses of reading the configuration. */
clf_status cli_info_unopened(cli_info_rows *info, const cli_session *session, const char *path, bool *told);

#endif
