/* SPDX-License-Identifier: MIT */
/* The ops suite: every op's workloads in the order of their tables. */
#include "workload/op_workloads.h"

#include <string.h>

#include "base/alloc.h"

clf_status clfi_op_workload_add(clfi_workload_list *list, clfi_workload *workload, json_t *work, const void *one, size_t size)
{
    void *copy;
    if (!work)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "workload %s: its description: not enough memory", workload->id);
    const clf_status st = clfi_alloc(1, size, "workload", &copy);
    if (st != CLF_OK) {
        json_decref(work);
        return st;
    }
    memcpy(copy, one, size);
    workload->suite = "ops";
    workload->work = work;
    workload->parameters = copy;
    return clfi_workload_list_add(list, workload);
}

clf_status clfi_op_workloads(clfi_workload_list *list, bool quick)
{
    CLF_TRY(clfi_gemm_workloads(list, quick));
    CLF_TRY(clfi_einsum_workloads(list, quick));
    CLF_TRY(clfi_softmax_workloads(list, quick));
    CLF_TRY(clfi_norm_workloads(list, quick));
    return clfi_attention_workloads(list, quick);
}
