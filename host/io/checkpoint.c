/* SPDX-License-Identifier: MIT */
/* Checkpoints: the calls that every form of storage answers. */
#include "io/checkpoint.h"

#include "base/alloc.h"

struct clf_checkpoint {
    const clf_checkpoint_form *form;
    void *state;
    json_t *config;
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
    *made = (clf_checkpoint){form, state, config, false};
    *out = made;
    return CLF_OK;
}

void clfi_checkpoint_close(clf_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    checkpoint->form->close(checkpoint->state);
    json_decref(checkpoint->config);
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
