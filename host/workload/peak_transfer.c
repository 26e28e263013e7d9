/* SPDX-License-Identifier: MIT */
/* Workloads "transfer": bytes between ordinary host memory and the device, by copy commands and by mapping. A mapped transfer includes
 * the host's own copy, so all four kinds end with the bytes in the same place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum { SEED = 11 };

static const struct {
    const char *name, *measures;
    bool is_upload, is_mapped;
} kinds[] = {
    [CLFI_PEAK_UPLOAD_COPY] = {"upload-copy", "upload_gbps", true, false},
    [CLFI_PEAK_UPLOAD_MAP] = {"upload-map", "upload_gbps", true, true},
    [CLFI_PEAK_DOWNLOAD_COPY] = {"download-copy", "download_gbps", false, false},
    [CLFI_PEAK_DOWNLOAD_MAP] = {"download-map", "download_gbps", false, true},
};

typedef struct transfer_parameters {
    clfi_peak_transfer_kind kind;
    size_t bytes;
} transfer_parameters;

typedef struct transfer {
    clfi_peak_state peak; /* out: buffer on the device */
    transfer_parameters p;
    unsigned char *host, *check; /* host: source or destination of the transfer. check: expected bytes, or those read back */
} transfer;

static clf_status transfer_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const transfer_parameters *p = workload->parameters;
    if (p->bytes > context->device.info.max_allocation_bytes)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the device allocates at most %llu bytes", workload->id,
                 (unsigned long long)context->device.info.max_allocation_bytes);
    return clfi_workload_one_engine(workload, context, out);
}

static void transfer_release(void *state)
{
    transfer *t = state;
    if (!t)
        return;
    free(t->host);
    free(t->check);
    clfi_peak_release(t);
}

static clf_status copy_mapped(transfer *t)
{
    cl_int code = CL_SUCCESS;
    const bool is_upload = kinds[t->p.kind].is_upload;
    const cl_map_flags flags = is_upload ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
    void *mapped = clEnqueueMapBuffer(t->peak.context->queue, t->peak.out->memory, CL_TRUE, flags, 0, t->p.bytes, 0, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "map %zu bytes: clEnqueueMapBuffer: %s (%d)", t->p.bytes, clfi_cl_name(code), code);
    memcpy(is_upload ? mapped : t->host, is_upload ? t->host : mapped, t->p.bytes);
    code = clEnqueueUnmapMemObject(t->peak.context->queue, t->peak.out->memory, mapped, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "unmap: clEnqueueUnmapMemObject: %s (%d)", clfi_cl_name(code), code);
    return CLF_OK;
}

static clf_status move(void *state)
{
    transfer *t = state;
    if (kinds[t->p.kind].is_mapped)
        return copy_mapped(t);
    const bool is_upload = kinds[t->p.kind].is_upload;
    const cl_int code =
        is_upload ? clEnqueueWriteBuffer(t->peak.context->queue, t->peak.out->memory, CL_FALSE, 0, t->p.bytes, t->host, 0, NULL, NULL)
                  : clEnqueueReadBuffer(t->peak.context->queue, t->peak.out->memory, CL_FALSE, 0, t->p.bytes, t->host, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "transfer of %zu bytes: clEnqueue%sBuffer: %s (%d)", t->p.bytes, is_upload ? "Write" : "Read",
                 clfi_cl_name(code), code);
    return CLF_OK;
}

/* The source of the transfer (host memory of an upload, device memory of a download) holds the data; the other side holds something
 * else. */
static clf_status transfer_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    transfer *t;
    (void)engine;
    CLF_TRY(clfi_peak_begin(workload, context, move, sizeof *t, state));
    t = *state;
    t->p = *(const transfer_parameters *)workload->parameters;
    CLF_TRY(clfi_alloc(t->p.bytes, 1, "transfer", &t->host));
    CLF_TRY(clfi_alloc(t->p.bytes, 1, "transfer", &t->check));
    const bool is_upload = kinds[t->p.kind].is_upload;
    clfi_peak_random((uint32_t *)(void *)t->host, t->p.bytes / sizeof(uint32_t), is_upload ? SEED : SEED + 1);
    clfi_peak_random((uint32_t *)(void *)t->check, t->p.bytes / sizeof(uint32_t), is_upload ? SEED + 1 : SEED);
    return clfi_peak_upload(context, t->check, t->p.bytes, &t->peak.out);
}

static clf_status transfer_verify(void *state, clfi_verdict *out)
{
    transfer *t = state;
    size_t wrong = 0;
    CLF_TRY(clfi_peak_once(t->peak.context, move, t));
    if (kinds[t->p.kind].is_upload)
        CLF_TRY(clfi_buffer_read(t->peak.out, 0, t->check, t->p.bytes));
    for (size_t i = 0; i < t->p.bytes; i++)
        wrong += t->host[i] != t->check[i];
    *out = clfi_peak_exact(wrong);
    return CLF_OK;
}

/* Transfers run no kernel, so there is no device time. */
static clf_status transfer_run(void *state, clfi_sample *out)
{
    CLF_TRY(clfi_peak_run(state, out));
    out->device_ns = -1;
    return CLF_OK;
}

static const clfi_workload_type transfer_type = {
    .engines = transfer_engines, .prepare = transfer_prepare, .verify = transfer_verify, .run = transfer_run, .release = transfer_release};

clf_status clfi_peak_transfer(clfi_workload_list *list, clfi_peak_transfer_kind kind, size_t bytes)
{
    const transfer_parameters p = {kind, bytes};
    const bool is_mebi = bytes >= 1 << 20;
    static const char *const on_host[] = {"copying between host memory and the mapped buffer", NULL};
    clfi_workload workload = {
        .op = "transfer", .type = &transfer_type, .bytes = (double)bytes, .off_device = kinds[kind].is_mapped ? on_host : NULL};
    if (bytes == 0 || bytes % 1024 != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "transfer: expected a multiple of 1024 bytes, found %zu", bytes);
    snprintf(workload.id, sizeof workload.id, "transfer/%s/%zu%s", kinds[kind].name, bytes >> (is_mebi ? 20 : 10), is_mebi ? "MiB" : "KiB");
    workload.work = json_pack("{s:s, s:I, s:i, s:s}", "transfer", kinds[kind].name, "size_bytes", (json_int_t)bytes, "seed", SEED,
                              "measures", kinds[kind].measures);
    return clfi_peak_add(list, &workload, &p, sizeof p);
}
