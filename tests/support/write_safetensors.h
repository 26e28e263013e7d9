/* SPDX-License-Identifier: MIT */
/* Safetensors files for tests. */
#ifndef CLF_TEST_WRITE_SAFETENSORS_H
#define CLF_TEST_WRITE_SAFETENSORS_H

#include "io/safetensors.h"

/* Tensors in the order of the list; name, dtype, rank, dim and data are read. Names need no escapes. */
void write_safetensors(const char *path, const clf_file_tensor *tensors, size_t count);

#endif
