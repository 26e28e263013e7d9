/* SPDX-License-Identifier: MIT */
/* Computes sentence embeddings in double: the reference network's features, pooling, and the modules after it. */
#include "workload/reference_encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/family.h"
#include "model/model_checkpoint.h"
#include "model/sentence_config.h"
#include "workload/reference_gemm.h"
#include "workload/reference_network.h"
#include "workload/reference_norm.h"
#include "workload/reference_sentence.h"

enum { SAFETY = 4 };

static const double u = 0x1p-24;

struct clfi_ref_encoder {
    clf_checkpoint *checkpoint;
    clfi_stored_network network;
    clf_sentence_config sentence;
    clfi_ref_module modules[COUNT(((clf_sentence_config *)0)->module)];
    size_t width; /* of an embedding as the modules make it */
    size_t kept;  /* of them in results */
};

static clf_status open_parts(const char *directory, size_t kept, clfi_ref_encoder *encoder)
{
    const clf_family *family;
    CLF_TRY(clfi_model_checkpoint_open(directory, &encoder->checkpoint));
    CLF_TRY(clfi_family_find(clfi_checkpoint_config(encoder->checkpoint), CLF_TASK_EMBED | CLF_TASK_GENERATE, &family));
    CLF_TRY(clfi_stored_network_open_encoder(encoder->checkpoint, &encoder->network));
    CLF_TRY(clfi_sentence_config_read(directory, family->pooling, &encoder->sentence));
    if (encoder->sentence.pooling_count == 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: modules.json: expected a Pooling", directory);
    encoder->width = encoder->sentence.pooling_count * (size_t)clfi_stored_stack(&encoder->network)->width;
    for (size_t i = 0; i < encoder->sentence.module_count; i++)
        CLF_TRY(clfi_ref_module_open(directory, &encoder->sentence.module[i], &encoder->width, &encoder->modules[i]));
    if (kept > encoder->width)
        CLF_FAIL(CLF_FORMAT, "%s: modules.json gives embeddings of %zu values: expected at least %zu", directory, encoder->width, kept);
    encoder->kept = kept;
    return CLF_OK;
}

clf_status clfi_ref_encoder_open(const char *directory, size_t kept, clfi_ref_encoder **out)
{
    clfi_ref_encoder *encoder;
    CLF_TRY(clfi_alloc(1, sizeof *encoder, "reference encoder", &encoder));
    const clf_status st = open_parts(directory, kept, encoder);
    if (st == CLF_OK)
        *out = encoder;
    else
        clfi_ref_encoder_close(encoder);
    return st;
}

void clfi_ref_encoder_close(clfi_ref_encoder *encoder)
{
    if (!encoder)
        return;
    for (size_t i = 0; i < COUNT(encoder->modules); i++)
        clfi_ref_module_close(&encoder->modules[i]);
    clfi_checkpoint_close(encoder->checkpoint);
    free(encoder);
}

bool clfi_ref_encoder_is_cut(const clfi_ref_encoder *encoder)
{
    return encoder->kept < encoder->width;
}

static double weight_of(clf_pooling pooling, size_t t, size_t length)
{
    const double count = (double)length;
    switch (pooling) {
    case CLF_POOLING_MEAN:
        return 1 / count;
    case CLF_POOLING_MEAN_SQRT_LEN:
        return 1 / sqrt(count);
    case CLF_POOLING_WEIGHTED_MEAN:
        return (double)(t + 1) / (count * (count + 1) / 2);
    case CLF_POOLING_LAST:
        return t + 1 == length;
    default:
        return t == 0;
    }
}

/* out [c]: one kind of pooling of x [length,c]. */
static void pool(clf_pooling pooling, const double *x, size_t length, size_t c, double *out)
{
    for (size_t i = 0; i < c; i++) {
        out[i] = pooling == CLF_POOLING_MAX ? x[i] : 0;
        for (size_t t = 0; t < length; t++)
            out[i] = pooling == CLF_POOLING_MAX ? fmax(out[i], x[t * c + i]) : out[i] + weight_of(pooling, t, length) * x[t * c + i];
    }
}

static clf_status run_pass(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, clfi_ref_noise *noise, double *out)
{
    const size_t c = (size_t)clfi_stored_stack(&encoder->network)->width, poolings = encoder->sentence.pooling_count;
    size_t widest = poolings * c, width = widest;
    double *x;
    clf_status st;
    for (size_t i = 0; i < encoder->sentence.module_count; i++)
        widest = encoder->modules[i].width > widest ? encoder->modules[i].width : widest;
    CLF_TRY(clfi_alloc(length * c + 2 * widest, sizeof *x, "reference", &x));
    double *row = x + length * c, *next = row + widest;
    CLF_GOTO(clfi_ref_network_features(&encoder->network, ids, length, noise, x));
    for (size_t i = 0; i < poolings; i++)
        pool(encoder->sentence.pooling[i], x, length, c, row + i * c);
    for (size_t i = 0; i < encoder->sentence.module_count; i++) {
        const clfi_ref_module *module = &encoder->modules[i];
        clfi_ref_module_run(module, row, width, noise, next);
        double *const made = next;
        next = row;
        row = made;
        width = module->width;
    }
    memcpy(out, row, encoder->kept * sizeof *out);
done:
    free(x);
    return st;
}

clf_status clfi_ref_encoder_embed(const clfi_ref_encoder *encoder, const int32_t *ids, size_t length, double *out, double *bound)
{
    clfi_ref_noise noise = {1};
    double *disturbed, worst = 0, largest = 0;
    CLF_TRY(clfi_alloc(encoder->kept, sizeof *disturbed, "reference", &disturbed));
    clf_status st = run_pass(encoder, ids, length, NULL, out);
    if (st == CLF_OK)
        st = run_pass(encoder, ids, length, &noise, disturbed);
    for (size_t i = 0; st == CLF_OK && i < encoder->kept; i++) {
        worst = fmax(worst, fabs(disturbed[i] - out[i]));
        largest = fmax(largest, fabs(out[i]));
    }
    free(disturbed);
    *bound = SAFETY * worst + u * fmax(1, largest);
    return st;
}
