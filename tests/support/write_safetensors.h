/* SPDX-License-Identifier: MIT */
/* Writes safetensors files for tests. */
#ifndef CLF_TEST_WRITE_SAFETENSORS_H
#define CLF_TEST_WRITE_SAFETENSORS_H

#include "io/safetensors.h"

/* Writes the tensors in the order of the list. It reads name, dtype, rank, dim and data; names must not need escapes. */
void write_safetensors(const char *path, const clf_file_tensor *tensors, size_t count);

#endif
