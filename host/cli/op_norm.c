/* SPDX-License-Identifier: MIT */
/* Implements `clformer op layer_norm` and `clformer op rms_norm`: options, files and the call of the library. */
#include <math.h>
#include <string.h>

#include "cli/op_row.h"
#include "clformer/ops.h"

static size_t norm_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"axes", 0, "D", "number of last axes that are normalised together (default: 1)", CLI_SIZE, &job->axes},
        {"eps", 0, "E", "added inside the root (default: 1e-5; rms_norm 1e-6)", CLI_NUMBER, &job->eps},
        {"residual", 0, "R.npy", "added to x first; the shape of x", CLI_INPUT, &job->residual},
    };
    job->axes = 1;
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

/* Loads the operands and creates the result. *axes: --axes. */
static clf_status load(op_job *job, clf_tensor **x, clf_tensor **gamma, clf_tensor **beta, clf_tensor **residual, int *axes)
{
    if (job->axes > CLF_MAX_RANK)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_AXIS: --axes: expected at most %d, found %zu", CLF_MAX_RANK, job->axes);
    *axes = (int)job->axes;
    CLF_TRY(op_load(job, job->files[0], CLI_NPY_FLOAT, x));
    CLF_TRY(op_load(job, op_file(job, 1), CLI_NPY_FLOAT, gamma));
    CLF_TRY(op_load(job, op_file(job, 2), CLI_NPY_FLOAT, beta));
    CLF_TRY(op_load(job, job->residual, CLI_NPY_FLOAT, residual));
    return op_create_result(job, clf_tensor_rank(*x), clf_tensor_dim(*x));
}

static clf_status layer_norm_run(op_job *job)
{
    clf_layer_norm_params params = CLF_LAYER_NORM_PARAMS_INIT;
    clf_tensor *x, *gamma, *beta, *residual;
    CLF_TRY(load(job, &x, &gamma, &beta, &residual, &params.axes));
    params.gamma = gamma;
    params.beta = beta;
    params.residual = residual;
    if (OP_IS_SET(job->eps))
        params.eps = (float)job->eps;
    return clf_layer_norm(job->session.context, x, &params, job->result);
}

static clf_status rms_norm_run(op_job *job)
{
    clf_rms_norm_params params = CLF_RMS_NORM_PARAMS_INIT;
    clf_tensor *x, *gamma, *beta, *residual;
    CLF_TRY(load(job, &x, &gamma, &beta, &residual, &params.axes));
    params.gamma = gamma;
    params.residual = residual;
    if (OP_IS_SET(job->eps))
        params.eps = (float)job->eps;
    return clf_rms_norm(job->session.context, x, &params, job->result);
}

const op_row op_layer_norm_row = {
    "layer_norm",
    "x.npy [gamma.npy [beta.npy]] -o OUT.npy",
    "(x - mean) / sqrt(var + eps) * gamma + beta over the last axes; gamma and beta have their shape.",
    1,
    3,
    norm_options,
    layer_norm_run,
    {"op layer_norm x.npy gamma.npy beta.npy -o y.npy", "op layer_norm x.npy --residual r.npy --eps 1e-12 -o y.npy"}};
const op_row op_rms_norm_row = {"rms_norm",
                                "x.npy [gamma.npy] -o OUT.npy",
                                "x / sqrt(mean(x^2) + eps) * gamma over the last axes.",
                                1,
                                2,
                                norm_options,
                                rms_norm_run,
                                {"op rms_norm x.npy gamma.npy -o y.npy", "op rms_norm x.npy --axes 2 -o y.npy"}};
