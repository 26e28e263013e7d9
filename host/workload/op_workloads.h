/* SPDX-License-Identifier: MIT */
/* Lists the workloads of the suite "ops", one function per op. Each appends its workloads to the list; `quick`: only a few small ones. */
#ifndef CLFI_WORKLOAD_OP_WORKLOADS_H
#define CLFI_WORKLOAD_OP_WORKLOADS_H

#include "workload/workload.h"

clf_status clfi_gemm_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_einsum_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_softmax_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_norm_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_attention_workloads(clfi_workload_list *list, bool quick);
clf_status clfi_multi_head_attention_workloads(clfi_workload_list *list, bool quick);

/* Cases of the same ops for the self-test: sizes that no tile divides. */
clf_status clfi_gemm_small_workloads(clfi_workload_list *list);
clf_status clfi_einsum_small_workloads(clfi_workload_list *list);
clf_status clfi_softmax_small_workloads(clfi_workload_list *list);
clf_status clfi_norm_small_workloads(clfi_workload_list *list);
clf_status clfi_attention_small_workloads(clfi_workload_list *list);
clf_status clfi_multi_head_attention_small_workloads(clfi_workload_list *list);

#endif
