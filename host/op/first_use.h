/* SPDX-License-Identifier: MIT */
/* Chooses the engine of large products on a device that was not tuned, by a short measurement when a model is first loaded. */
#ifndef CLFI_OP_FIRST_USE_H
#define CLFI_OP_FIRST_USE_H

#include "runtime/context.h"

/* Call this before a weight [n, k] of floats is packed. It measures only if the table of engines would use CLBlast for the weight's large
 * products, clformer tune measured no product near them, and there is no rule of a first use for them. Then CLBlast and `tiled` run such a
 * product. The faster one becomes a rule of the context and of its file of tuned choices (op/tuned.h), which later contexts read.
 *
 * Both run the product with 256 rows. If that does not fill the device, a second rule is measured with the fewest rows that do. Timing
 * takes about a tenth of a second per rule, on slow devices two or three runs of each engine, and building their kernels comes on top.
 * Results are compared with each other and, at some elements, with double precision. An engine with wrong results loses, and so does one
 * that fails. If a weight has more than 2^24 elements, only a part of its columns is
 * measured.
 *
 * It does nothing on CPUs, with a forced engine, in a rehearsal, and without a file of tuned choices (--no-tuned). It never fails: if
 * nothing can be decided, the log says why and the table's choice stays. */
void clfi_first_use(clf_context *context, int64_t n, int64_t k);

#endif
