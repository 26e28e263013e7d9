/* SPDX-License-Identifier: MIT */
/* Implements what the kinds of peak workloads share. */
#include "workload/peak_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "workload/timing.h"

clf_kernel_spec clfi_peak_spec(const char *file, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    spec.own = &clfi_peak_kernels;
    return spec;
}

void clfi_peak_random(uint32_t *out, size_t count, uint64_t seed)
{
    clfi_random random = {seed};
    for (size_t i = 0; i < count; i += 2) {
        const uint64_t z = clfi_random_bits(&random);
        out[i] = (uint32_t)z;
        if (i + 1 < count)
            out[i + 1] = (uint32_t)(z >> 32);
    }
}

void clfi_peak_piece(uint32_t *out, size_t index, size_t count, uint64_t seed)
{
    clfi_peak_random(out, count, seed + index * UINT64_C(0xd1342543de82ef95));
}

static clf_status fill(clf_buffer *buffer, size_t words, uint64_t seed)
{
    uint32_t *piece;
    clf_status st = CLF_OK;
    CLF_TRY(clfi_alloc(CLFI_PEAK_PIECE_WORDS, sizeof *piece, "random words", &piece));
    for (size_t i = 0; st == CLF_OK && i * CLFI_PEAK_PIECE_WORDS < words; i++) {
        const size_t left = words - i * CLFI_PEAK_PIECE_WORDS, count = left < CLFI_PEAK_PIECE_WORDS ? left : CLFI_PEAK_PIECE_WORDS;
        clfi_peak_piece(piece, i, count, seed);
        st = clfi_buffer_write(buffer, i * CLFI_PEAK_PIECE_WORDS * sizeof *piece, piece, count * sizeof *piece);
    }
    free(piece);
    return st;
}

clf_status clfi_peak_upload_random(clf_context *context, size_t words, uint64_t seed, clf_buffer **out)
{
    CLF_TRY(clfi_buffer_create_lasting(context, words * sizeof(uint32_t), out));
    return fill(*out, words, seed);
}

clf_status clfi_peak_upload(clf_context *context, const void *data, size_t bytes, clf_buffer **out)
{
    CLF_TRY(clfi_buffer_create(context, bytes, out));
    return clfi_buffer_write(*out, 0, data, bytes);
}

typedef struct waited_call {
    clf_context *context;
    clf_status (*enqueue)(void *state);
    void *state;
} waited_call;

static clf_status enqueue_and_wait(void *call)
{
    const waited_call *c = call;
    CLF_TRY(c->enqueue(c->state));
    return clfi_context_wait(c->context);
}

clf_status clfi_peak_time(clf_context *context, clf_status (*enqueue)(void *state), void *state, clfi_sample *out)
{
    return clfi_time_call(context, enqueue_and_wait, &(waited_call){context, enqueue, state}, out);
}

clf_status clfi_peak_once(clf_context *context, clf_status (*enqueue)(void *state), void *state)
{
    CLF_TRY(enqueue(state));
    return clf_context_finish(context);
}

clf_status clfi_peak_begin(const clfi_workload *workload, clf_context *context, clf_status (*enqueue)(void *state), size_t size,
                           void **state)
{
    clfi_peak_state *peak;
    CLF_TRY(clfi_alloc(1, size, "a workload", &peak));
    peak->context = context;
    peak->enqueue = enqueue;
    peak->work = (clf_work){workload->flops / 2, workload->bytes};
    *state = peak;
    return CLF_OK;
}

clf_status clfi_peak_run(void *state, clfi_sample *out)
{
    const clfi_peak_state *peak = state;
    return clfi_peak_time(peak->context, peak->enqueue, state, out);
}

void clfi_peak_release(void *state)
{
    clfi_peak_state *peak = state;
    if (!peak)
        return;
    clfi_buffer_release(peak->source);
    clfi_buffer_release(peak->factor);
    clfi_buffer_release(peak->out);
    free(peak);
}

clf_status clfi_peak_results(void *state, size_t count, size_t element_bytes, void *out_pointer)
{
    const clfi_peak_state *peak = state;
    void *results;
    CLF_TRY(clfi_peak_once(peak->context, peak->enqueue, state));
    CLF_TRY(clfi_alloc(count, element_bytes, "results", &results));
    const clf_status st = clfi_buffer_read(peak->out, 0, results, count * element_bytes);
    if (st == CLF_OK)
        memcpy(out_pointer, &results, sizeof results);
    else
        free(results);
    return st;
}

clfi_verdict clfi_peak_exact(size_t wrong)
{
    return (clfi_verdict){.error = (double)wrong, .bound = 0, .passed = wrong == 0};
}

clf_status clfi_peak_add(clfi_workload_list *list, clfi_workload *workload, const void *parameters, size_t size)
{
    workload->suite = "peak";
    workload->parameters = malloc(size);
    if (!workload->work || !workload->parameters) {
        json_decref(workload->work);
        free(workload->parameters);
        CLF_FAIL(CLF_OUT_OF_MEMORY, "workload %s: not enough memory", workload->id);
    }
    memcpy(workload->parameters, parameters, size);
    return clfi_workload_list_add(list, workload);
}
