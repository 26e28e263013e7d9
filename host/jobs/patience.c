/* SPDX-License-Identifier: MIT */
/* Time limits of the program for its own processes and for clients. */
#include "jobs/patience.h"

const cli_limits cli_patience = {
    .open = 5, .move = 30, .stalled = 2, .told = 60, .lost = 1800, .listing = 15, .idle = 60, .listing_of_ranks = 60};
