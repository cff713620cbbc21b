#ifndef SUPPORT_PLACE_SHELL_H
#define SUPPORT_PLACE_SHELL_H

#include "tests/support/folder.h"

/* `lxplore place` in a test's folder. */
#define PLACE_HEAD "id,lower,upper,size\n"

/* As folder_set_up, with a table small.csv: four buffers that fit into 1024 bytes only if `c` lies in
 * the middle. */
int place_open(void **state);

/* `arguments` are the shell's. */
struct ended place_run(const char *arguments);

/* Ends with this status and says this, exactly; NULL: anything. */
void place_expect(const char *arguments, int status, const char *out, const char *err);

#endif
