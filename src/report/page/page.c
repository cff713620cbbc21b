#include "report/page/page.h"

#include "base/arena.h"
#include "base/embed.h"
#include "base/text.h"
#include "report/run/json_text.h"
#include "report/run/svg.h"

#include <string.h>

/* The files that a page is made of, as texts; PAGE_CHARTS is the bundle that scripts/charts makes. */
extern const char page_css[], page_js[], page_charts[];
EMBED(page_css, "src/report/page/page.css");
EMBED(page_js, "src/report/page/page.js");
EMBED(page_charts, PAGE_CHARTS);

bool page_has_charts(void)
{
	return page_charts[0];
}

/* JSON inside a page: no "<" may begin markup. */
static void add_data(struct text *page, const char *json)
{
	for (const char *at = json; *at; at++)
		if (*at == '<')
			text_add(page, "\\u003c");
		else
			text_bytes(page, at, 1);
}

const char *page_html(struct arena *arena, json_t *data)
{
	struct text page = text_open(arena);
	const char *title = json_string_value(json_object_get(data, "title"));
	text_add(&page,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
		"<title>");
	xml_text(&page, title ? title : "lxplore");
	text_add(&page, "</title>\n<style>\n");
	text_bytes(&page, page_css, strlen(page_css));
	text_add(&page, "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n"
			"<script type=\"application/json\" id=\"data\">");
	add_data(&page, json_dump(arena, data, JSON_COMPACT));
	text_add(&page, "</script>\n<script>\n");
	text_bytes(&page, page_charts, strlen(page_charts));
	text_add(&page, "</script>\n<script>\n");
	text_bytes(&page, page_js, strlen(page_js));
	text_add(&page, "</script>\n</body>\n</html>\n");
	return text_read(&page);
}
