/* SPDX-License-Identifier: MIT */
/* A small encoder-decoder for tests, its batches in both layouts, and their comparison with the reference. */
#ifndef CLF_TEST_SMALL_TRANSFORMER_H
#define CLF_TEST_SMALL_TRANSFORMER_H

#include "support/named_tensors.h"
#include "workload/reference_transformer.h"

/* Number of sequences, source and target lengths, width, heads, hidden width, vocabularies. */
enum { N = 3, S = 7, T = 5, C = 32, H = 4, F = 48, SOURCE_V = 11, TARGET_V = 13 };

extern const clf_transformer_config base_config; /* pre-norm, relu, two layers on both sides */

/* Allowed error of rows of order 1 to 4 after the roundings of up to six layers. */
extern const double transformer_bound;

/* Lists all weights that the configuration needs by labml's names; list_free releases them. */
void list_labml(clf_context *context, const clf_transformer_config *config, const clfi_ref_weights *weights, tensor_list *list);

/* sequence: a tensor of values [N,length,columns] (columns 1 for ids) in the order of the layout. output: the same, with every byte
 * UNWRITTEN (operand.h). The caller destroys them. */
clf_tensor *sequence(clf_context *context, clf_layout order, clf_dtype dtype, int64_t length, int64_t columns, const void *values);
clf_tensor *output(clf_context *context, clf_layout order, int64_t length, int64_t columns);

clf_tensor *make_u8(clf_context *context, int rank, const int64_t *dim, const uint8_t *values);

/* Checks that each element is within transformer_bound of want [N,length,columns]; `id` names the case. */
void check_sequence(const char *id, const clf_tensor *tensor, clf_layout order, int64_t length, int64_t columns, const double *want);

#endif
