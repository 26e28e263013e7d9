/* SPDX-License-Identifier: MIT */
/* Chooses the engine of large products on a device that was not tuned, by a short measurement when a model is first loaded. */
#ifndef CLFI_OP_FIRST_USE_H
#define CLFI_OP_FIRST_USE_H

#include "runtime/context.h"

/* To be called before a weight [n, k] of floats is packed. Its large products may go to CLBlast only because nothing near was measured.
 * Then both CLBlast and `tiled` run such a product. The choice becomes a rule of the context and of its file of tuned choices (op/tuned.h),
 * which later contexts read. Both run it with 256 rows, and where that does not fill the device, so that `tiled` has its small results
 * there, with the fewest rows that do: a rule each. Timing takes about a tenth of a second a rule, or on slow devices what three runs of
 * each take; kernels that have to be built come on top. Results are compared with each other and, in places, with double precision: a wrong
 * engine loses, and so does one that the driver refuses. A part of the columns stands for all of a weight larger than 2^24 elements. Does
 * nothing on CPUs, with a forced engine, in a rehearsal, and without a file of tuned choices (--no-tuned). Never fails: where nothing can
 * be decided, the log says why and the table's choice stays. */
void clfi_first_use(clf_context *context, int64_t n, int64_t k);

#endif
