/* SPDX-License-Identifier: MIT */
/* Runs the position-wise feed-forward network. */
#include "nn/feed_forward.h"

#include "kernel/combine.h"

clf_status clfi_feed_forward_run(clf_context *context, const clf_feed_forward *network, const clf_view *x, const clf_view *residual,
                                 const clf_view *y)
{
    const clf_arena_mark mark = clfi_arena_top(context);
    const int64_t dim[2] = {x->dim[0], clfi_linear_out_features(network->in)};
    clf_gemm_input input = {0};
    clf_view hidden, gate;
    clf_status st;
    CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, dim, &hidden));
    const bool is_one = network->gate && clfi_linear_takes_gate(context, network->in, network->gate, x->dim[0]);
    if (is_one)
        CLF_GOTO(clfi_linear_run_gated(context, network->in, network->gate, x, network->activation, &hidden));
    else
        CLF_GOTO(clfi_linear_run_shared(context, network->in, x, network->activation, NULL, &hidden, &input));
    if (network->gate && !is_one) {
        CLF_GOTO(clfi_view_temporary(context, CLF_F32, 2, dim, &gate));
        CLF_GOTO(clfi_linear_run_shared(context, network->gate, x, CLF_ACTIVATION_NONE, NULL, &gate, &input));
        CLF_GOTO(clfi_multiply_launch(context, &gate, &hidden));
    }
    if (network->visit)
        CLF_GOTO(network->visit(network->user, &hidden));
    CLF_GOTO(clfi_linear_run(context, network->out, &hidden, CLF_ACTIVATION_NONE, residual, y));
done:
    clfi_arena_release(context, mark);
    return st;
}
