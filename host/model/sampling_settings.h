/* SPDX-License-Identifier: MIT */
/* Finds the sampling settings of a model's files, which commands show to the user and do not follow. */
#ifndef CLFI_MODEL_SAMPLING_SETTINGS_H
#define CLFI_MODEL_SAMPLING_SETTINGS_H

#include <jansson.h>

#include "base/status.h"

/* The settings with which other programs sample tokens where their users give none. In a directory these are temperature, top_k and others
 * of generation_config.json if do_sample is true. In a GGUF file they are the keys general.sampling.* but the penalty of repetitions, which
 * is followed. *out: an object of keys and values, which the caller releases; NULL: there are none. FORMAT, IO, OUT_OF_MEMORY. */
clf_status clfi_sampling_settings(const char *path, json_t **out);

#endif
