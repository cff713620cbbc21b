#include "report/page/page_assets.h"

/* PAGE_CHARTS is the bundle that scripts/charts makes. */
#define ASSET(name, path)                                                                          \
	__asm__(".pushsection .rodata\n.global " #name "\n" #name ":\n.incbin \"" path             \
		"\"\n.byte 0\n.popsection\n")

ASSET(page_css, "src/report/page/page.css");
ASSET(page_js, "src/report/page/page.js");
ASSET(page_charts, PAGE_CHARTS);
