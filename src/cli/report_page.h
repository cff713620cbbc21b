#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include "base/diag.h"

/*
 * The page (report/page/page.h) of a results folder, or of a campaign's.  The specs that the run names are read again to
 * score and execute its plans; where they are gone or have changed since, the page says so and has no details.
 * NULL after complaining.
 */
struct arena;
const char *report_page(struct arena *arena, const char *folder, struct diag *diag);

#endif
