/* SPDX-License-Identifier: MIT */
/* Interoperation with a program's own OpenCL code. The only public header that needs <CL/cl.h>. */
#ifndef CLFORMER_OPENCL_H
#define CLFORMER_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "clformer/context.h"
#include "clformer/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context on the caller's OpenCL context and in-order queue; both are retained. params->device and recovers are ignored, and profile if
 * the queue was created without CL_QUEUE_PROFILING_ENABLE. *out: the caller destroys it. INVALID_ARGUMENT: a NULL, the queue is out of
 * order or belongs to another context, params as clf_context_create. UNSUPPORTED: the device cannot be used. */
CLF_API CLF_NODISCARD clf_status clf_context_create_from_opencl(const clf_context_params *params, cl_context opencl_context,
                                                                cl_command_queue queue, clf_context **out);

/* Borrowed handles: valid while the context lives. */
CLF_API cl_context clf_context_opencl(const clf_context *context);
CLF_API cl_command_queue clf_context_queue(const clf_context *context);

/* The buffer behind a tensor and the byte offset of its first element. Borrowed: valid while the tensor lives. */
CLF_API cl_mem clf_tensor_opencl(const clf_tensor *tensor, size_t *out_offset_bytes);

#ifdef __cplusplus
}
#endif
#endif
