/* SPDX-License-Identifier: MIT */
/* Entry point of each command, for the table in main.c. Returns the exit status. */
#ifndef CLFI_CLI_COMMANDS_H
#define CLFI_CLI_COMMANDS_H

#include "console/options.h"

int cmd_attention(const cli_command *self, int argc, char **argv);
int cmd_bench(const cli_command *self, int argc, char **argv);
int cmd_classify(const cli_command *self, int argc, char **argv);
int cmd_chat(const cli_command *self, int argc, char **argv);
int cmd_compare(const cli_command *self, int argc, char **argv);
int cmd_convert(const cli_command *self, int argc, char **argv);
int cmd_detokenize(const cli_command *self, int argc, char **argv);
int cmd_devices(const cli_command *self, int argc, char **argv);
int cmd_einsum(const cli_command *self, int argc, char **argv);
int cmd_embed(const cli_command *self, int argc, char **argv);
int cmd_gather(const cli_command *self, int argc, char **argv);
int cmd_generate(const cli_command *self, int argc, char **argv);
int cmd_info(const cli_command *self, int argc, char **argv);
int cmd_logits(const cli_command *self, int argc, char **argv);
int cmd_op(const cli_command *self, int argc, char **argv);
int cmd_perplexity(const cli_command *self, int argc, char **argv);
int cmd_pronounce(const cli_command *self, int argc, char **argv);
int cmd_report(const cli_command *self, int argc, char **argv);
int cmd_rerank(const cli_command *self, int argc, char **argv);
int cmd_search(const cli_command *self, int argc, char **argv);
int cmd_selftest(const cli_command *self, int argc, char **argv);
int cmd_serve(const cli_command *self, int argc, char **argv);
int cmd_similarity(const cli_command *self, int argc, char **argv);
int cmd_tokenize(const cli_command *self, int argc, char **argv);
int cmd_translate(const cli_command *self, int argc, char **argv);
int cmd_tune(const cli_command *self, int argc, char **argv);
int cmd_verify(const cli_command *self, int argc, char **argv);

#endif
