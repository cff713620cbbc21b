#ifndef SUPPORT_FOLDER_H
#define SUPPORT_FOLDER_H

#include "tests/support/shell.h"

/*
 * Memory and a folder of a test of the program, new for each test; the folder is under the system's
 * temporary one and holds the files of the test.
 */
extern struct arena *arena;
extern const char *folder;

/* For cmocka_unit_test_setup_teardown. */
int folder_set_up(void **state);
int folder_tear_down(void **state);

const char *run_folder_path(const char *name);

/* Writes a file; its path. */
const char *folder_put(const char *name, const char *text);

bool folder_has(const char *name);

/* Runs a command in the folder, where $program is the program under test. */
struct ended folder_run(const char *command);

/* The text of a file; the test fails if there is none. */
const char *folder_text(const char *name);

#endif
