/* SPDX-License-Identifier: MIT */
/* Sequences of a session on a device that is lost in the middle (CLF_TEST_GPU_LOSE), for test_lost.py. A call that meets the loss returns
 * DEVICE_LOST and leaves the sequence empty; the same tokens then give the logits that they gave before.
 * usage: lost_sequences MODEL. Exit status: 77 if the device was lost before the first call, when nothing opens it again. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "clformer/context.h"
#include "clformer/generate.h"
#include "clformer/model.h"

enum { MOST_VOCABULARY = 4096, CALLS = 12, COUNT = 3 };

static const int32_t tokens[COUNT] = {1, 2, 3};

static int fail(const char *what, clf_status st)
{
    fprintf(stderr, "%s: %s: %s\n", what, clf_status_text(st), clf_last_error());
    return 1;
}

/* Gives the tokens in calls of their own, and again from the first one after a loss. */
static int run(clf_session *session, clf_sequence *sequence, float *logits)
{
    int losses = 0;
    for (size_t at = 0; at < COUNT;) {
        const clf_sequence_tokens input = {sequence, tokens + at, 1};
        const clf_status st = clf_session_run_sequences(session, &input, 1, 0, logits);
        if (st != CLF_OK && st != CLF_DEVICE_LOST)
            return fail("sequences", st);
        if (st == CLF_DEVICE_LOST && losses++)
            return fail("lost twice", st);
        at = st == CLF_OK ? at + 1 : 0;
        if (st == CLF_OK && clf_sequence_length(sequence) != at)
            return fail("another length", st);
    }
    if (losses)
        fprintf(stderr, "device lost: %s\n", clf_last_error());
    return 0;
}

/* Tokens that are given together go through other kernels than tokens that are given one by one. */
static bool is_near(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-3f))
            return false;
    return true;
}

/* Gives the tokens to a session on a second context that shares the device's, made after the losses. Nothing opens such a context again:
 * 77 if it is lost. */
static int run_shared(clf_model *model, const clf_context *with, float *logits)
{
    clf_context *context;
    clf_session *session = NULL;
    clf_sequence *sequence = NULL;
    clf_status st = clf_context_create_shared(with, &context);
    if (st != CLF_OK)
        return fail("shared context", st);
    st = clf_session_create(model, context, &session);
    if (st == CLF_OK)
        st = clf_sequence_create(session, &sequence);
    const clf_sequence_tokens input = {sequence, tokens, COUNT};
    if (st == CLF_OK)
        st = clf_session_run_sequences(session, &input, 1, 0, logits);
    clf_sequence_destroy(sequence);
    clf_session_destroy(session);
    clf_context_destroy(context);
    return st == CLF_OK ? 0 : st == CLF_DEVICE_LOST ? 77 : fail("shared session", st);
}

int main(int argc, char **argv)
{
    static float first[MOST_VOCABULARY], again[MOST_VOCABULARY];
    clf_context *context;
    clf_model *model;
    clf_session *session;
    clf_sequence *sequence;
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.recovers = 1;
    clf_status st = argc == 2 ? clf_context_create(&params, &context) : CLF_INVALID_ARGUMENT;
    if (st != CLF_OK)
        return fail("context", st);
    if ((st = clf_model_open(context, argv[1], NULL, &model)) != CLF_OK || (st = clf_session_create(model, NULL, &session)) != CLF_OK)
        return st == CLF_DEVICE_LOST ? 77 : fail("model", st);
    const size_t bytes = (size_t)clf_model_get_info(model)->vocabulary * sizeof *first;
    int failed = bytes > sizeof first ? fail("a larger vocabulary than expected", CLF_UNSUPPORTED) : 0;
    for (int i = 0; i < CALLS && !failed; i++) {
        st = clf_sequence_create(session, &sequence);
        if (st == CLF_DEVICE_LOST && i == 0)
            return 77;
        failed = st != CLF_OK ? fail("sequence", st) : run(session, sequence, i ? again : first);
        if (i && !failed && memcmp(first, again, bytes) != 0)
            failed = fail("other logits", CLF_OK);
        clf_sequence_destroy(sequence);
    }
    failed = failed ? failed : run_shared(model, context, again);
    if (!failed && !is_near(first, again, bytes / sizeof *first))
        failed = fail("other logits of a shared context", CLF_OK);
    clf_session_destroy(session);
    clf_model_destroy(model);
    clf_context_destroy(context);
    return failed;
}
