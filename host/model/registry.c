/* SPDX-License-Identifier: MIT */
/* Every model architecture, by config.json's model_type. */
#include <stdio.h>
#include <string.h>

#include "model/architecture.h"

static const clf_architecture *const architectures[] = {
    &clfi_architecture_bert,
};

const clf_architecture *clfi_architecture_find(const char *model_type)
{
    for (size_t i = 0; i < COUNT(architectures); i++)
        if (strcmp(architectures[i]->model_type, model_type) == 0)
            return architectures[i];
    return NULL;
}

void clfi_architecture_list(char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < COUNT(architectures) && length + 1 < size; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s", i ? ", " : "", architectures[i]->model_type);
}
