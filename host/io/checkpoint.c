/* SPDX-License-Identifier: MIT */
/* Dispatches the calls of checkpoints to their form of storage. */
#include "io/checkpoint.h"

#include <string.h>

#include "base/alloc.h"

struct clf_checkpoint {
    const clf_checkpoint_form *form;
    void *state;
    json_t *config;
    json_t *compared; /* an object of objects: compared[name][other] is whether the tensors are equal; NULL until it is needed */
    bool is_loaded;
};

clf_status clfi_checkpoint_create(const clf_checkpoint_form *form, void *state, json_t *config, clf_checkpoint **out)
{
    clf_checkpoint *made;
    const clf_status st = clfi_alloc(1, sizeof *made, "checkpoint", &made);
    if (st != CLF_OK) {
        form->close(state);
        json_decref(config);
        return st;
    }
    *made = (clf_checkpoint){.form = form, .state = state, .config = config};
    *out = made;
    return CLF_OK;
}

void clfi_checkpoint_close(clf_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    checkpoint->form->close(checkpoint->state);
    json_decref(checkpoint->config);
    json_decref(checkpoint->compared);
    free(checkpoint);
}

const char *clfi_checkpoint_form(const clf_checkpoint *checkpoint)
{
    return checkpoint->form->name;
}

const json_t *clfi_checkpoint_config(const clf_checkpoint *checkpoint)
{
    return checkpoint->config;
}

const void *clfi_checkpoint_state(const clf_checkpoint *checkpoint, const clf_checkpoint_form *form)
{
    return checkpoint->form == form ? checkpoint->state : NULL;
}

clf_status clfi_checkpoint_load(clf_checkpoint *checkpoint)
{
    if (!checkpoint->is_loaded && checkpoint->form->load)
        CLF_TRY(checkpoint->form->load(checkpoint->state));
    checkpoint->is_loaded = true;
    return CLF_OK;
}

bool clfi_checkpoint_at(const clf_checkpoint *checkpoint, size_t index, clf_checkpoint_tensor *out)
{
    return checkpoint->form->at(checkpoint->state, index, out);
}

bool clfi_checkpoint_find(const clf_checkpoint *checkpoint, const char *name, clf_checkpoint_tensor *out)
{
    return checkpoint->form->find(checkpoint->state, name, out);
}

clf_status clfi_checkpoint_make(const clf_checkpoint *checkpoint, clf_checkpoint_tensor *tensor, void **out)
{
    *out = NULL;
    if (!tensor->is_made)
        return CLF_OK;
    CLF_TRY(checkpoint->form->make(checkpoint->state, tensor, out));
    tensor->data = *out;
    return CLF_OK;
}

static bool are_equal(const clf_checkpoint *checkpoint, const char *name, const char *other)
{
    clf_checkpoint_tensor a, b;
    if (!clfi_checkpoint_find(checkpoint, name, &a) || !clfi_checkpoint_find(checkpoint, other, &b))
        return false;
    if (a.is_made || b.is_made || strcmp(a.type_name, b.type_name) != 0 || a.rank != b.rank || a.bytes != b.bytes ||
        memcmp(a.dim, b.dim, (size_t)a.rank * sizeof *a.dim) != 0)
        return false;
    const bool is_equal = a.bytes == 0 || memcmp(a.data, b.data, a.bytes) == 0;
    clfi_checkpoint_forget(checkpoint, &a);
    return is_equal;
}

bool clfi_checkpoint_is_copy(const clf_checkpoint *checkpoint, const char *name, const char *other)
{
    clf_checkpoint *remembering = (clf_checkpoint *)checkpoint; /* what it holds stays as it is */
    const json_t *known = json_object_get(json_object_get(checkpoint->compared, name), other);
    if (known)
        return json_is_true(known);
    const bool is_equal = are_equal(checkpoint, name, other);
    if (!remembering->compared)
        remembering->compared = json_object();
    if (remembering->compared && !json_object_get(remembering->compared, name))
        json_object_set_new(remembering->compared, name, json_object());
    json_object_set_new(json_object_get(remembering->compared, name), other, json_boolean(is_equal));
    return is_equal;
}

size_t clfi_checkpoint_file_count(const clf_checkpoint *checkpoint)
{
    return checkpoint->form->file_count(checkpoint->state);
}

const char *clfi_checkpoint_file_path(const clf_checkpoint *checkpoint, int file)
{
    return checkpoint->form->file_path(checkpoint->state, file);
}

clf_file_map *clfi_checkpoint_file_map(const clf_checkpoint *checkpoint, int file)
{
    return checkpoint->form->file_map(checkpoint->state, file);
}

uint64_t clfi_checkpoint_file_bytes(const clf_checkpoint *checkpoint)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < clfi_checkpoint_file_count(checkpoint); i++)
        sum += clfi_checkpoint_file_map(checkpoint, (int)i)->size;
    return sum;
}

clf_status clfi_checkpoint_check(const clf_checkpoint *checkpoint)
{
    for (size_t i = 0; i < clfi_checkpoint_file_count(checkpoint); i++)
        CLF_TRY(clfi_file_map_check(clfi_checkpoint_file_map(checkpoint, (int)i)));
    return CLF_OK;
}

void clfi_checkpoint_forget(const clf_checkpoint *checkpoint, const clf_checkpoint_tensor *tensor)
{
    clfi_file_map_forget(clfi_checkpoint_file_map(checkpoint, tensor->file), tensor->offset, tensor->bytes);
}
