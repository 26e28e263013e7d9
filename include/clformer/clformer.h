/* SPDX-License-Identifier: MIT */
/* Everything that clformer offers, except opencl.h, which needs the OpenCL headers. */
#ifndef CLFORMER_CLFORMER_H
#define CLFORMER_CLFORMER_H

#include "clformer/attention.h"
#include "clformer/context.h"
#include "clformer/device.h"
#include "clformer/einsum.h"
#include "clformer/linear.h"
#include "clformer/model.h"
#include "clformer/ops.h"
#include "clformer/pronounce.h"
#include "clformer/softmax.h"
#include "clformer/status.h"
#include "clformer/tensor.h"
#include "clformer/transformer.h"
#include "clformer/version.h"

#endif
