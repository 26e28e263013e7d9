/* SPDX-License-Identifier: MIT */
/* How alike are two texts? usage: example MODEL_DIR TEXT TEXT */
#include <clformer/context.h>
#include <clformer/model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    clf_context *context = NULL; /* a device, its queue and its kernels */
    clf_model *model = NULL;     /* weights and tokenizer */
    clf_session *session = NULL; /* one thread's work on the model */
    float *embeddings = NULL;    /* [2, width] */
    size_t width = 0;
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    clf_status status;

    if (argc != 4) {
        fprintf(stderr, "usage: example MODEL_DIR TEXT TEXT\n");
        return 2;
    }
    status = clf_context_create(NULL, &context); /* the default device, or $CLF_DEVICE */
    if (status == CLF_OK)
        status = clf_model_open(context, argv[1], NULL, &model);
    if (status == CLF_OK)
        status = clf_session_create(model, NULL, &session);
    params.normalize = 1; /* embeddings of length 1, whose dot product is their cosine */
    if (status == CLF_OK)
        status = clf_model_embedding_width(model, &params, &width); /* poolings and dense layers change the model's own width */
    if (status == CLF_OK) {
        const clf_text texts[2] = {{argv[2], strlen(argv[2])}, {argv[3], strlen(argv[3])}};
        embeddings = malloc(2 * width * sizeof *embeddings);
        status = embeddings ? clf_session_embed(session, texts, 2, &params, embeddings, NULL) : CLF_OUT_OF_MEMORY;
        double cosine = 0;
        for (size_t i = 0; status == CLF_OK && i < width; i++)
            cosine += (double)embeddings[i] * embeddings[width + i];
        if (status == CLF_OK)
            printf("%.4f\n", cosine);
    }
    if (status != CLF_OK)
        fprintf(stderr, "%s: %s\n", clf_status_text(status), clf_last_error());
    free(embeddings);
    clf_session_destroy(session);
    clf_model_destroy(model);
    clf_context_destroy(context);
    return status == CLF_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
