/* SPDX-License-Identifier: MIT */
/* Opens networks: reads the configuration, then the list of tensors, then the weights. */
#include "model/network_open.h"

#include <string.h>

#include "io/checkpoint_gguf.h"
#include "kernel/kv_cache.h"
#include "model/labels.h"
#include "model/network_load.h"
#include "model/tied_tables.h"
#include "model/unread_tensors.h"
#include "model/weight_lookup.h"

/* Finds the number of labels; 0 for a family whose name map has no classifier, whatever config.json says. */
static clf_status find_head(const json_t *json, const clf_name_map *names, clf_classifier_config *classifier)
{
    for (const clf_weight_name *row = names->head; row && row->role != CLF_WEIGHT_END; row++)
        if (row->role == CLF_WEIGHT_CLASSIFIER)
            return clfi_labels_count(json, &classifier->labels);
    classifier->labels = 0;
    return CLF_OK;
}

clf_status clfi_network_as_encoder(const clf_family *family, clf_network_config *config)
{
    const clf_stack_config *decoder = &config->decoder;
    if (config->encoder.layers > 0 || decoder->attention.soft_cap > 0 || decoder->local.soft_cap > 0)
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\": embeddings from %s are not supported", family->model_type,
                 config->encoder.layers > 0 ? "one side of an encoder-decoder" : "scores with a soft cap");
    config->encoder = *decoder;
    config->source = config->target;
    config->decoder.layers = 0;
    config->has_generator = config->is_generator_tied = false;
    return CLF_OK;
}

const clf_name_map *clfi_network_names(const clf_checkpoint *checkpoint, const clf_family *family)
{
    return strcmp(clfi_checkpoint_form(checkpoint), CLFI_FORM_GGUF) == 0 ? clfi_gguf_names(family->model_type) : family->names;
}

static bool is_taken(const void *weights, const char *name)
{
    return clfi_weights_is_taken(weights, name);
}

/* Refuses a checkpoint with tensors that the network did not load. */
static clf_status check_taken(const clf_checkpoint *checkpoint, const clf_family *family, const clf_name_map *names,
                              const clf_network_config *config, clf_weights *weights)
{
    const clf_weight_source source = clfi_weights_of_checkpoint(weights);
    const clf_weight_lookup lookup = {source.has, source.user, ""};
    const clf_tensor_readers readers = {.names = names,
                                        .prefix = clfi_weight_prefix(&lookup, names),
                                        .model_type = family->model_type,
                                        .takes_all = config->encoder.layers == 0,
                                        .is_taken = is_taken,
                                        .user = weights};
    return clfi_unread_tensors_check(checkpoint, &readers);
}

/* Reads the network's configuration by the family's rules, and finds the names of its weights. */
static clf_status read_config(const clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder, clf_network_config *config,
                              clf_name_map *names)
{
    const clf_name_map *all = clfi_network_names(checkpoint, family);
    if (!all)
        CLF_FAIL(CLF_UNSUPPORTED, "GGUF files of model_type \"%s\" are not supported", family->model_type);
    CLF_TRY(family->read_config(clfi_checkpoint_config(checkpoint), config));
    *names = as_encoder ? (clf_name_map){.prefixes = all->prefixes, .encoder = all->decoder} : *all;
    if (as_encoder)
        CLF_TRY(clfi_network_as_encoder(family, config));
    else if (config->decoder.layers > 0 && !config->decoder.attention.is_causal)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: attention to later tokens (is_causal, use_bidirectional_attention): expected an embedding model, "
                 "with modules.json",
                 CLFI_MODEL_CONFIG);
    return find_head(clfi_checkpoint_config(checkpoint), names, &config->classifier);
}

/* Creates a network without weights. Sizes that no network can have are a fault of the model's files here. */
static clf_status create(clf_context *context, const clf_network_config *config, clf_network **out)
{
    const clf_status st = clfi_network_create(context, config, out);
    return st == CLF_INVALID_ARGUMENT ? clfi_fail_prefix(CLF_FORMAT, "the model's configuration") : st;
}

static clf_status check_config(clf_context *context, const clf_network_config *config)
{
    clf_network *network;
    CLF_TRY(create(context, config, &network));
    clfi_network_destroy(network);
    return CLF_OK;
}

clf_status clfi_network_describe(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                                 clf_network **out)
{
    clf_network_config config;
    clf_name_map names;
    const clf_status st = read_config(checkpoint, family, as_encoder, &config, &names);
    clfi_checkpoint_close(checkpoint);
    return st == CLF_OK ? create(context, &config, out) : st;
}

static clf_status check_cache(const clf_network_config *config, clf_storage cache)
{
    const clf_cache_storage *storage = clfi_cache_storage(cache);
    const int64_t size = config->decoder.attention.head_size;
    if (config->decoder.layers > 0 && clfi_kv_row(storage->dtype, size) == 0)
        CLF_FAIL(CLF_UNSUPPORTED, "keys and values as %s (--cache %s): the model's heads have %lld elements, expected a multiple of %d",
                 storage->name, storage->name, (long long)size, CLFI_KV_BLOCK);
    return CLF_OK;
}

/* Reads configuration, names and plan of a checkpoint, and loads its list of tensors. */
static clf_status plan_network(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                               const clf_model_params *params, clf_network_config *config, clf_name_map *names, clf_memory_plan *plan)
{
    CLF_TRY(read_config(checkpoint, family, as_encoder, config, names));
    CLF_TRY(check_config(context, config));
    CLF_TRY(check_cache(config, params->cache));
    CLF_TRY(clfi_checkpoint_load(checkpoint));
    clfi_tie_generator(checkpoint, names, config);
    clfi_take_positions(checkpoint, names, config);
    CLF_TRY(clfi_biases_check(checkpoint, names, family->biases, config));
    *plan = clfi_memory_plan(context, checkpoint, config, params);
    return CLF_OK;
}

clf_status clfi_network_plan(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                             const clf_model_params *params, clf_memory_plan *out)
{
    clf_network_config config;
    clf_name_map names;
    return plan_network(context, checkpoint, family, as_encoder, params, &config, &names, out);
}

clf_status clfi_network_open(clf_context *context, clf_checkpoint *checkpoint, const clf_family *family, bool as_encoder,
                             const clf_model_params *params, clf_memory_plan *plan, clf_network **out)
{
    clf_network_config config;
    clf_name_map names;
    clf_network *network;
    clf_weights *weights;
    clf_memory_plan own;
    clf_status st = plan_network(context, checkpoint, family, as_encoder, params, &config, &names, &own);
    if (st == CLF_OK && plan)
        *plan = own;
    if (st == CLF_OK)
        st = clfi_memory_plan_check(context, &own);
    if (st != CLF_OK) {
        clfi_checkpoint_close(checkpoint);
        return st;
    }
    CLF_TRY(clfi_weights_open(context, checkpoint, params->weights, &weights));
    const clf_weight_source source = clfi_weights_of_checkpoint(weights);
    st = clfi_network_rehearse_load(context, &config, &names, &source);
    if (st == CLF_OK)
        st = clfi_network_load(context, &config, &names, &source, &network);
    if (st == CLF_OK && (st = check_taken(checkpoint, family, &names, &config, weights)) != CLF_OK)
        clfi_network_destroy(network);
    if (st == CLF_OK) {
        network->parameters = clfi_weights_parameters(weights);
        network->file_bytes = clfi_weights_file_bytes(weights);
        *out = network;
    }
    clfi_weights_close(weights);
    return st;
}
