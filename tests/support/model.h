/* SPDX-License-Identifier: MIT */
/* The real model that tests use where the machine has it. */
#ifndef CLF_TEST_MODEL_H
#define CLF_TEST_MODEL_H

/* Directory of all-MiniLM-L6-v2: CLF_MODEL_DIR, else the user's cache where quickstart puts it. Without it the program exits with 77
 * (skipped). Borrowed. */
const char *test_model_directory(void);

#endif
