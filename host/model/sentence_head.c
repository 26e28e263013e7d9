/* SPDX-License-Identifier: MIT */
/* Loads and runs sentence-transformers' modules after the Transformer. */
#include "model/sentence_head.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "io/json.h"
#include "model/model_config.h"
#include "model/weights.h"
#include "op/activation.h"
#include "op/layer_norm.h"
#include "op/pooling.h"

static const float normalize_eps = 1e-12f; /* torch.nn.functional.normalize */
static const float norm_eps = 1e-5f;       /* torch.nn.LayerNorm */

/* A key that may be absent, but not null. */
static clf_status get_text(const json_t *json, const char *where, const char *key, const char *standard, const char **out)
{
    *out = standard;
    return json_object_get(json, key) ? clfi_json_get_string(json, where, key, out) : CLF_OK;
}

/* Checks a key that names the vectors which a module reads or writes: here there are only sentence embeddings. */
static clf_status check_name(const json_t *json, const char *where, const char *key)
{
    static const char standard[] = "sentence_embedding";
    const char *name;
    CLF_TRY(get_text(json, where, key, standard, &name));
    if (strcmp(name, standard) != 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\": expected \"%s\"", where, key, name, standard);
    return CLF_OK;
}

/* A Normalize module has files since sentence-transformers 5, and none before. */
static clf_status check_normalize(const char *directory, const char *module)
{
    char *name;
    json_t *json = NULL;
    if (!module[0])
        return CLF_OK;
    CLF_TRY(clfi_path_join(module, CLFI_MODEL_CONFIG, &name));
    clf_status st = clfi_json_read_in(directory, name, NULL, &json);
    if (st == CLF_OK && json)
        st = check_name(json, name, "module_input_name");
    if (st == CLF_OK && json)
        st = check_name(json, name, "module_output_name");
    json_decref(json);
    free(name);
    return st;
}

/* weights NULL: reads only the configuration. */
static clf_status load_dense(clf_context *context, const json_t *json, const char *where, clf_weights *weights, int64_t width,
                             clf_sentence_step *step)
{
    clf_row_blocks weight = CLF_ROW_BLOCKS_INIT, bias = CLF_ROW_BLOCKS_INIT, residual = CLF_ROW_BLOCKS_INIT;
    const clf_row_blocks no_bias = CLF_ROW_BLOCKS_INIT;
    const char *name;
    int64_t in_features;
    bool has_bias;
    clf_status st;
    CLF_GOTO(clfi_json_get_int(json, where, "in_features", 1, CLFI_CONFIG_LARGEST, &in_features));
    CLF_GOTO(clfi_json_get_int(json, where, "out_features", 1, CLFI_CONFIG_LARGEST, &step->width));
    CLF_GOTO(clfi_json_opt_bool(json, where, "bias", true, &has_bias));
    CLF_GOTO(clfi_json_opt_bool(json, where, "use_residual", false, &step->has_residual));
    CLF_GOTO(check_name(json, where, "module_input_name"));
    CLF_GOTO(check_name(json, where, "module_output_name"));
    CLF_GOTO(get_text(json, where, "activation_function", "torch.nn.Tanh", &name));
    CLF_GOTO(clfi_sentence_activation(name, where, &step->activation));
    if (in_features != width)
        CLF_GOTO(clfi_fail(CLF_FORMAT, "%s: in_features is %lld: expected %lld, as the module before gives", where, (long long)in_features,
                           (long long)width));
    if (!weights)
        goto done;
    CLF_GOTO(clfi_weights_load(weights, "linear.weight", 2, (int64_t[]){step->width, in_features}, CLFI_WEIGHT_KEPT, &weight));
    if (has_bias)
        CLF_GOTO(clfi_weights_load(weights, "linear.bias", 1, &step->width, CLFI_WEIGHT_KEPT, &bias));
    CLF_GOTO(clfi_linear_create_blocks(context, 1, &weight, &bias, &step->linear));
    if (step->has_residual && step->width != in_features) {
        CLF_GOTO(clfi_weights_load(weights, "residual.weight", 2, (int64_t[]){step->width, in_features}, CLFI_WEIGHT_KEPT, &residual));
        CLF_GOTO(clfi_linear_create_blocks(context, 1, &residual, &no_bias, &step->residual));
    }
    CLF_GOTO(clf_context_finish(context)); /* a packing kernel may still read the weights */
done:
    clfi_row_blocks_clear(&weight);
    clfi_row_blocks_clear(&bias);
    clfi_row_blocks_clear(&residual);
    return st;
}

/* weights NULL: reads only the configuration. */
static clf_status load_norm(const json_t *json, const char *where, clf_weights *weights, int64_t width, clf_sentence_step *step)
{
    CLF_TRY(clfi_json_get_int(json, where, "dimension", 1, CLFI_CONFIG_LARGEST, &step->width));
    if (step->width != width)
        CLF_FAIL(CLF_FORMAT, "%s: dimension is %lld: expected %lld, as the module before gives", where, (long long)step->width,
                 (long long)width);
    if (!weights)
        return CLF_OK;
    CLF_TRY(clfi_weights_load(weights, "norm.weight", 1, &width, CLFI_WEIGHT_KEPT, &step->gamma));
    return clfi_weights_load(weights, "norm.bias", 1, &width, CLFI_WEIGHT_KEPT, &step->beta);
}

/* Refuses tensors that the module does not have, as torch does. */
static clf_status check_taken(const clf_checkpoint *checkpoint, const clf_weights *weights, const char *where)
{
    clf_checkpoint_tensor tensor;
    for (size_t i = 0; clfi_checkpoint_at(checkpoint, i, &tensor); i++)
        if (!clfi_weights_is_taken(weights, tensor.name))
            CLF_FAIL(CLF_FORMAT, "%s: %s: unexpected tensor for a module with this %s", clfi_checkpoint_file_path(checkpoint, tensor.file),
                     tensor.name, where);
    return CLF_OK;
}

static clf_status load_files(clf_context *context, const char *directory, const char *module, int64_t width, bool has_weights,
                             clf_sentence_step *step)
{
    char *path = NULL, *where = NULL;
    clf_checkpoint *checkpoint = NULL;
    const clf_checkpoint *files = NULL;
    clf_weights *weights = NULL;
    json_t *json = NULL;
    clf_status st;
    CLF_GOTO(clfi_path_join(directory, module, &path));
    CLF_GOTO(clfi_path_join(module, CLFI_MODEL_CONFIG, &where));
    CLF_GOTO(clfi_checkpoint_open(path, &checkpoint));
    json = clfi_json_copy(clfi_checkpoint_config(checkpoint));
    if (!json)
        CLF_GOTO(clfi_fail(CLF_OUT_OF_MEMORY, "%s: not enough memory", where));
    if (has_weights) {
        files = checkpoint;
        st = clfi_weights_open(context, checkpoint, CLF_STORAGE_DEFAULT, &weights);
        checkpoint = NULL;
    }
    if (st == CLF_OK)
        st = step->kind == CLF_MODULE_DENSE ? load_dense(context, json, where, weights, width, step)
                                            : load_norm(json, where, weights, width, step);
    if (st == CLF_OK && weights)
        st = check_taken(files, weights, where);
done:
    clfi_weights_close(weights);
    clfi_checkpoint_close(checkpoint);
    json_decref(json);
    free(path);
    free(where);
    return st;
}

clf_status clfi_sentence_head_load(clf_context *context, const char *directory, const clf_sentence_config *config, int64_t width,
                                   bool has_weights, clf_sentence_head *out)
{
    clf_sentence_head head = {.config = *config, .width = width};
    int64_t at = width * (int64_t)config->pooling_count;
    clf_status st = CLF_OK;
    for (; st == CLF_OK && head.steps < config->module_count; head.steps++) {
        clf_sentence_step *step = &head.step[head.steps];
        step->kind = config->module[head.steps].kind;
        step->width = at;
        st = step->kind == CLF_MODULE_NORMALIZE ? check_normalize(directory, config->module[head.steps].path)
                                                : load_files(context, directory, config->module[head.steps].path, at, has_weights, step);
        at = step->width;
    }
    if (st != CLF_OK) {
        clfi_sentence_head_clear(&head);
        return st;
    }
    *out = head;
    return CLF_OK;
}

void clfi_sentence_head_clear(clf_sentence_head *head)
{
    for (size_t i = 0; i < head->steps; i++) {
        clfi_linear_destroy(head->step[i].linear);
        clfi_linear_destroy(head->step[i].residual);
        clfi_row_blocks_clear(&head->step[i].gamma);
        clfi_row_blocks_clear(&head->step[i].beta);
    }
    *head = (clf_sentence_head){.steps = 0};
}

clf_status clfi_sentence_head_width(const clf_sentence_head *head, size_t poolings, int64_t *out)
{
    int64_t width = head->width * (int64_t)poolings;
    bool has_weights = false;
    for (size_t i = 0; i < head->steps; i++)
        if (head->step[i].kind != CLF_MODULE_NORMALIZE) {
            has_weights = true;
            width = head->step[i].width;
        }
    if (has_weights && poolings != head->config.pooling_count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "embed: pooling: expected %zu poolings side by side, as the model's modules take",
                 head->config.pooling_count);
    *out = width;
    return CLF_OK;
}

/* Concatenates the poolings, [n, C] each, in the columns of `pooled`. */
static clf_status pool(clf_context *context, const clf_sentence_head *head, const clf_sentence_choice *choice, const clf_view *hidden,
                       const clf_view *offsets, const clf_view *pooled)
{
    for (size_t i = 0; i < choice->pooling_count; i++) {
        clf_view part = *pooled;
        part.dim[1] = head->width;
        part.offset += (int64_t)i * head->width;
        CLF_TRY(clfi_pool_behind(context, choice->pooling[i], hidden, offsets, choice->skipped, &part));
    }
    return CLF_OK;
}

static clf_status run_step(clf_context *context, const clf_sentence_step *step, clf_view *x)
{
    if (step->kind == CLF_MODULE_NORMALIZE)
        return clfi_l2_normalize(context, x, normalize_eps, x);
    if (step->kind == CLF_MODULE_LAYER_NORM)
        return clfi_layer_norm(context, x, NULL, &step->gamma.view[0], &step->beta.view[0], 1, norm_eps, x);
    clf_view y, residual = *x;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){x->dim[0], step->width}, &y));
    if (step->residual) {
        CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){x->dim[0], step->width}, &residual));
        CLF_TRY(clfi_linear_run(context, step->residual, x, CLF_ACTIVATION_NONE, NULL, &residual));
    }
    CLF_TRY(clfi_linear_run(context, step->linear, x, step->activation, step->has_residual ? &residual : NULL, &y));
    *x = y;
    return CLF_OK;
}

clf_status clfi_sentence_head_forward(clf_context *context, const clf_sentence_head *head, const clf_sentence_choice *choice,
                                      const clf_view *hidden, const clf_view *offsets, const clf_view *embeddings)
{
    const int64_t pooled = head->width * (int64_t)choice->pooling_count;
    bool is_plain = choice->width == pooled; /* then pooling writes to `embeddings` itself */
    for (size_t i = 0; i < head->steps; i++)
        is_plain = is_plain && head->step[i].kind == CLF_MODULE_NORMALIZE;
    if (is_plain) {
        CLF_TRY(pool(context, head, choice, hidden, offsets, embeddings));
        return choice->normalize || (choice->keeps_normalize && head->config.normalize)
                   ? clfi_l2_normalize(context, embeddings, normalize_eps, embeddings)
                   : CLF_OK;
    }
    clf_view x;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 2, (int64_t[]){embeddings->dim[0], pooled}, &x));
    CLF_TRY(pool(context, head, choice, hidden, offsets, &x));
    for (size_t i = 0; i < head->steps; i++)
        if (head->step[i].kind != CLF_MODULE_NORMALIZE || choice->keeps_normalize)
            CLF_TRY(run_step(context, &head->step[i], &x));
    x.dim[1] = choice->width;
    return choice->normalize ? clfi_l2_normalize(context, &x, normalize_eps, embeddings)
                             : clfi_activation(context, CLF_ACTIVATION_NONE, &x, embeddings);
}
