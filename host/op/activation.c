/* SPDX-License-Identifier: MIT */
/* Parses names of activations, checks operands, and implements the public functions. */
#include "op/activation.h"

#include <string.h>

#include "kernel/activation.h"
#include "op/check.h"

clf_status clf_activation_parse(const char *name, clf_activation *out)
{
    if (!name || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "activation parse: name and out must not be NULL");
    for (clf_activation i = 0; i < CLF_ACTIVATION_COUNT; i++) {
        if (strcmp(clf_activation_name(i), name) == 0) {
            *out = i;
            return CLF_OK;
        }
    }
#define X(id, text) " " text
    CLF_FAIL(CLF_NOT_FOUND, "activation \"%s\" is unknown; there are:" CLF_ACTIVATION_MAP(X), name);
#undef X
}

clf_status clfi_activation(clf_context *context, clf_activation kind, const clf_view *x, const clf_view *y)
{
    if ((unsigned)kind >= CLF_ACTIVATION_COUNT)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "activation %d is unknown", (int)kind);
    CLF_TRY(clfi_check_float("activation", "x", x));
    CLF_TRY(clfi_check_float("activation", "y", y));
    CLF_TRY(clfi_check_same_shape("activation", "y", y, "x", x));
    CLF_TRY(clfi_check_writable("activation", "y", y));
    return clfi_activation_launch(context, kind, x, y);
}

clf_status clf_activation_apply(clf_context *context, clf_activation kind, const clf_tensor *x, clf_tensor *y)
{
    CLF_TRY(clfi_tensor_check(context, "x", x));
    CLF_TRY(clfi_tensor_check(context, "y", y));
    return clfi_activation(context, kind, clfi_tensor_view(x), clfi_tensor_view(y));
}
