/* SPDX-License-Identifier: MIT */
/* Implements `clformer op activation` and `clformer op positional_encoding`: options, files and the call of the library. */
#include <string.h>

#include "cli/op_row.h"
#include "clformer/activation.h"
#include "clformer/ops.h"

static size_t activation_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"kind", 0, "K",
         "relu, gelu, gelu_tanh, gelu_quick, gelu_10, silu, sigmoid, tanh, mish, relu2, relu6, leaky_relu, hardswish or none", CLI_TEXT,
         &job->kind},
    };
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

static clf_status activation_run(op_job *job)
{
    clf_activation kind;
    clf_tensor *x;
    if (!job->kind)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op activation: --kind is missing");
    const clf_status st = clf_activation_parse(job->kind, &kind);
    if (st != CLF_OK)
        return clfi_fail_prefix(CLF_INVALID_ARGUMENT, "E_OPTION: --kind");
    CLF_TRY(op_load(job, job->files[0], CLI_NPY_FLOAT, &x));
    CLF_TRY(op_create_result(job, clf_tensor_rank(x), clf_tensor_dim(x)));
    return clf_activation_apply(job->session.context, kind, x, job->result);
}

const op_row op_activation_row = {"activation",
                                  "x.npy --kind K -o OUT.npy",
                                  "An activation function of every element.",
                                  1,
                                  1,
                                  activation_options,
                                  activation_run,
                                  {"op activation x.npy --kind gelu -o y.npy", "op activation x.npy --kind silu --dtype f16 -o y.npy"}};

static size_t positional_encoding_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"length", 0, "L", "positions", CLI_SIZE, &job->length},
        {"dim", 0, "D", "features", CLI_SIZE, &job->dim},
    };
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

static clf_status positional_encoding_run(op_job *job)
{
    if (!job->length || !job->dim)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op positional_encoding: --%s is missing", job->length ? "dim" : "length");
    if (job->length > INT32_MAX || job->dim > INT32_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op positional_encoding: %zu x %zu values are too many", job->length, job->dim);
    CLF_TRY(op_create_result(job, 2, (int64_t[]){(int64_t)job->length, (int64_t)job->dim}));
    return clf_positional_encoding(job->session.context, job->result);
}

const op_row op_positional_encoding_row = {
    "positional_encoding",
    "--length L --dim D -o OUT.npy",
    "sin(p w_i) and cos(p w_i) in turn, w_i = 10000^(-2i/D), for positions 0 to L-1: [L, D].",
    0,
    0,
    positional_encoding_options,
    positional_encoding_run,
    {"op positional_encoding --length 512 --dim 64 -o p.npy", "op positional_encoding --length 512 --dim 64 --dtype f16 -o p.npy"}};
