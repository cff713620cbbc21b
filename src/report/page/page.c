#include "report/page/page.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/run/json_text.h"
#include "report/run/svg.h"

#include <math.h>
#include <string.h>

/* The files that a page is made of, as texts; PAGE_CHARTS is the bundle that scripts/charts makes. */
extern const char page_css[], page_amount[], page_campaign[], page_js[], page_charts[];
EMBED(page_css, "src/report/page/page.css");
EMBED(page_amount, "src/report/page/amount.js");
EMBED(page_campaign, "src/report/page/campaign.js");
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

/* The units of amounts, as amount.js reads them. */
static json_t *make_units(void)
{
	static const char *const names[AMOUNT_COUNT] = {"number", "time", "energy", "bytes"};
	json_t *object = json_object();
	for (int k = 0; k < AMOUNT_COUNT; k++) {
		size_t count;
		const struct amount_unit *units = amount_units((enum amount)k, &count);
		json_t *list = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(
				list, json_pack("[s, f, o]", units[i].name, units[i].size,
					      isinf(units[i].below) ? json_null()
								    : json_real(units[i].below)));
		json_object_set_new(object, names[k], list);
	}
	return object;
}

const char *page_html(struct arena *arena, json_t *data)
{
	struct text page = text_open(arena);
	const char *title = json_string_value(json_object_get(data, "title"));
	json_object_set_new(data, "units", make_units());
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
	text_bytes(&page, page_amount, strlen(page_amount));
	text_bytes(&page, page_campaign, strlen(page_campaign));
	text_bytes(&page, page_js, strlen(page_js));
	text_add(&page, "</script>\n</body>\n</html>\n");
	return text_read(&page);
}
