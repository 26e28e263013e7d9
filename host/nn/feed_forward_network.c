/* SPDX-License-Identifier: MIT */
/* Implements the public clf_feed_forward_network (clformer/transformer.h). */
#include "base/alloc.h"
#include "clformer/transformer.h"
#include "kernel/combine.h"
#include "op/linear.h"

struct clf_feed_forward_network {
    clf_context *context; /* borrowed: the linears keep it alive */
    clf_activation activation;
    clf_linear *in, *gate, *out;
};

static clf_status create_linear(clf_context *context, const char *name, const clf_tensor *weight, const clf_tensor *bias, clf_linear **out)
{
    CLF_TRY(clfi_linear_check_tensors(context, "feed-forward", name, weight, bias));
    return clf_linear_create(context, weight, bias, out);
}

static clf_status create_linears(clf_context *context, const clf_tensor *w1, const clf_tensor *b1, const clf_tensor *wg,
                                 const clf_tensor *bg, const clf_tensor *w2, const clf_tensor *b2, clf_feed_forward_network *made)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    CLF_TRY(create_linear(context, "w1", w1, b1, &made->in));
    CLF_TRY(create_linear(context, "w2", w2, b2, &made->out));
    if (clfi_linear_in_features(made->out) != clfi_linear_out_features(made->in))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: feed-forward w2 is %s, expected %lld columns",
                 clfi_shape_text(2, clf_tensor_dim(w2), shape), (long long)clfi_linear_out_features(made->in));
    if (!wg)
        return CLF_OK;
    CLF_TRY(create_linear(context, "wg", wg, bg, &made->gate));
    if (clfi_linear_in_features(made->gate) != clfi_linear_in_features(made->in) ||
        clfi_linear_out_features(made->gate) != clfi_linear_out_features(made->in))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: feed-forward wg is %s, w1 is [%lld,%lld]", clfi_shape_text(2, clf_tensor_dim(wg), shape),
                 (long long)clfi_linear_out_features(made->in), (long long)clfi_linear_in_features(made->in));
    return CLF_OK;
}

clf_status clf_feed_forward_create(clf_context *context, clf_activation activation, const clf_tensor *w1, const clf_tensor *b1,
                                   const clf_tensor *wg, const clf_tensor *bg, const clf_tensor *w2, const clf_tensor *b2,
                                   clf_feed_forward_network **out)
{
    clf_feed_forward_network *made;
    if (!context || !out || (bg && !wg) || (unsigned)activation >= CLF_ACTIVATION_COUNT)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: feed-forward: context and out must not be NULL, bg needs wg, activation %d",
                 (int)activation);
    CLF_TRY(clfi_alloc(1, sizeof *made, "feed-forward network", &made));
    made->context = context;
    made->activation = activation;
    const clf_status st = create_linears(context, w1, b1, wg, bg, w2, b2, made);
    if (st != CLF_OK) {
        clf_feed_forward_destroy(made);
        return st;
    }
    *out = made;
    return CLF_OK;
}

void clf_feed_forward_destroy(clf_feed_forward_network *network)
{
    if (!network)
        return;
    clfi_linear_destroy(network->in);
    clfi_linear_destroy(network->gate);
    clfi_linear_destroy(network->out);
    free(network);
}

/* The hidden rows as a tensor of x's leading axes, so that the public linear layers check the shapes. */
static clf_status hidden_tensor(clf_context *context, const clf_feed_forward_network *network, const clf_tensor *x, clf_tensor **out)
{
    int64_t dim[CLF_MAX_RANK];
    const int rank = clf_tensor_rank(x);
    for (int i = 0; i < rank; i++)
        dim[i] = i == rank - 1 ? clfi_linear_out_features(network->in) : clf_tensor_dim(x)[i];
    return clf_tensor_create(context, CLF_F32, rank, dim, out);
}

clf_status clf_feed_forward_apply(clf_context *context, const clf_feed_forward_network *network, const clf_tensor *x, clf_tensor *y)
{
    clf_tensor *hidden = NULL, *gate = NULL;
    clf_status st;
    if (!network)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "feed-forward network is NULL");
    CLF_TRY(clfi_context_check(context, network->context, "feed-forward network"));
    CLF_TRY(clfi_tensor_check(context, "x", x));
    CLF_TRY(clfi_tensor_check(context, "y", y));
    CLF_GOTO(hidden_tensor(context, network, x, &hidden));
    CLF_GOTO(clf_linear_apply(context, network->in, x, network->activation, NULL, hidden));
    if (network->gate) {
        CLF_GOTO(hidden_tensor(context, network, x, &gate));
        CLF_GOTO(clf_linear_apply(context, network->gate, x, CLF_ACTIVATION_NONE, NULL, gate));
        if (clf_tensor_count(gate))
            CLF_GOTO(clfi_multiply_launch(context, clfi_tensor_view(gate), clfi_tensor_view(hidden)));
    }
    CLF_GOTO(clf_linear_apply(context, network->out, hidden, CLF_ACTIVATION_NONE, NULL, y));
done:
    clf_tensor_destroy(hidden);
    clf_tensor_destroy(gate);
    return st;
}
