/* SPDX-License-Identifier: MIT */
/* config.json of a model directory. */
#include "model/model_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/json.h"

enum { CONFIG_LIMIT_BYTES = 16 << 20 };

clf_status clfi_model_config_read(const char *directory, json_t **out)
{
    char *path;
    if (!clfi_directory_exists(directory))
        CLF_FAIL(CLF_NOT_FOUND, "model directory %s: no such directory", directory);
    CLF_TRY(clfi_path_join(directory, CLFI_MODEL_CONFIG, &path));
    const clf_status st = clfi_json_read(path, CONFIG_LIMIT_BYTES, out);
    free(path);
    return st;
}

clf_status clfi_model_config_activation(const json_t *config, const char *key, const char *standard, clf_activation *out)
{
    static const struct {
        const char *name;
        clf_activation activation;
    } rows[] = {
        {"gelu", CLF_ACTIVATION_GELU},
        {"gelu_new", CLF_ACTIVATION_GELU_TANH},
        {"gelu_pytorch_tanh", CLF_ACTIVATION_GELU_TANH},
        {"gelu_fast", CLF_ACTIVATION_GELU_TANH},
        {"quick_gelu", CLF_ACTIVATION_GELU_QUICK},
        {"relu", CLF_ACTIVATION_RELU},
        {"silu", CLF_ACTIVATION_SILU},
        {"swish", CLF_ACTIVATION_SILU},
    };
    const char *name;
    CLF_TRY(clfi_json_opt_string(config, CLFI_MODEL_CONFIG, key, standard, &name));
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = rows[i].activation;
            return CLF_OK;
        }
    }
    CLF_FAIL(CLF_UNSUPPORTED, "%s: %s \"%s\": expected gelu, gelu_new, quick_gelu, relu or silu", CLFI_MODEL_CONFIG, key, name);
}
