/* SPDX-License-Identifier: MIT */
/* Reads the weights of multi-head attention from a safetensors file, under the names that different code bases give them. */
#ifndef CLFI_CLI_MHA_PARAMS_H
#define CLFI_CLI_MHA_PARAMS_H

#include "cli/op_row.h"
#include "clformer/attention.h"

#define CLI_MHA_PARAMS_HELP "weights [out, in] and biases: query.linear.., W_Q.., w_q.., q_proj.., wq.. or in_proj_weight (see the manual)"

/* Loads the weights and biases whose names begin with `prefix`; the job destroys them. A tensor with the prefix that is no known part is
 * refused, so that no bias is overlooked. Reasons begin with E_FILE (the file cannot be read), E_FORMAT (it is broken, or a part is
 * missing, twice or unknown) or E_SHAPE (a weight is not of rank 2). */
clf_status cli_mha_load(op_job *job, const char *path, const char *prefix, clf_multi_head_attention_weights *out);

#endif
