/* SPDX-License-Identifier: MIT */
/* Modules of sentence-transformers in double. */
#include "workload/reference_sentence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/checkpoint.h"
#include "io/json.h"
#include "model/model_config.h"
#include "workload/reference_gemm.h"
#include "workload/reference_norm.h"

static const double u = 0x1p-24, normalize_eps = 1e-12, norm_eps = 1e-5; /* PyTorch's */

/* *out NULL: the checkpoint has no tensor of that name. */
static clf_status load(clf_checkpoint *checkpoint, const char *name, size_t count, double **out)
{
    clf_checkpoint_tensor tensor;
    *out = NULL;
    if (!clfi_checkpoint_find(checkpoint, name, &tensor))
        return CLF_OK;
    size_t stored = 1;
    for (int i = 0; i < tensor.rank; i++)
        stored *= (size_t)tensor.dim[i];
    if (!tensor.is_weight || clfi_weight_type_info(tensor.type)->block_weights != 1 || stored != count)
        CLF_FAIL(CLF_FORMAT, "reference: %s: expected %zu numbers", name, count);
    CLF_TRY(clfi_alloc(count, sizeof **out, "reference", out));
    clfi_weight_decode_f64(tensor.type, tensor.data, count, *out);
    return CLF_OK;
}

static clf_status load_dense(clf_checkpoint *checkpoint, size_t width, clfi_ref_module *out)
{
    const json_t *json = clfi_checkpoint_config(checkpoint);
    const char *name;
    int64_t features;
    CLF_TRY(clfi_json_get_int(json, CLFI_MODEL_CONFIG, "out_features", 1, CLFI_CONFIG_LARGEST, &features));
    CLF_TRY(clfi_json_opt_bool(json, CLFI_MODEL_CONFIG, "use_residual", false, &out->has_residual));
    CLF_TRY(clfi_json_opt_string(json, CLFI_MODEL_CONFIG, "activation_function", "torch.nn.Tanh", &name));
    CLF_TRY(clfi_sentence_activation(name, CLFI_MODEL_CONFIG, &out->activation));
    out->width = (size_t)features;
    CLF_TRY(load(checkpoint, "linear.weight", out->width * width, &out->weight));
    CLF_TRY(load(checkpoint, "linear.bias", out->width, &out->bias));
    CLF_TRY(load(checkpoint, "residual.weight", out->width * width, &out->residual));
    if (!out->weight)
        CLF_FAIL(CLF_NOT_FOUND, "reference: a Dense module without linear.weight");
    return CLF_OK;
}

static clf_status load_norm(clf_checkpoint *checkpoint, size_t width, clfi_ref_module *out)
{
    CLF_TRY(load(checkpoint, "norm.weight", width, &out->weight));
    return load(checkpoint, "norm.bias", width, &out->bias);
}

clf_status clfi_ref_module_open(const char *directory, const clf_sentence_module *module, size_t *width, clfi_ref_module *out)
{
    char *path = NULL;
    clf_checkpoint *checkpoint = NULL;
    clf_status st = CLF_OK;
    *out = (clfi_ref_module){.kind = module->kind, .width = *width};
    if (module->kind == CLF_MODULE_DENSE || module->kind == CLF_MODULE_LAYER_NORM) {
        CLF_GOTO(clfi_path_join(directory, module->path, &path));
        CLF_GOTO(clfi_checkpoint_open(path, &checkpoint));
        CLF_GOTO(clfi_checkpoint_load(checkpoint));
        CLF_GOTO(module->kind == CLF_MODULE_DENSE ? load_dense(checkpoint, *width, out) : load_norm(checkpoint, *width, out));
    }
    *width = out->width;
done:
    clfi_checkpoint_close(checkpoint);
    free(path);
    return st;
}

void clfi_ref_module_close(clfi_ref_module *module)
{
    free(module->weight);
    free(module->bias);
    free(module->residual);
    *module = (clfi_ref_module){.width = 0};
}

static double product(const double *row, const double *x, size_t width, clfi_ref_noise *noise)
{
    double sum = 0;
    for (size_t i = 0; i < width; i++)
        sum += row[i] * x[i];
    const double unit = u * sqrt((double)width + 2) * clfi_ref_length(row, (int64_t)width) * clfi_ref_length(x, (int64_t)width);
    return clfi_ref_rounded(noise, sum, noise ? unit : 0);
}

static void run_dense(const clfi_ref_module *m, const double *x, size_t width, clfi_ref_noise *noise, double *y)
{
    for (size_t o = 0; o < m->width; o++) {
        const double sum = product(m->weight + o * width, x, width, noise) + (m->bias ? m->bias[o] : 0);
        y[o] = clfi_ref_rounded(noise, clfi_ref_activation(m->activation, sum), clfi_ref_activation_error(m->activation, sum));
        if (m->has_residual)
            y[o] += m->residual ? product(m->residual + o * width, x, width, noise) : x[o];
        y[o] = clfi_ref_rounded(noise, y[o], 2 * u * fabs(y[o]));
    }
}

void clfi_ref_module_run(const clfi_ref_module *m, const double *x, size_t width, clfi_ref_noise *noise, double *y)
{
    if (m->kind == CLF_MODULE_DENSE) {
        run_dense(m, x, width, noise, y);
        return;
    }
    if (m->kind == CLF_MODULE_NORMALIZE) {
        const double length = fmax(clfi_ref_length(x, (int64_t)width), normalize_eps);
        for (size_t i = 0; i < width; i++)
            y[i] = clfi_ref_rounded(noise, x[i] / length, 4 * u * fabs(x[i]) / length);
        return;
    }
    double mean = 0, variance = 0;
    memcpy(y, x, width * sizeof *y);
    for (size_t i = 0; m->kind == CLF_MODULE_LAYER_NORM && i < width; i++)
        mean += x[i] / (double)width;
    for (size_t i = 0; m->kind == CLF_MODULE_LAYER_NORM && i < width; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)width;
    for (size_t i = 0; m->kind == CLF_MODULE_LAYER_NORM && i < width; i++) {
        y[i] = (x[i] - mean) / sqrt(variance + norm_eps) * (m->weight ? m->weight[i] : 1) + (m->bias ? m->bias[i] : 0);
        y[i] = clfi_ref_rounded(noise, y[i], 8 * u * (fabs(y[i]) + fabs(m->bias ? m->bias[i] : 0)));
    }
}
