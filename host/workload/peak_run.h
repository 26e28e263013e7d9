/* SPDX-License-Identifier: MIT */
/* Functions that the kinds of peak workloads share: kernels, random words, timing, and common parts of their types. */
#ifndef CLFI_WORKLOAD_PEAK_RUN_H
#define CLFI_WORKLOAD_PEAK_RUN_H

#include <stdint.h>

#include "runtime/buffer.h"
#include "runtime/program.h"
#include "workload/workload.h"

/* The kernels of cl/peak, and the specification of one of them. Strings are borrowed. */
extern const clf_kernel_set clfi_peak_kernels;
clf_kernel_spec clfi_peak_spec(const char *file, const char *kernel);

/* Fills out with random words, two from each number of base/random.h. */
void clfi_peak_random(uint32_t *out, size_t count, uint64_t seed);

/* Makes a buffer of random words, filled piece by piece. clfi_peak_piece computes a piece again, so no copy need be kept. */
enum { CLFI_PEAK_PIECE_WORDS = 1 << 20 };
clf_status clfi_peak_upload_random(clf_context *context, size_t words, uint64_t seed, clf_buffer **out);
void clfi_peak_piece(uint32_t *out, size_t index, size_t count, uint64_t seed);

/* Makes a buffer with these bytes. */
clf_status clfi_peak_upload(clf_context *context, const void *data, size_t bytes, clf_buffer **out);

/* Times enqueue(state) until the queue is empty. In a profiling context, device time is that of the kernels' events. */
clf_status clfi_peak_time(clf_context *context, clf_status (*enqueue)(void *state), void *state, clfi_sample *out);

/* Calls enqueue(state) and waits for the queue. */
clf_status clfi_peak_once(clf_context *context, clf_status (*enqueue)(void *state), void *state);

/* First member of the state of a prepared workload. clfi_peak_release releases the buffers. */
typedef struct clfi_peak_state {
    clf_context *context;
    clf_status (*enqueue)(void *state);
    clf_buffer *source, *factor, *out;
    clf_work work; /* of a run */
} clfi_peak_state;

/* Allocates a state of `size` bytes: context, enqueue and work are set, the rest is zeros. OUT_OF_MEMORY. */
clf_status clfi_peak_begin(const clfi_workload *workload, clf_context *context, clf_status (*enqueue)(void *state), size_t size,
                           void **state);

/* `run` and `release` of such workloads. */
clf_status clfi_peak_run(void *state, clfi_sample *out);
void clfi_peak_release(void *state);

/* Runs the workload once and reads the first count elements of its `out` into new memory, which the caller frees. */
clf_status clfi_peak_results(void *state, size_t count, size_t element_bytes, void *out_pointer);

/* The verdict of an exact check that found `wrong` wrong words. */
clfi_verdict clfi_peak_exact(size_t wrong);

/* Adds a workload to the suite "peak"; copies parameters (size bytes) and takes over workload->work, also on failure. OUT_OF_MEMORY,
 * also if work is NULL. */
clf_status clfi_peak_add(clfi_workload_list *list, clfi_workload *workload, const void *parameters, size_t size);

#endif
