/* SPDX-License-Identifier: MIT */
/* Opens language models for workloads. */
#include "workload/generation_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/family.h"
#include "model/model.h"
#include "model/model_checkpoint.h"
#include "model/network_open.h"
#include "runtime/usage.h"
#include "workload/reference_network.h"
#include "workload/verdict.h"

/* The reference of one sequence may take affordable_flops operations. It gets LEAST_TOKENS tokens even if they take more. */
static const double affordable_flops = 2e10;
enum { LEAST_TOKENS = 8, SOURCE_SEED = 12 };

static clf_status measure(clf_checkpoint *checkpoint, clfi_generation_model *out)
{
    clfi_stored_network stored;
    CLF_TRY(clfi_stored_network_open(checkpoint, &stored));
    out->vocabulary = stored.config.target.vocabulary;
    out->max_positions = stored.config.target.max_positions;
    if (stored.config.decoder.has_source)
        out->source_vocabulary = stored.config.source.vocabulary;
    return clfi_stored_network_cost(&stored, &out->cost);
}

clf_status clfi_generation_model_read(const char *path, clfi_generation_model *out)
{
    clf_checkpoint *checkpoint;
    clfi_generation_model made = {.path = path};
    clfi_model_name(path, made.name, sizeof made.name);
    CLF_TRY(clfi_model_checkpoint_open(path, &checkpoint));
    clf_status st = measure(checkpoint, &made);
    clfi_checkpoint_close(checkpoint);
    if (st != CLF_OK)
        return clfi_fail_prefix(st, "%s", path);
    CLF_TRY(clfi_model_identity(path, made.name, &made.identity));
    *out = made;
    return CLF_OK;
}

clf_status clfi_generation_model_random(const char *name, const clfi_random_decoder_shape *shape, clfi_generation_model *out)
{
    clfi_generation_model made = {.shape = *shape};
    clfi_random_decoder *numbers = NULL;
    clf_checkpoint *checkpoint = NULL;
    clf_status st;
    snprintf(made.name, sizeof made.name, "%s-%s", name, shape->mix ? shape->mix : clfi_weight_type_info(shape->type)->name);
    CLF_GOTO(clfi_random_decoder_create(shape, &numbers));
    CLF_GOTO(clfi_random_decoder_checkpoint(numbers, &checkpoint));
    CLF_GOTO(measure(checkpoint, &made));
    made.identity = json_pack("{s:s, s:s, s:i}", "name", made.name, "data", "random weights", "version", 1);
    if (!made.identity)
        st = clfi_fail(CLF_OUT_OF_MEMORY, "model %s: its description: not enough memory", made.name);
    *out = made;
done:
    clfi_checkpoint_close(checkpoint);
    clfi_random_decoder_destroy(numbers);
    return st;
}

void clfi_generation_model_free(clfi_generation_model *model)
{
    json_decref(model->identity);
    *model = (clfi_generation_model){0};
}

clf_status clfi_generation_parameters(const clfi_generation_model *model, size_t size, void *out)
{
    const char *path, *unused;
    clfi_generation_source *source;
    CLF_TRY(clfi_model_parameters(size, model->path, NULL, &source, &path, &unused));
    *source = (clfi_generation_source){path, model->shape, model->vocabulary, model->source_vocabulary, model->cost.token_flops};
    memcpy(out, &source, sizeof source);
    return CLF_OK;
}

clf_status clfi_generation_checkpoint(const clfi_generation_source *source, clfi_random_decoder **numbers, clf_checkpoint **out)
{
    if (source->path)
        return clfi_model_checkpoint_open(source->path, out);
    if (!*numbers)
        CLF_TRY(clfi_random_decoder_create(&source->shape, numbers));
    CLF_TRY(clfi_random_decoder_fill(*numbers));
    return clfi_random_decoder_checkpoint(*numbers, out);
}

static clf_status open_random(clf_context *context, const clfi_generation_source *source, clfi_random_decoder **numbers, clf_network **out)
{
    clf_checkpoint *checkpoint;
    const clf_family *family;
    CLF_TRY(clfi_generation_checkpoint(source, numbers, &checkpoint));
    const clf_status st = clfi_family_find(clfi_checkpoint_config(checkpoint), CLF_TASK_GENERATE, &family);
    if (st != CLF_OK) {
        clfi_checkpoint_close(checkpoint);
        return st;
    }
    return clfi_network_open(context, checkpoint, family, false, &(clf_model_params)CLF_MODEL_PARAMS_INIT, NULL, out);
}

clf_status clfi_generation_open(clf_context *context, const clfi_generation_source *source, clfi_random_decoder **numbers,
                                clfi_generation_network *out)
{
    const uint64_t before = clfi_usage_bytes(context);
    clfi_generation_network made = {0};
    clf_status st;
    CLF_GOTO(source->path ? clf_model_open(context, source->path, NULL, &made.model)
                          : open_random(context, source, numbers, &made.network));
    const clf_network *network = made.model ? made.model->network : made.network;
    made.weights_bytes = clfi_model_weights_bytes(network->file_bytes, clfi_usage_bytes(context) - before);
    CLF_GOTO(clfi_decode_create(context, network, CLF_F32, &made.decoding));
    *out = made;
    return CLF_OK;
done:
    clfi_generation_close(&made);
    return st;
}

void clfi_generation_close(clfi_generation_network *network)
{
    clfi_decode_destroy(network->decoding);
    clfi_network_destroy(network->network);
    clf_model_destroy(network->model);
    *network = (clfi_generation_network){0};
}

size_t clfi_generation_source_tokens(const clfi_generation_source *source)
{
    return source->source_vocabulary ? CLFI_GENERATION_SOURCE_TOKENS : 0;
}

clf_status clfi_generation_draw_sources(const clfi_generation_source *source, size_t count, int32_t **out)
{
    const size_t tokens = clfi_generation_source_tokens(source);
    clfi_random random = {SOURCE_SEED};
    if (tokens == 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc(count * tokens, sizeof **out, "token ids", out));
    for (size_t i = 0; i < count * tokens; i++)
        (*out)[i] = (int32_t)clfi_random_below(&random, (size_t)source->source_vocabulary);
    return CLF_OK;
}

size_t clfi_generation_affordable(const clfi_generation_source *source, size_t most)
{
    const double tokens = affordable_flops / source->token_flops;
    const size_t affordable = tokens > LEAST_TOKENS ? (size_t)tokens : LEAST_TOKENS;
    return affordable < most ? affordable : most;
}

clf_status clfi_generation_check(const clfi_generation_source *source, clfi_random_decoder **numbers, const clfi_generated_logits *got,
                                 clfi_verdict *out)
{
    const size_t values = got->count * (size_t)source->vocabulary;
    clf_checkpoint *checkpoint;
    clfi_stored_network stored;
    size_t *places = NULL;
    double *want = NULL, bound;
    clf_status st;
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    CLF_TRY(clfi_generation_checkpoint(source, numbers, &checkpoint));
    CLF_GOTO(clfi_alloc(got->count, sizeof *places, "reference", &places));
    CLF_GOTO(clfi_alloc(values, sizeof *want, "reference", &want));
    CLF_GOTO(clfi_stored_network_open(checkpoint, &stored));
    const size_t sources = clfi_generation_source_tokens(source);
    const clf_tokens first = {.ids = got->sources, .count = sources};
    CLF_GOTO(clfi_ref_network_bound(&stored, &first, got->ids, got->length, &bound));
    for (size_t i = 0; i < got->count; i++)
        places[i] = got->length - got->count + i;
    for (size_t s = 0; s < got->sequences; s++) {
        const clf_tokens one = {.ids = sources ? got->sources + s * sources : NULL, .count = sources};
        CLF_GOTO(clfi_ref_network_logits(&stored, &one, got->ids + s * got->length, got->length, places, got->count, NULL, want));
        for (size_t i = 0; i < values; i++)
            clfi_verdict_add(out, (double)got->logits[s * values + i], want[i], bound);
    }
done:
    free(places);
    free(want);
    clfi_checkpoint_close(checkpoint);
    return st;
}
