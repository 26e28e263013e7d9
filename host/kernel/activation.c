/* SPDX-License-Identifier: MIT */
/* Launches the activation kernels. On CPU devices a work-item takes CHUNK vectors of dense operands; in all other cases it takes one
 * element. */
#include "kernel/activation.h"

#include "kernel/axes.h"

static const char *const names[] = {
#define X(id, name) name,
    CLF_ACTIVATION_MAP(X)
#undef X
};
_Static_assert(COUNT(names) == CLF_ACTIVATION_COUNT, "one name per activation");

const char *clf_activation_name(clf_activation activation)
{
    return (unsigned)activation < CLF_ACTIVATION_COUNT ? names[activation] : "unknown";
}

const char *clfi_activation_function(clf_activation activation)
{
    static const char *const functions[] = {
#define X(id, name) "activate_" name,
        CLF_ACTIVATION_MAP(X)
#undef X
    };
    return functions[activation];
}

enum { CHUNK = 256, GROUP = 64 };

clf_status clfi_activation_launch(clf_context *context, clf_activation kind, const clf_view *x, const clf_view *y)
{
    const clf_device_caps *caps = &context->device.caps;
    clf_axes axes;
    clfi_axes_merge((const clf_view *const[]){x, y}, (const int[]){0, 0}, 2, x->rank, &axes);
    const int64_t count = clfi_axes_size(&axes);
    const bool is_unit = axes.count == 1 && axes.stride[0][0] == 1 && axes.stride[1][0] == 1, is_vector = is_unit && caps->is_cpu;
    const int64_t width = is_vector ? caps->vector_width : 1, chunk = is_vector ? CHUNK : 1;
    const size_t local = is_vector ? 1 : GROUP;

    clf_kernel_spec spec = clfi_kernel_spec("activation_map.cl", is_unit ? "activation_vector" : "activation_strided");
    clfi_spec_dtype(&spec, "X", x->dtype);
    clfi_spec_dtype(&spec, "Y", y->dtype);
    clfi_spec_text(&spec, "ACTIVATE", clfi_activation_function(kind));
    clfi_spec_int(&spec, "WIDTH", width);
    clfi_spec_int(&spec, "CHUNK", chunk);
    clfi_spec_int(&spec, "AXES", axes.count);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_long(&launch, count);
    clfi_arg_view(&launch, x);
    clfi_arg_view(&launch, y);
    if (!is_unit)
        clfi_arg_axes(&launch, "map_axes", &axes);
    const int64_t per_group = width * chunk * (int64_t)local;
    clfi_launch_work(&launch, 32.0 * (double)count, 2.0 * sizeof(float) * (double)count);
    return clfi_launch_1d(&launch, (size_t)((count + per_group - 1) / per_group), local);
}
