/* SPDX-License-Identifier: MIT */
/* Asks a language model a question and prints the answer while it is made. usage: example_chat MODEL QUESTION */
#include <clformer/chat.h>
#include <clformer/context.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Called for each token, and once at the end. A nonzero result would end the answer. */
static int print_piece(void *user, const clf_generated *step)
{
    FILE *out = user;
    fwrite(step->text.data, 1, step->text.size, out); /* whole characters of UTF-8, perhaps none */
    fflush(out);
    return 0;
}

int main(int argc, char **argv)
{
    clf_context *context = NULL; /* a device, its queue and its kernels */
    clf_model *model = NULL;     /* weights and tokenizer: a GGUF file or a directory */
    clf_session *session = NULL; /* one thread's work on the model */
    clf_request *request = NULL; /* one prompt with its parameters and its answer */
    clf_generate_params generate = CLF_GENERATE_PARAMS_INIT;
    clf_chat_params params = CLF_CHAT_PARAMS_INIT;
    clf_status status;

    if (argc != 3) {
        fprintf(stderr, "usage: example_chat MODEL QUESTION\n");
        return 2;
    }
    generate.max_tokens = 64; /* at most; the model may end its answer before */
    params.generate = &generate;
    const clf_message message = {"user", {argv[2], strlen(argv[2])}};
    status = clf_context_create(NULL, &context);
    if (status == CLF_OK)
        status = clf_model_open(context, argv[1], NULL, &model);
    if (status == CLF_OK)
        status = clf_session_create(model, NULL, &session);
    if (status == CLF_OK)
        status = clf_session_chat(session, &message, 1, &params, print_piece, stdout, &request);
    if (status == CLF_OK)
        status = clf_session_run_requests(session, &request, 1);
    if (status == CLF_OK)
        putchar('\n');
    else
        fprintf(stderr, "%s: %s\n", clf_status_text(status), clf_last_error());
    clf_request_destroy(request);
    clf_session_destroy(session);
    clf_model_destroy(model);
    clf_context_destroy(context);
    return status == CLF_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
