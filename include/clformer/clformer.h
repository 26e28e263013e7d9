/* SPDX-License-Identifier: MIT */
/* Everything that clformer offers, except opencl.h, which needs the OpenCL headers.
 *
 * Rules of all functions
 *
 * Status. Check every clf_status; clf_last_error() gives the reason if it is not CLF_OK. Out-parameters are set on success only.
 *
 * NULL. destroy(NULL) does nothing. A docstring says where NULL means "none" or "the defaults". Every other NULL where an object is needed
 * is CLF_INVALID_ARGUMENT. A function without status then returns 0, NULL or a value that its docstring names, and a void function sets
 * what it would fill to 0 or does nothing.
 *
 * Outputs. A tensor that a function fills has a place of its own for every element: one with a stride of 0 along an axis of several
 * elements is CLF_INVALID_ARGUMENT.
 *
 * Options. The first member of every struct of parameters is its size, sizeof as the caller was compiled. Start from the INIT macro.
 * Languages without macros call TYPE_default(&options, sizeof options), which fills in the defaults. Later versions add members at the end,
 * and 0 means there what the function did before; so a program and a library of different versions understand each other. A size of 0 is
 * CLF_INVALID_ARGUMENT; a member that the library does not know and that is not 0 is CLF_UNSUPPORTED. */
#ifndef CLFORMER_CLFORMER_H
#define CLFORMER_CLFORMER_H

#include "clformer/activation.h"
#include "clformer/attention.h"
#include "clformer/chat.h"
#include "clformer/classify.h"
#include "clformer/context.h"
#include "clformer/device.h"
#include "clformer/einsum.h"
#include "clformer/generate.h"
#include "clformer/linear.h"
#include "clformer/masks.h"
#include "clformer/model.h"
#include "clformer/ops.h"
#include "clformer/pronounce.h"
#include "clformer/search.h"
#include "clformer/softmax.h"
#include "clformer/status.h"
#include "clformer/tensor.h"
#include "clformer/text.h"
#include "clformer/tokenizer.h"
#include "clformer/transformer.h"
#include "clformer/version.h"

#endif
