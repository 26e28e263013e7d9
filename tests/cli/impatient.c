/* SPDX-License-Identifier: MIT */
/* In place of the program's patience, so that a test sees in seconds what would take half an hour. A device that has answered before is not
 * stalled: the texts of one that hangs are another's only when its process is ended. */
#include "jobs/patience.h"

const cli_limits cli_patience = {
    .open = 0.5, .move = 4, .stalled = 1000, .told = 1, .lost = 15, .listing = 15, .idle = 1, .listing_of_ranks = 5};
