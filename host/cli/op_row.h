/* SPDX-License-Identifier: MIT */
/* An op of `clformer op`: one row of the table in cmd_op.c, and the state of one run. */
#ifndef CLFI_CLI_OP_ROW_H
#define CLFI_CLI_OP_ROW_H

#include "cli/npy_tensor.h"
#include "jobs/session.h"
#include "clformer/masks.h"

enum { OP_MAX_OPTIONS = 24, OP_MAX_TENSORS = 24 };

/* Targets of all ops' options; an op uses those that its table names. Files are NULL where they were not given, numbers OP_UNSET. */
typedef struct op_job {
    cli_session session;
    char **files; /* after the op's name */
    int file_count;
    const char *output;
    int dtype; /* index into f32|f16: of the result */

    const char *mask, *padding_mask, *attention_mask, *bias, *lengths, *residual;
    const char *wq, *wk, *wv, *m;
    const char *params, *prefix;
    const char *kind;
    const char *weights; /* to be written */
    int score, policy, causal, layout;
    int64_t axis, batch_axis, query_axis, causal_offset;
    size_t axes, heads, length, dim;
    double scale, eps;

    clf_tensor *tensors[OP_MAX_TENSORS]; /* owned: everything loaded and made */
    int tensor_count;
    clf_tensor *result, *weights_result; /* two of them */
} op_job;

/* Whether a number (double) was given. */
#define OP_UNSET NAN
#define OP_IS_SET(number) (!isnan(number))

typedef struct op_row {
    const char *name;
    const char *arguments;
    const char *summary;
    int least_files, most_files;
    size_t (*options)(op_job *job, cli_option *table); /* fills the op's own rows; returns how many */
    clf_status (*run)(op_job *job);                    /* sets job->result */
    const char *examples[CLI_EXAMPLES];                /* as cli_command has them */
} op_row;

extern const op_row op_softmax_row, op_masked_softmax_row, op_layer_norm_row, op_rms_norm_row, op_activation_row, op_attention_row,
    op_mha_row, op_positional_encoding_row;

/* op_job.c. A file as tensor, which the job keeps; path NULL gives NULL. */
clf_status op_load(op_job *job, const char *path, cli_npy_role role, clf_tensor **out);

/* The masks of the job's options, over the defaults in *masks. */
clf_status op_load_masks(op_job *job, clf_attention_masks *masks);

/* A new tensor of `dtype`, which the job keeps, from host values or, with data NULL, undefined. */
clf_status op_create_from(op_job *job, clf_dtype dtype, int rank, const int64_t *dim, const void *data, clf_tensor **out);

/* The result, of this shape and the type that --dtype asks for. */
clf_status op_create_result(op_job *job, int rank, const int64_t *dim);

/* The index-th file, NULL past the last. */
const char *op_file(const op_job *job, int index);

/* Rows for tables of several ops; `job` is a pointer to the op_job. */
#define OP_POLICY_OPTION(job) \
    {"policy", 0, "zero|nan|uniform", "weights of a row without a usable key (default: zero)", CLI_CHOICE, &(job)->policy}
#define OP_CAUSAL_OPTION(job) {"causal", 0, NULL, "query i uses keys 0 to i", CLI_FLAG, &(job)->causal}

#endif
