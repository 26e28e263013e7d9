/* SPDX-License-Identifier: MIT */
/* Weights of multi-head attention from a safetensors file, under the names that different code bases give them. */
#ifndef CLFI_CLI_MHA_PARAMS_H
#define CLFI_CLI_MHA_PARAMS_H

#include "cli/op_row.h"
#include "clformer/attention.h"

#define CLI_MHA_PARAMS_HELP "weights [out, in] and biases: query.linear.., W_Q.., w_q.., q_proj.., wq.. or in_proj_weight (see the manual)"

/* Loads every tensor whose name begins with `prefix`; the job keeps them. A name of no known part is refused, so that no bias is
 * overlooked. E_FILE, E_FORMAT: the file, or a part that is missing, twice or unknown. */
clf_status cli_mha_load(op_job *job, const char *path, const char *prefix, clf_multi_head_attention_weights *out);

#endif
