/* SPDX-License-Identifier: MIT */
/* Implements `clformer op softmax` and `clformer op masked_softmax`: options, files and the call of the library. */
#include <math.h>
#include <string.h>

#include "cli/op_row.h"
#include "clformer/softmax.h"

static size_t softmax_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"axis", 0, "A", "axis of the keys, negative from the end (default: -1)", CLI_INTEGER, &job->axis},
        {"scale", 0, "S", "multiplies x first (default: 1)", CLI_NUMBER, &job->scale},
        {"mask", 0, "M.npy", "rank of x, each size that of x or 1; 0 = masked", CLI_INPUT, &job->mask},
        {"padding-mask", 0, "P.npy", "[batch, keys]; 0 = masked", CLI_INPUT, &job->padding_mask},
        {"attention-mask", 0, "A.npy", "[queries, keys]; 0 = masked", CLI_INPUT, &job->attention_mask},
        {"lengths", 0, "L.npy", "integers [batch] or [batch, queries] for x of rank 3: key j is used if j < length", CLI_INPUT,
         &job->lengths},
        {"bias", 0, "B.npy", "additive mask, rank of x, each size that of x or 1: added to S * x", CLI_INPUT, &job->bias},
        OP_CAUSAL_OPTION(job),
        {"causal-offset", 0, "N", "with --causal: query i uses keys 0 to i + N (default: 0)", CLI_INTEGER, &job->causal_offset},
        {"batch-axis", 0, "A", "axis of x for --lengths and --padding-mask (default: 0)", CLI_INTEGER, &job->batch_axis},
        {"query-axis", 0, "A", "axis of x for --lengths, --attention-mask, --causal (default: the last that is not the keys')", CLI_INTEGER,
         &job->query_axis},
        OP_POLICY_OPTION(job),
    };
    job->axis = -1;
    job->query_axis = CLF_AXIS_NONE;
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

static clf_status to_axis(const char *what, int64_t value, int *out)
{
    if (value < -CLF_MAX_RANK || (value >= CLF_MAX_RANK && value != CLF_AXIS_NONE))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: %s: expected %d to %d, found %lld", what, -CLF_MAX_RANK, CLF_MAX_RANK - 1,
                 (long long)value);
    *out = (int)value;
    return CLF_OK;
}

static clf_status softmax_run(op_job *job)
{
    clf_softmax_params params = CLF_SOFTMAX_PARAMS_INIT;
    clf_attention_masks masks = CLF_ATTENTION_MASKS_INIT;
    clf_tensor *x, *lengths, *bias;
    if (job->causal_offset != 0 && !job->causal)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: --causal-offset needs --causal");
    CLF_TRY(op_load(job, job->files[0], CLI_NPY_FLOAT, &x));
    CLF_TRY(op_load_masks(job, &masks));
    CLF_TRY(op_load(job, job->lengths, CLI_NPY_LENGTHS, &lengths));
    CLF_TRY(op_load(job, job->bias, CLI_NPY_FLOAT, &bias));
    CLF_TRY(to_axis("--axis", job->axis, &params.axis));
    CLF_TRY(to_axis("--batch-axis", job->batch_axis, &params.batch_axis));
    CLF_TRY(to_axis("--query-axis", job->query_axis, &params.query_axis));
    params.masks = &masks;
    params.lengths = lengths;
    params.bias = bias;
    params.causal_offset = job->causal_offset;
    if (OP_IS_SET(job->scale))
        params.scale = (float)job->scale;
    CLF_TRY(op_create_result(job, clf_tensor_rank(x), clf_tensor_dim(x)));
    return clf_softmax(job->session.context, x, &params, job->result);
}

const op_row op_softmax_row = {"softmax",
                               "x.npy -o OUT.npy",
                               "Weights exp(s - max) / sum along one axis, s = scale * x + bias, over the keys that every mask keeps.",
                               1,
                               1,
                               softmax_options,
                               softmax_run,
                               {"op softmax scores.npy -o weights.npy", "op softmax scores.npy --axis 1 --scale 0.125 -o weights.npy"}};

static size_t masked_softmax_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"lengths", 0, "L.npy", "integers [batch] or [batch, queries]: key j is used if j < length (default: all)", CLI_INPUT,
         &job->lengths},
        OP_POLICY_OPTION(job),
    };
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

static clf_status masked_softmax_run(op_job *job)
{
    clf_tensor *x, *lengths;
    CLF_TRY(op_load(job, job->files[0], CLI_NPY_FLOAT, &x));
    CLF_TRY(op_load(job, job->lengths, CLI_NPY_LENGTHS, &lengths));
    CLF_TRY(op_create_result(job, clf_tensor_rank(x), clf_tensor_dim(x)));
    return clf_masked_softmax(job->session.context, x, lengths, (clf_empty_rows)job->policy, job->result);
}

const op_row op_masked_softmax_row = {"masked_softmax",
                                      "x.npy -o OUT.npy",
                                      "Softmax along the last axis of x [batch, queries, keys] up to valid lengths.",
                                      1,
                                      1,
                                      masked_softmax_options,
                                      masked_softmax_run,
                                      {"op masked_softmax scores.npy --lengths lengths.npy -o weights.npy",
                                       "op masked_softmax scores.npy --lengths lengths.npy --policy uniform"}};
