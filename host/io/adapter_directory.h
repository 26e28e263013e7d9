/* SPDX-License-Identifier: MIT */
/* Directories of adapters: what peft saves beside a model, or alone with the name of the model that it belongs to. */
#ifndef CLFI_IO_ADAPTER_DIRECTORY_H
#define CLFI_IO_ADAPTER_DIRECTORY_H

#include <stddef.h>

#include "base/status.h"

#define CLFI_ADAPTER_CONFIG "adapter_config.json"
#define CLFI_ADAPTER_WEIGHTS "adapter_model.safetensors"

/* The directory of the model that an adapter's directory belongs to. *out: newly allocated; NULL: `directory` holds a model of its own
 * (model.safetensors or its index, or there is no adapter). base_model_name_or_path is a path from the root, from the working directory
 * (as peft takes it), or from the adapter's directory: the first that is a directory.
 * NOT_FOUND: there is no such directory, for example since the name is one of a hub. UNSUPPORTED: the model has an adapter too. FORMAT,
 * IO as clfi_json_read_in. */
clf_status clfi_adapter_base(const char *directory, char **out);

/* The directory to read a part of a model from. It is `directory` if that has one of the files (count 0: it never has), or if it holds more
 * than an adapter, else the directory of the model that the adapter belongs to. *out: newly allocated. Statuses as clfi_adapter_base. */
clf_status clfi_adapter_place(const char *directory, const char *const *files, size_t count, char **out);

#endif
