#ifndef REPORT_PAGE_ASSETS_H
#define REPORT_PAGE_ASSETS_H

/* The files that a page is made of, as texts: put in by the assembler when the program is built. */
extern const char page_css[], page_js[], page_charts[];

#endif
