/* SPDX-License-Identifier: MIT */
/* Implements `clformer op attention` and `clformer op mha`: options, files and the call of the library. */
#include <math.h>
#include <string.h>

#include "cli/mha_params.h"
#include "cli/op_row.h"
#include "clformer/attention.h"

/* Loads queries, keys and values. In place of a missing file the one before it serves: self-attention, or keys that are also values. */
static clf_status load_inputs(op_job *job, clf_tensor *inputs[3])
{
    static const char *const names[3] = {"q", "k", "v"};
    for (int i = 0; i < 3; i++) {
        if (!op_file(job, i)) {
            inputs[i] = inputs[i - 1];
            continue;
        }
        CLF_TRY(op_load(job, job->files[i], CLI_NPY_FLOAT, &inputs[i]));
        if (clf_tensor_rank(inputs[i]) != 3)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s (%s) has rank %d, expected 3", names[i], job->files[i], clf_tensor_rank(inputs[i]));
    }
    return CLF_OK;
}

/* *out: --scale, or 0, the library's word for its default scale, if it was not given. */
static clf_status find_scale(const op_job *job, float *out)
{
    if (OP_IS_SET(job->scale) && (float)job->scale == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: --scale: expected a number other than 0");
    *out = OP_IS_SET(job->scale) ? (float)job->scale : 0;
    return CLF_OK;
}

static size_t attention_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"score", 0, "dot|additive|bilinear|distance", "scoring function (default: dot)", CLI_CHOICE, &job->score},
        {"scale", 0, "S", "multiplies the scores (default: dot 1/sqrt(dq), bilinear 1/sqrt(dk), else 1)", CLI_NUMBER, &job->scale},
        {"wq", 0, "W.npy", "additive: [h, dq]", CLI_INPUT, &job->wq},
        {"wk", 0, "W.npy", "additive: [h, dk]", CLI_INPUT, &job->wk},
        {"wv", 0, "W.npy", "additive: [h] or [1, h]", CLI_INPUT, &job->wv},
        {"m", 0, "M.npy", "bilinear: [dq, dk]", CLI_INPUT, &job->m},
        {"lengths", 0, "L.npy", "integers [B] or [B, Q]: key j is used if j < length", CLI_INPUT, &job->lengths},
        {"mask", 0, "M.npy", "[B, Q, K], each size may be 1; 0 = masked", CLI_INPUT, &job->mask},
        {"padding-mask", 0, "P.npy", "[B, K]; 0 = masked", CLI_INPUT, &job->padding_mask},
        {"attention-mask", 0, "A.npy", "[Q, K]; 0 = masked", CLI_INPUT, &job->attention_mask},
        {"bias", 0, "B.npy", "additive mask [B, Q, K], each size may be 1: added to the scaled scores", CLI_INPUT, &job->bias},
        OP_CAUSAL_OPTION(job),
        OP_POLICY_OPTION(job),
        {"weights", 0, "W.npy", "also write the weights, float32 [B, Q, K]", CLI_OUTPUT, &job->weights},
    };
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

static clf_status attention_run(op_job *job)
{
    clf_attention_params params = CLF_ATTENTION_PARAMS_INIT;
    clf_attention_masks masks = CLF_ATTENTION_MASKS_INIT;
    clf_tensor *inputs[3], *wq, *wk, *wv, *m, *lengths, *bias;
    CLF_TRY(load_inputs(job, inputs));
    CLF_TRY(op_load(job, job->wq, CLI_NPY_FLOAT, &wq));
    CLF_TRY(op_load(job, job->wk, CLI_NPY_FLOAT, &wk));
    CLF_TRY(op_load(job, job->wv, CLI_NPY_FLOAT, &wv));
    CLF_TRY(op_load(job, job->m, CLI_NPY_FLOAT, &m));
    CLF_TRY(op_load(job, job->lengths, CLI_NPY_LENGTHS, &lengths));
    CLF_TRY(op_load_masks(job, &masks));
    CLF_TRY(op_load(job, job->bias, CLI_NPY_FLOAT, &bias));
    CLF_TRY(find_scale(job, &params.scale));
    const int64_t *q = clf_tensor_dim(inputs[0]), *k = clf_tensor_dim(inputs[1]), *v = clf_tensor_dim(inputs[2]);
    params.score = (clf_score)job->score;
    params.w_q = wq;
    params.w_k = wk;
    params.w_v = wv;
    params.m = m;
    params.lengths = lengths;
    params.masks = &masks;
    params.bias = bias;
    CLF_TRY(op_create_result(job, 3, (int64_t[]){q[0], q[1], v[2]}));
    if (job->weights) {
        CLF_TRY(op_create_from(job, CLF_F32, 3, (int64_t[]){q[0], q[1], k[1]}, NULL, &job->weights_result));
        params.weights = job->weights_result;
    }
    return clf_attention(job->session.context, inputs[0], inputs[1], inputs[2], &params, job->result);
}

const op_row op_attention_row = {
    "attention",
    "q.npy [k.npy [v.npy]] -o OUT.npy",
    "softmax(score(q, k)) v for q [B, Q, dq], k [B, K, dk], v [B, K, dv].",
    1,
    3,
    attention_options,
    attention_run,
    {"op attention q.npy k.npy v.npy --causal -o out.npy", "op attention q.npy k.npy v.npy --weights w.npy -o out.npy"}};

static size_t mha_options(op_job *job, cli_option *table)
{
    const cli_option rows[] = {
        {"params", 0, "P.safetensors", CLI_MHA_PARAMS_HELP, CLI_INPUT, &job->params},
        {"prefix", 0, "TEXT", "prefix of those names in the file (\"encoder.self_attn.\"; default: none)", CLI_TEXT, &job->prefix},
        {"heads", 0, "H", "number of heads", CLI_SIZE, &job->heads},
        {"layout", 0, "nld|lnd", "batch first or sequence first (default: nld)", CLI_CHOICE, &job->layout},
        {"scale", 0, "S", "multiplies the scores (default: 1/sqrt(d))", CLI_NUMBER, &job->scale},
        {"mask", 0, "M.npy", "[N, H, Q, K], each size may be 1; with lnd also [Q or 1, K, N or 1]; 0 = masked", CLI_INPUT, &job->mask},
        {"padding-mask", 0, "P.npy", "[N, K]; 0 = masked", CLI_INPUT, &job->padding_mask},
        {"attention-mask", 0, "A.npy", "[Q, K]; 0 = masked", CLI_INPUT, &job->attention_mask},
        OP_CAUSAL_OPTION(job),
        OP_POLICY_OPTION(job),
        {"weights", 0, "W.npy", "also write the weights, float32 [N, H, Q, K] in either layout", CLI_OUTPUT, &job->weights},
    };
    memcpy(table, rows, sizeof rows);
    return COUNT(rows);
}

/* Loads inputs, weights and masks, and creates the outputs. */
static clf_status mha_prepare(op_job *job, clf_tensor *inputs[3], clf_multi_head_attention_weights *weights, clf_attention_masks *masks,
                              clf_multi_head_attention_params *params)
{
    if (!job->params || !job->heads)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op mha: --%s is missing", job->params ? "heads" : "params");
    if (job->heads > INT32_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: --heads %zu: too many", job->heads);
    CLF_TRY(load_inputs(job, inputs));
    CLF_TRY(cli_mha_load(job, job->params, job->prefix ? job->prefix : "", weights));
    CLF_TRY(op_load_masks(job, masks));
    CLF_TRY(find_scale(job, &params->scale));
    params->layout = (clf_layout)job->layout;
    params->masks = masks;
    const int64_t *q = clf_tensor_dim(inputs[0]), *k = clf_tensor_dim(inputs[1]);
    const int batch = job->layout == CLF_LAYOUT_LND ? 1 : 0;
    CLF_TRY(op_create_result(job, 3, (int64_t[]){q[0], q[1], clf_tensor_dim(weights->w_o)[0]}));
    if (job->weights) {
        CLF_TRY(op_create_from(job, CLF_F32, 4, (int64_t[]){q[batch], (int64_t)job->heads, q[1 - batch], k[1 - batch]}, NULL,
                               &job->weights_result));
        params->weights = job->weights_result;
    }
    return CLF_OK;
}

static clf_status mha_run(op_job *job)
{
    clf_context *context = job->session.context;
    clf_multi_head_attention_weights weights = CLF_MULTI_HEAD_ATTENTION_WEIGHTS_INIT;
    clf_attention_masks masks = CLF_ATTENTION_MASKS_INIT;
    clf_multi_head_attention_params params = CLF_MULTI_HEAD_ATTENTION_PARAMS_INIT;
    clf_multi_head_attention *attention;
    clf_tensor *inputs[3];
    CLF_TRY(mha_prepare(job, inputs, &weights, &masks, &params));
    CLF_TRY(clf_multi_head_attention_create(context, (int64_t)job->heads, &weights, &attention));
    clf_status st = clf_multi_head_attention_apply(context, attention, inputs[0], inputs[1], inputs[2], &params, job->result);
    if (st == CLF_OK)
        st = clf_context_finish(context);
    clf_multi_head_attention_destroy(attention);
    return st;
}

const op_row op_mha_row = {"mha",
                           "q.npy [k.npy [v.npy]] --params P.safetensors --heads H -o OUT.npy",
                           "Multi-head attention: projections, H heads of scaled dot-product attention, output projection.",
                           1,
                           3,
                           mha_options,
                           mha_run,
                           {"op mha x.npy --params attention.safetensors --heads 12 -o y.npy",
                            "op mha q.npy m.npy --params attention.safetensors --heads 8 --layout lnd"}};
