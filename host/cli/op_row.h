/* SPDX-License-Identifier: MIT */
/* Types and functions for the ops of `clformer op`: a row of the table in cmd_op.c, and the state of one run. */
#ifndef CLFI_CLI_OP_ROW_H
#define CLFI_CLI_OP_ROW_H

#include "cli/npy_tensor.h"
#include "jobs/session.h"
#include "clformer/masks.h"

enum { OP_MAX_OPTIONS = 24, OP_MAX_TENSORS = 24 };

/* Targets of all ops' options; an op uses those that its table names. A file that was not given is NULL, `scale` and `eps` are OP_UNSET. */
typedef struct op_job {
    cli_session session;
    char **files; /* arguments after the op's name */
    int file_count;
    const char *output;
    int dtype; /* of the result: index into f32|f16 */

    const char *mask, *padding_mask, *attention_mask, *bias, *lengths, *residual;
    const char *wq, *wk, *wv, *m;
    const char *params, *prefix;
    const char *kind;
    const char *weights; /* file to write the attention weights to */
    int score, policy, causal, layout;
    int64_t axis, batch_axis, query_axis, causal_offset;
    size_t axes, heads, length, dim;
    double scale, eps;

    clf_tensor *tensors[OP_MAX_TENSORS]; /* owned: all that were loaded or created */
    int tensor_count;
    clf_tensor *result, *weights_result; /* two of these; weights_result NULL: not asked for */
} op_job;

/* Value of a number (double) that was not given, and whether it was. */
#define OP_UNSET NAN
#define OP_IS_SET(number) (!isnan(number))

typedef struct op_row {
    const char *name;
    const char *arguments;
    const char *summary;
    int least_files, most_files;
    size_t (*options)(op_job *job, cli_option *table); /* fills the op's own rows, returns their number */
    clf_status (*run)(op_job *job);                    /* computes job->result */
    const char *examples[CLI_EXAMPLES];                /* as cli_command has them */
} op_row;

extern const op_row op_softmax_row, op_masked_softmax_row, op_layer_norm_row, op_rms_norm_row, op_activation_row, op_attention_row,
    op_mha_row, op_positional_encoding_row;

/* The following functions are in op_job.c. Loads a file as a tensor, which the job owns. path NULL: *out is NULL. */
clf_status op_load(op_job *job, const char *path, cli_npy_role role, clf_tensor **out);

/* Sets *masks by the job's options; the job owns the tensors. */
clf_status op_load_masks(op_job *job, clf_attention_masks *masks);

/* Creates a tensor of `dtype`, which the job owns, from host values. data NULL: its values are undefined. */
clf_status op_create_from(op_job *job, clf_dtype dtype, int rank, const int64_t *dim, const void *data, clf_tensor **out);

/* Creates job->result with this shape and the type of --dtype. */
clf_status op_create_result(op_job *job, int rank, const int64_t *dim);

/* The file at `index`, from 0; NULL past the last. */
const char *op_file(const op_job *job, int index);

/* Rows for tables of several ops; `job` is a pointer to the op_job. */
#define OP_POLICY_OPTION(job) \
    {"policy", 0, "zero|nan|uniform", "weights of a row without a usable key (default: zero)", CLI_CHOICE, &(job)->policy}
#define OP_CAUSAL_OPTION(job) {"causal", 0, NULL, "query i uses keys 0 to i", CLI_FLAG, &(job)->causal}

#endif
