/* SPDX-License-Identifier: MIT */
/* Finds the directory of a real model for tests that need one. */
#ifndef CLF_TEST_MODEL_H
#define CLF_TEST_MODEL_H

/* The directory of all-MiniLM-L6-v2: CLF_MODEL_DIR, else the place in the user's cache where quickstart puts it. If that place is
 * missing, the program exits with 77 (skipped). Borrowed. */
const char *test_model_directory(void);

#endif
