#include "report/page/page_assets.h"

#include "base/embed.h"

/* PAGE_CHARTS is the bundle that scripts/charts makes. */
EMBED(page_css, "src/report/page/page.css");
EMBED(page_js, "src/report/page/page.js");
EMBED(page_charts, PAGE_CHARTS);
