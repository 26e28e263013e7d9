/* SPDX-License-Identifier: MIT */
/* Chains: launches that follow one another, in a single launch (cl/cpu/chain.cl). A driver takes some microseconds for a launch, which is
 * as long as a small kernel runs; the step of a language model is hundreds of them. Here a launch of as many work-groups as the device runs
 * at once goes through all of them, and its groups meet after each.
 *
 *     clfi_chain_begin(chain);
 *     clf_status st = what_launches_kernels(context);
 *     st = clfi_chain_end(chain, st);
 *
 * Numbers are those of single launches: the kernels are the same. Only on devices that run the groups of a launch at once and leave buffers
 * where they are (caps.runs_chains), and for some tens of launches at least, unless the environment variable CLF_CHAIN is 1. Kernels that
 * are no parts of chains, transfers and whatever else enters the queue between begin and end end the chain early: all is enqueued launch by
 * launch, in the same order, now and from then on. */
#ifndef CLFI_RUNTIME_CHAIN_H
#define CLFI_RUNTIME_CHAIN_H

#include "runtime/context.h"

typedef struct clf_chain clf_chain;

/* *out NULL where the device runs no chains, or CLF_CHAIN is 0. OUT_OF_MEMORY. */
clf_status clfi_chain_create(clf_context *context, clf_chain **out);
void clfi_chain_destroy(clf_chain *chain); /* waits for the queue; NULL is a no-op */

/* From here on launches of the context are noted; a chain that is NULL notes none. Chains of one context do not nest. */
void clfi_chain_begin(clf_chain *chain);

/* Enqueues what was noted, unless st is an error: then it is forgotten. Returns st, or what went wrong here. */
clf_status clfi_chain_end(clf_chain *chain, clf_status st);

#endif
