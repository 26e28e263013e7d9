/* SPDX-License-Identifier: MIT */
/* Finds a family of models by config.json's model_type. */
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "model/family.h"

#define ROW(name) &clfi_family_##name,
static const clf_family *const families[] = {CLFI_FAMILIES(ROW)};

const clf_family *clfi_family_at(size_t index)
{
    return index < COUNT(families) ? families[index] : NULL;
}

static bool can_do(const clf_family *family, unsigned tasks)
{
    return tasks == 0 || (family->tasks & tasks) != 0;
}

/* Lists the families of these tasks: "encoder-decoder, bart or marian". */
static void list(unsigned tasks, char *out, size_t size)
{
    size_t left = 0, length = 0;
    for (size_t i = 0; i < COUNT(families); i++)
        left += can_do(families[i], tasks);
    out[0] = '\0';
    for (size_t i = 0; i < COUNT(families) && length + 1 < size; i++)
        if (can_do(families[i], tasks)) {
            left--;
            length += (size_t)snprintf(out + length, size - length, "%s%s", families[i]->model_type,
                                       left > 1    ? ", "
                                       : left == 1 ? " or "
                                                   : "");
        }
}

/* Refuses two names of a key with different values: transformers prefers the other name, which would describe another network. */
static clf_status check_aliases(const json_t *config, const clf_family *family)
{
    for (const char *const(*alias)[2] = family->aliases; alias && (*alias)[0]; alias++) {
        char found[2][CLFI_JSON_FOUND_BYTES];
        const json_t *other = json_object_get(config, (*alias)[0]), *value = json_object_get(config, (*alias)[1]);
        if (other && value && !json_equal(other, value))
            CLF_FAIL(CLF_FORMAT, "%s: \"%s\" is another name of \"%s\" for model_type \"%s\": found %s and %s, expected the same value",
                     CLFI_MODEL_CONFIG, (*alias)[0], (*alias)[1], family->model_type, clfi_json_found(other, found[0]),
                     clfi_json_found(value, found[1]));
    }
    return CLF_OK;
}

clf_status clfi_family_find(const json_t *config, unsigned tasks, const clf_family **out)
{
    const char *type;
    char known[512];
    CLF_TRY(clfi_json_get_string(config, CLFI_MODEL_CONFIG, "model_type", &type));
    for (size_t i = 0; i < COUNT(families); i++) {
        if (can_do(families[i], tasks) && strcmp(families[i]->model_type, type) == 0) {
            CLF_TRY(check_aliases(config, families[i]));
            *out = families[i];
            return CLF_OK;
        }
    }
    list(tasks, known, sizeof known);
    CLF_FAIL(CLF_UNSUPPORTED, "%s: model_type \"%s\": expected %s", CLFI_MODEL_CONFIG, type, known);
}
