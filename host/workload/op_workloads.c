/* SPDX-License-Identifier: MIT */
/* Lists the suite "ops": the workloads of every op, in the order of their tables. */
#include "workload/op_workloads.h"

#include "base/status.h"

clf_status clfi_op_workloads(clfi_workload_list *list, bool quick)
{
    CLF_TRY(clfi_gemm_workloads(list, quick));
    CLF_TRY(clfi_einsum_workloads(list, quick));
    CLF_TRY(clfi_softmax_workloads(list, quick));
    CLF_TRY(clfi_norm_workloads(list, quick));
    CLF_TRY(clfi_attention_workloads(list, quick));
    return clfi_multi_head_attention_workloads(list, quick);
}
