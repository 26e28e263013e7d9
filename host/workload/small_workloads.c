/* SPDX-License-Identifier: MIT */
/* Lists the workloads of the self-test. */
#include "workload/op_workloads.h"
#include "workload/selftest.h"

clf_status clfi_small_workloads(clfi_workload_list *list)
{
    CLF_TRY(clfi_gemm_small_workloads(list));
    CLF_TRY(clfi_einsum_small_workloads(list));
    CLF_TRY(clfi_softmax_small_workloads(list));
    CLF_TRY(clfi_norm_small_workloads(list));
    CLF_TRY(clfi_attention_small_workloads(list));
    CLF_TRY(clfi_multi_head_attention_small_workloads(list));
    return clfi_selftest_workloads(list);
}
