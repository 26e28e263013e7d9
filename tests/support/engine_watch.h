/* SPDX-License-Identifier: MIT */
/* Checks that tests run the engines that CLF_ENGINE forces. If a tested op never ran its forced engine, the program ends with status 1,
 * even if all its tests passed. */
#ifndef CLF_TEST_ENGINE_WATCH_H
#define CLF_TEST_ENGINE_WATCH_H

#include "op/engines.h"

/* The entry for `op` in CLF_ENGINE, which ends at a comma or at the end of the text; NULL: there is none. */
const char *engine_forced_entry(const char *op);

/* Declares that this program tests the engines of that op. If CLF_ENGINE forces one, the program then fails unless that engine runs. */
void engine_watch(clf_op op);

#endif
