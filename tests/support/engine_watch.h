/* SPDX-License-Identifier: MIT */
/* A program under test that CLF_ENGINE tells which engine to run must run it: else it ends with status 1, whatever its tests said. */
#ifndef CLF_TEST_ENGINE_WATCH_H
#define CLF_TEST_ENGINE_WATCH_H

#include "op/engines.h"

/* The entry for `op` in CLF_ENGINE up to its comma or end, NULL: there is none. */
const char *engine_forced_entry(const char *op);

/* Says that this program tests the engines of that op, though it may never come to choose one. */
void engine_watch(clf_op op);

#endif
