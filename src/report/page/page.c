#include "report/page/page.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "report/packing/place_report.h"
#include "report/run/json.h"
#include "report/run/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two axes with ticks, titles and a legend, in SVG 1.1: what drawings over two numbers share. */
enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 420 };

struct plot_axis {
	const char *title;
	double from, to; /* as drawn: of a logarithmic axis exponents of ten */
	bool logarithmic;
};

struct plot {
	struct text *text;
	struct plot_axis x, y;
};

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

enum { WIDTH = PLOT_WIDTH, HEIGHT = PLOT_HEIGHT, LEFT = 78, RIGHT = 18, TOP = 58, BOTTOM = 48 };

/* Ends that are this many times apart ask for a logarithmic axis. */
static const double far_apart = 10;

/* The ends of an axis from the least and the most value; far apart and above 0, it is logarithmic. */
static void plot_span(struct plot_axis *axis, double least, double most)
{
	axis->logarithmic = least > 0 && most / least > far_apart;
	if (axis->logarithmic) {
		least = log10(least);
		most = log10(most);
	}
	double rim = most > least ? (most - least) / 20 : fabs(most) / 10 + 1e-9;
	axis->from = least - rim;
	axis->to = most + rim;
	if (!axis->logarithmic && least >= 0 && axis->from < 0)
		axis->from = 0;
}

/* From 0 to 1 along the axis. */
static double plot_axis_along(const struct plot_axis *axis, double value)
{
	double at = axis->logarithmic ? log10(value) : value;
	return (at - axis->from) / (axis->to - axis->from);
}

/* Pixels of values. */
static double plot_x(const struct plot *plot, double value)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * plot_axis_along(&plot->x, value);
}

static double plot_y(const struct plot *plot, double value)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * plot_axis_along(&plot->y, value);
}

static void add_tick(struct plot *plot, bool across, double value)
{
	double at = across ? plot_x(plot, value) : plot_y(plot, value);
	const char *label = amount_number(plot->text->arena, value);
	if (across) {
		text_add(plot->text,
			"<line class=\"g\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>", at, TOP,
			at, HEIGHT - BOTTOM);
		svg_label(plot->text, at, HEIGHT - BOTTOM + 15,
			" class=\"s\" text-anchor=\"middle\"", label);
	} else {
		text_add(plot->text,
			"<line class=\"g\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"/>", LEFT, at,
			WIDTH - RIGHT, at);
		svg_label(plot->text, LEFT - 6, at + 4, " class=\"s\" text-anchor=\"end\"", label);
	}
}

/* At 1, 2 and 5 times powers of ten, or at these alone, as there is room. */
static void add_powers(struct plot *plot, const struct plot_axis *axis, bool across)
{
	static const int factors[] = {1, 2, 5};
	int count = axis->to - axis->from > 3 ? 1 : 3;
	int step = 1 + (int)(axis->to - axis->from) / 10;
	for (int power = (int)floor(axis->from); power <= (int)axis->to; power += step)
		for (int i = 0; i < count; i++) {
			double value = factors[i] * pow(10, power);
			if (plot_axis_along(axis, value) >= 0 && plot_axis_along(axis, value) <= 1)
				add_tick(plot, across, value);
		}
}

static void add_axis(struct plot *plot, const struct plot_axis *axis, bool across)
{
	if (axis->logarithmic) {
		add_powers(plot, axis, across);
		return;
	}
	double rough = (axis->to - axis->from) / 7, step = pow(10, floor(log10(rough)));
	step *= rough > 5 * step ? 10 : rough > 2 * step ? 5 : rough > step ? 2 : 1;
	for (double i = ceil(axis->from / step); i * step <= axis->to; i++)
		add_tick(plot, across, i * step);
}

/* The head of the file, the title, both axes. */
static void plot_open(struct plot *plot, const char *title)
{
	svg_head(plot->text, WIDTH, HEIGHT, "");
	svg_label(plot->text, LEFT, 22, " font-size=\"13\"", title);
	add_axis(plot, &plot->x, true);
	add_axis(plot, &plot->y, false);
	svg_label(plot->text, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, " text-anchor=\"middle\"",
		plot->x.title);
	text_add(plot->text, "<g transform=\"rotate(-90)\">");
	svg_label(plot->text, -(TOP + HEIGHT - BOTTOM) / 2.0, 16, " text-anchor=\"middle\"",
		plot->y.title);
	text_add(plot->text, "</g>\n");
}

/* An entry of the legend from pixel x on; where the next one begins, x itself if it does not fit and is left out. */
static double plot_legend(struct plot *plot, double x, const char *name, const char *colour)
{
	enum { LETTER = 6, SQUARE = 16, BETWEEN = 14 };
	size_t letters = utf8_count(name, strlen(name));
	if (x + SQUARE + (double)(LETTER * letters) > WIDTH - LEFT - RIGHT)
		return x;
	text_add(plot->text, "<rect x=\"%.2f\" y=\"34\" width=\"10\" height=\"10\" fill=\"%s\"/>",
		LEFT + x, colour);
	svg_label(plot->text, LEFT + x + SQUARE, 43, " class=\"s\"", name);
	return x + SQUARE + BETWEEN + (double)(LETTER * letters);
}

enum { SMALL = 500, COLOURS_MOST = 8 };

/* The column drawn along an axis. */
struct chart_axis {
	const char *name; /* the column */
	const struct amount_unit *unit;
};

struct dot {
	double x, y;
	const char *point;
	size_t value; /* of the column that colours are for; SIZE_MAX: it has none */
	bool beaten;
};

/* The values of the column that colours are for, NULL: one colour for all. */
struct palette {
	const char *column;
	size_t count;
	const json_t **values;
	bool numbers;
};

struct chart {
	struct text text;
	struct chart_axis x, y;
	struct plot plot;
	struct palette palette;
	bool apart; /* rows of several frontiers, which do not beat each other */
	struct array(struct dot) dots;
};

/* --- columns and values */

static bool read_number(const json_t *row, const char *name, double *out)
{
	const json_t *cell = json_object_get(row, name);
	*out = json_number_value(cell);
	return json_is_number(cell) && isfinite(*out);
}

/* True if the column has a number, and more than one of them where `varies`. */
static bool has_numbers(const json_t *rows, const char *name, bool varies)
{
	double first = 0, value;
	bool any = false;
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row) {
		if (!read_number(row, name, &value))
			continue;
		if (any && value != first)
			return true;
		first = any ? first : value;
		any = true;
	}
	return any && !varies;
}

static const char *find_column(const json_t *rows, const char *const *names, const char *other)
{
	for (int varies = 1; varies >= 0; varies--)
		for (size_t i = 0; names[i]; i++)
			if ((!other || strcmp(names[i], other) != 0) &&
				has_numbers(rows, names[i], varies))
				return names[i];
	return NULL;
}

/* The unit of a column, and its title: "latency (us)". */
static const struct amount_unit *page_unit(const json_t *rows, const char *name)
{
	double value, most = 0;
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
		if (read_number(row, name, &value))
			most = fmax(most, fabs(value));
	return amount_unit(amount_of_column(name), most);
}

static const char *title_of(struct arena *arena, const struct chart_axis *of)
{
	return amount_title(arena, of->name, of->unit);
}

/* --- colours */

static int page_by_value(const void *left, const void *right)
{
	const json_t *a = *(const json_t *const *)left, *b = *(const json_t *const *)right;
	if (json_is_number(a) && json_is_number(b)) {
		double x = json_number_value(a), y = json_number_value(b);
		return (x > y) - (x < y);
	}
	if (json_is_number(a) != json_is_number(b))
		return json_is_number(a) ? -1 : 1;
	return strcmp(json_string_value(a), json_string_value(b));
}

/* The values of a column, each once, in order. */
static struct palette open_palette(struct arena *arena, const json_t *rows, const char *column)
{
	struct palette palette = {.column = column};
	struct array(const json_t *) values = {0};
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row) {
		const json_t *cell = json_object_get(row, column);
		if (json_is_number(cell) || json_is_string(cell))
			*array_add(arena, &values) = cell;
	}
	if (values.count)
		qsort(values.at, values.count, sizeof *values.at, page_by_value);
	palette.values = values.at;
	for (i = 0; i < values.count; i++)
		if (!palette.count || page_by_value(&values.at[palette.count - 1], &values.at[i]))
			palette.values[palette.count++] = values.at[i];
	palette.numbers = palette.count && json_is_number(palette.values[palette.count - 1]);
	return palette;
}

static size_t palette_index(const struct palette *palette, const json_t *row)
{
	const json_t *cell = palette->column ? json_object_get(row, palette->column) : NULL;
	for (size_t i = 0; cell && i < palette->count; i++)
		if (json_equal(cell, palette->values[i]))
			return i;
	return SIZE_MAX;
}

/* Numbers from dark to bright, words apart from one another; of many words the last ones share grey. */
static const char *colour_of(struct arena *arena, const struct palette *palette, size_t value)
{
	static const int ends[][3] = {
		{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 187, 37}};
	if (!palette->column)
		return svg_colour(0);
	if (value == SIZE_MAX || (!palette->numbers && value >= COLOURS_MOST - 1))
		return svg_colour(COLOURS_MOST - 1);
	if (!palette->numbers)
		return svg_colour((int64_t)value);
	double at = palette->count > 1 ? 4.0 * (double)value / (double)(palette->count - 1) : 0;
	int from = at < 3.999 ? (int)at : 3, rgb[3];
	for (int k = 0; k < 3; k++)
		rgb[k] = (int)lround(
			ends[from][k] + (ends[from + 1][k] - ends[from][k]) * (at - from));
	return arena_format(arena, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static const char *page_value_text(struct arena *arena, const json_t *value)
{
	return json_is_number(value) ? amount_number(arena, json_number_value(value))
				     : json_string_value(value);
}

/* The title, then the values: of many numbers five, of many words those with a colour of their own. */
static void add_legend(struct chart *chart)
{
	const struct palette *palette = &chart->palette;
	struct arena *arena = chart->text.arena;
	size_t count = palette->count, shown = count;
	if (!palette->column)
		return;
	if (count > COLOURS_MOST)
		shown = palette->numbers ? 5 : COLOURS_MOST - 1;
	double x = plot_legend(&chart->plot, 0, palette->column, "none");
	for (size_t i = 0; i < shown; i++) {
		size_t at = palette->numbers && shown < count ? i * (count - 1) / (shown - 1) : i;
		x = plot_legend(&chart->plot, x, page_value_text(arena, palette->values[at]),
			colour_of(arena, palette, at));
	}
	if (!palette->numbers && shown < count)
		plot_legend(&chart->plot, x, arena_format(arena, "%zu others", count - shown),
			svg_colour(COLOURS_MOST - 1));
}

/* --- dots */

static int by_place(const void *left, const void *right)
{
	const struct dot *a = left, *b = right;
	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return (a->y > b->y) - (a->y < b->y);
}

/* Marks dominated dots: another dot is at least as good in both columns and better in one.  Dots are sorted. */
static void find_beaten(struct chart *chart)
{
	const struct dot *best = NULL;
	for (size_t i = 0; i < chart->dots.count; i++) {
		struct dot *dot = &chart->dots.at[i];
		dot->beaten = best && dot->y >= best->y && (dot->x > best->x || dot->y > best->y);
		best = !best || dot->y < best->y ? dot : best;
	}
}

static void chart_collect(struct chart *chart, const json_t *rows)
{
	struct arena *arena = chart->text.arena;
	double x, y, least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row) {
		if (!read_number(row, chart->x.name, &x) || !read_number(row, chart->y.name, &y))
			continue;
		struct dot dot = {x / chart->x.unit->size, y / chart->y.unit->size,
			arena_format(arena, "%zu", i + 1), palette_index(&chart->palette, row),
			false};
		*array_add(arena, &chart->dots) = dot;
		least[0] = fmin(least[0], dot.x);
		least[1] = fmin(least[1], dot.y);
		most[0] = fmax(most[0], dot.x);
		most[1] = fmax(most[1], dot.y);
	}
	plot_span(&chart->plot.x, least[0], most[0]);
	plot_span(&chart->plot.y, least[1], most[1]);
	if (chart->dots.count)
		qsort(chart->dots.at, chart->dots.count, sizeof *chart->dots.at, by_place);
	if (!chart->apart)
		find_beaten(chart);
}

/* Stairs through the best: between two of them nothing better was found. */
static void add_stairs(struct chart *chart)
{
	const char *sign = "M";
	double last = 0;
	text_add(&chart->text, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1\" d=\"",
		svg_colour(1));
	for (size_t i = 0; i < chart->dots.count; i++) {
		const struct dot *dot = &chart->dots.at[i];
		if (dot->beaten)
			continue;
		double x = plot_x(&chart->plot, dot->x), y = plot_y(&chart->plot, dot->y);
		if (*sign == 'L')
			text_add(&chart->text, "L%.2f %.2f", x, last);
		text_add(&chart->text, "%s%.2f %.2f", sign, x, y);
		sign = "L";
		last = y;
	}
	text_add(&chart->text, "\"/>\n");
}

static void add_dots(struct chart *chart)
{
	bool small = chart->dots.count > SMALL;
	const char *x = chart->plot.x.title, *y = chart->plot.y.title;
	for (size_t i = 0; i < chart->dots.count; i++) {
		const struct dot *dot = &chart->dots.at[i];
		text_add(&chart->text,
			"<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%s\" fill=\"%s\" fill-opacity=\"%s\"><title>",
			plot_x(&chart->plot, dot->x), plot_y(&chart->plot, dot->y),
			small ? "1.5" : "4",
			colour_of(chart->text.arena, &chart->palette, dot->value),
			dot->beaten ? "0.3" : "0.9");
		xml_text(&chart->text,
			arena_format(chart->text.arena, "%s: %s %s, %s %s", dot->point, x,
				amount_number(chart->text.arena, dot->x), y,
				amount_number(chart->text.arena, dot->y)));
		text_add(&chart->text, "</title></circle>\n");
	}
}

const char *frontier_svg(struct arena *arena, const char *title, const json_t *rows, const char *x,
	const char *y, const char *colour)
{
	static const char *const across[] = {"latency_ns", "latency_cycles", "rounds", NULL};
	static const char *const upwards[] = {"energy_pj", "hbm_bytes", "pes", "buffer_bytes",
		"edp", "lx_peak_bytes", "cores", "registers", "link_bytes", NULL};
	struct chart chart = {.text = text_open(arena)};
	x = x ? x : find_column(rows, across, y);
	y = y || !x ? y : find_column(rows, upwards, x);
	if (!x || !y || !has_numbers(rows, x, false) || !has_numbers(rows, y, false))
		return NULL;
	chart.x = (struct chart_axis){x, page_unit(rows, x)};
	chart.y = (struct chart_axis){y, page_unit(rows, y)};
	chart.plot = (struct plot){.text = &chart.text,
		.x.title = title_of(arena, &chart.x),
		.y.title = title_of(arena, &chart.y)};
	if (colour)
		chart.palette = open_palette(arena, rows, colour);
	chart.apart = json_object_get(json_array_get(rows, 0), "frontier") != NULL;
	chart_collect(&chart, rows);
	plot_open(&chart.plot, title);
	add_legend(&chart);
	if (!chart.apart)
		add_stairs(&chart);
	add_dots(&chart);
	text_add(&chart.text, "</svg>\n");
	return text_read(&chart.text);
}

struct roof_op {
	const char *name;
	double intensity, rate; /* operations per byte of HBM, and per ns */
	bool inside;            /* it moves no byte of HBM */
};

struct roofs {
	struct arena *arena;
	double peak, slope; /* operations and bytes of HBM per ns */
	struct array(struct roof_op) ops;
};

static double real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Bytes of HBM of all operands. */
static double op_hbm_bytes(const json_t *op)
{
	double bytes = 0;
	size_t i;
	json_t *operand;
	json_array_foreach(json_object_get(op, "operands"), i, operand) {
		const json_t *moved = json_object_get(operand, "bytes");
		bytes += real_of(moved, "hbm_read") + real_of(moved, "hbm_write");
	}
	return bytes;
}

static void collect_roofline(struct roofs *roofs, const json_t *score, double ns)
{
	size_t i;
	json_t *op;
	json_array_foreach(json_object_get(score, "ops"), i, op) {
		double computes = real_of(op, "computes"), bytes = op_hbm_bytes(op);
		double cycles = real_of(json_object_get(op, "phase"), "cycles");
		if (computes > 0 && cycles > 0)
			*array_add(roofs->arena, &roofs->ops) = (struct roof_op){
				json_string_value(json_object_get(op, "op")),
				computes / fmax(bytes, 1), computes / (cycles * ns), bytes <= 0};
	}
}

/* Ops without a byte of HBM stand at the right end. */
static void roofs_span(struct roofs *roofs, struct plot *plot)
{
	double ridge = roofs->peak / roofs->slope;
	double x[2] = {ridge / 10, ridge * 10}, y[2] = {roofs->peak / 10, roofs->peak};
	for (size_t i = 0; i < roofs->ops.count; i++) {
		if (!roofs->ops.at[i].inside) {
			x[0] = fmin(x[0], roofs->ops.at[i].intensity);
			x[1] = fmax(x[1], roofs->ops.at[i].intensity);
		}
		y[0] = fmin(y[0], roofs->ops.at[i].rate);
		y[1] = fmax(y[1], roofs->ops.at[i].rate);
	}
	for (size_t i = 0; i < roofs->ops.count; i++)
		if (roofs->ops.at[i].inside)
			roofs->ops.at[i].intensity = x[1];
	plot_span(&plot->x, x[0], x[1]);
	plot_span(&plot->y, fmin(y[0], roofs->slope * x[0]), y[1] * 1.5);
}

static void add_roof(struct plot *plot, const struct roofs *roofs)
{
	double ridge = roofs->peak / roofs->slope;
	double first = pow(10, plot->x.from), last = pow(10, plot->x.to);
	first = fmax(first, pow(10, plot->y.from) / roofs->slope);
	text_add(plot->text,
		"<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" "
		"d=\"M%.2f %.2fL%.2f %.2fL%.2f %.2f\"/>\n",
		svg_colour(1), plot_x(plot, first), plot_y(plot, roofs->slope * first),
		plot_x(plot, ridge), plot_y(plot, roofs->peak), plot_x(plot, last),
		plot_y(plot, roofs->peak));
}

/* Rectangles of written names, in pixels. */
struct written {
	double x, y, wide;
};
struct all_written array(struct written);

/* The name to the left of a dot in the right half, else to its right; left out where another one is. */
static void add_name(
	struct plot *plot, double x, double y, const char *name, struct all_written *written)
{
	enum { LETTER = 6, APART = 8, TALL = 11 };
	double wide = (double)(LETTER * utf8_count(name, strlen(name)));
	bool before = x > PLOT_WIDTH / 2.0;
	struct written own = {before ? x - APART - wide : x + APART, y, wide};
	for (size_t i = 0; i < written->count; i++) {
		const struct written *other = &written->at[i];
		if (fabs(own.y - other->y) < TALL && own.x < other->x + other->wide &&
			other->x < own.x + wide)
			return;
	}
	*array_add(plot->text->arena, written) = own;
	svg_label(plot->text, before ? x - APART : x + APART, y + 4,
		before ? " class=\"s\" text-anchor=\"end\"" : " class=\"s\"", name);
}

static void plot_add_ops(struct plot *plot, const struct roofs *roofs)
{
	struct all_written written = {0};
	for (size_t i = 0; i < roofs->ops.count; i++) {
		const struct roof_op *op = &roofs->ops.at[i];
		double x = plot_x(plot, op->intensity), y = plot_y(plot, op->rate);
		text_add(plot->text,
			"<circle cx=\"%.2f\" cy=\"%.2f\" r=\"5\" fill=\"%s\" "
			"fill-opacity=\"0.8\"><title>",
			x, y, svg_colour((int64_t)i));
		xml_text(plot->text,
			arena_format(roofs->arena, "%s: %s operations/ns, %s", op->name,
				amount_number(roofs->arena, op->rate),
				op->inside ? "no byte of HBM"
					   : arena_format(roofs->arena, "%s operations/byte",
						     amount_number(roofs->arena, op->intensity))));
		text_add(plot->text, "</title></circle>\n");
		add_name(plot, x, y, op->name, &written);
	}
}

const char *roofline_svg(struct arena *arena, const char *title, const json_t *details)
{
	const json_t *machine = json_object_get(details, "machine");
	const json_t *score = json_object_get(details, "score");
	struct roofs roofs = {.arena = arena,
		.peak = real_of(machine, "computes_per_ns"),
		.slope = real_of(machine, "hbm_bytes_per_ns")};
	struct text text = text_open(arena);
	struct plot plot = {.text = &text,
		.x.title = "operations per byte of HBM",
		.y.title = "operations per ns"};
	if (roofs.peak > 0 && roofs.slope > 0)
		collect_roofline(
			&roofs, score, real_of(score, "latency_ns") / real_of(score, "cycles"));
	if (!roofs.ops.count)
		return NULL;
	roofs_span(&roofs, &plot);
	plot_open(&plot, title);
	add_roof(&plot, &roofs);
	plot_add_ops(&plot, &roofs);
	text_add(&text, "</svg>\n");
	return text_read(&text);
}

/* The stays of tensors in LX, as buffers that were placed. */
struct lx_stays {
	struct arena *arena;
	struct array(struct buffer) buffers;
	struct array(int64_t) addresses;
	struct array(int) parents;
	struct array(const char *) places; /* names of those whose places they take, or NULL */
	int64_t last;                      /* step that any of them ends before */
};

static int64_t number_of(const json_t *stay, const char *key)
{
	return json_integer_value(json_object_get(stay, key));
}

static void lx_stays_add_stay(struct lx_stays *stays, const char *name, const json_t *stay)
{
	const char *place = json_string_value(json_object_get(stay, "place"));
	if (!place || !text_equal(place, "LX") || !json_object_get(stay, "address"))
		return;
	*array_add(stays->arena, &stays->buffers) = (struct buffer){.name = name,
		.start = number_of(stay, "from"),
		.end = number_of(stay, "to"),
		.size = number_of(stay, "bytes_per_core")};
	*array_add(stays->arena, &stays->addresses) = number_of(stay, "address");
	*array_add(stays->arena, &stays->parents) = -1;
	*array_add(stays->arena, &stays->places) =
		json_string_value(json_object_get(stay, "in_place_of"));
	stays->last = number_max(stays->last, number_of(stay, "to"));
}

static struct lx_stays collect_lx(struct arena *arena, json_t *tensors)
{
	struct lx_stays stays = {.arena = arena};
	const char *name;
	json_t *stay;
	json_object_foreach(tensors, name, stay)
		lx_stays_add_stay(&stays, name, stay);
	return stays;
}

/* The stay whose place each takes: of the tensor's that it names, the one that ends as it begins. */
static void lx_stays_find_parents(struct lx_stays *stays)
{
	for (size_t i = 0; i < stays->buffers.count; i++)
		for (size_t k = 0; stays->places.at[i] && k < stays->buffers.count; k++)
			if (k != i && text_equal(stays->places.at[i], stays->buffers.at[k].name) &&
				stays->buffers.at[k].end == stays->buffers.at[i].start + 1)
				stays->parents.at[i] = (int)k;
}

/* NULL where they do not fit the stays. */
static const char *const *page_steps(struct arena *arena, const json_t *ops, int64_t last)
{
	size_t count = json_array_size(ops);
	const char **names = arena_array(arena, const char *, count);
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_object_get(json_array_get(ops, i), "op"));
		names[i] = name ? name : "";
	}
	return last <= (int64_t)count ? names : NULL;
}

const char *lx_svg(struct arena *arena, const char *title, const json_t *details)
{
	const json_t *score = json_object_get(details, "score");
	struct lx_stays stays = collect_lx(arena, json_object_get(score, "tensors"));
	int64_t capacity = json_integer_value(
		json_object_get(json_object_get(details, "machine"), "lx_bytes"));
	lx_stays_find_parents(&stays);
	struct packing packing = {
		.count = stays.buffers.count, .buffers = stays.buffers.at, .capacity = capacity};
	struct placement placement = {.count = stays.buffers.count,
		.addresses = stays.addresses.at,
		.in_place_of = stays.parents.at};
	struct place_report report = {.packing = &packing,
		.placement = &placement,
		.has_capacity = capacity > 0,
		.load = load_curve(arena, &packing, &placement)};
	struct place_svg_words words = {.title = title,
		.line = capacity > 0 ? arena_format(arena,
					       "bytes of LX on each core, by steps; dashed: the %s "
					       "that are for tensors",
					       amount_text(arena, AMOUNT_BYTES, (double)capacity))
				     : "bytes of LX on each core, by steps",
		.steps = page_steps(arena, json_object_get(score, "ops"), stays.last),
		.whole = true};
	return packing.count ? place_svg(arena, &report, &words) : NULL;
}

enum {
	NEST_LEFT = 20,
	NEST_TOP = 40,
	ROW = 22,    /* pixels of a level's line */
	INDENT = 12, /* of a box within another */
	LETTER = 7,  /* pixels of a letter */
	GAP = 14,    /* between nests */
};

struct part array(const char *);

struct nest_drawing {
	struct text text; /* the boxes; the head is known when all are drawn */
	double y, right;
};

/* "DRAM: M2 | GLB: N16 | keep GLB: A": the levels, outermost first, and the part about all of them. */
static struct part split_mapping(struct arena *arena, const char *mapping)
{
	struct part parts = {0};
	for (const char *from = mapping, *to;; from = to + 3) {
		to = strstr(from, " | ");
		*array_add(arena, &parts) =
			to ? arena_format(arena, "%.*s", (int)(to - from), from) : from;
		if (!to)
			return parts;
	}
}

static double page_width(const char *words)
{
	return (double)(LETTER * utf8_count(words, strlen(words)));
}

static bool is_level(const char *part)
{
	return strncmp(part, "keep ", 5) != 0;
}

/* A box for each level, the next one inside it; the innermost first decides how wide they are. */
static void add_boxes(struct nest_drawing *nests, const struct part *parts)
{
	int depth = 0, levels = 0;
	double wide = 0;
	for (size_t i = 0; i < parts->count; i++)
		levels += is_level(parts->at[i]);
	for (size_t i = 0; i < parts->count; i++)
		if (is_level(parts->at[i])) {
			double here = page_width(parts->at[i]) + 2 * INDENT + 2 * INDENT * depth++;
			wide = here > wide ? here : wide;
		}
	depth = 0;
	for (size_t i = 0; i < parts->count; i++) {
		const char *colon = strchr(parts->at[i], ':');
		if (!is_level(parts->at[i]))
			continue;
		double x = NEST_LEFT + INDENT * depth, y = nests->y + ROW * depth;
		text_add(&nests->text,
			"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
			"fill-opacity=\"0.1\" stroke=\"%s\"/>\n",
			x, y, wide - 2 * INDENT * depth,
			ROW + (ROW + INDENT / 2) * (levels - 1 - depth), svg_colour(depth),
			svg_colour(depth));
		text_add(&nests->text,
			"<text x=\"%.2f\" y=\"%.2f\" font-family=\"monospace\"><tspan "
			"font-weight=\"bold\">",
			x + 6, y + 15);
		const char *rest = colon ? colon : parts->at[i];
		xml_text(&nests->text, arena_format(nests->text.arena, "%.*s",
					       (int)(rest - parts->at[i]), parts->at[i]));
		text_add(&nests->text, "</tspan>");
		xml_text(&nests->text, rest);
		text_add(&nests->text, "</text>\n");
		depth++;
	}
	nests->right = NEST_LEFT + wide > nests->right ? NEST_LEFT + wide : nests->right;
	nests->y += levels ? ROW + (ROW + INDENT / 2) * (levels - 1) : 0;
}

static void nest_drawing_add_line(
	struct nest_drawing *nests, const char *attributes, const char *words)
{
	nests->y += ROW - 4;
	svg_label(&nests->text, NEST_LEFT, nests->y - 5, attributes, words);
	if (NEST_LEFT + page_width(words) > nests->right)
		nests->right = NEST_LEFT + page_width(words);
}

static void nest_drawing_add_nest(struct nest_drawing *nests, const char *name, const char *mapping)
{
	struct part parts = split_mapping(nests->text.arena, mapping);
	if (name)
		nest_drawing_add_line(nests, "", name);
	add_boxes(nests, &parts);
	for (size_t i = 0; i < parts.count; i++)
		if (!is_level(parts.at[i]))
			nest_drawing_add_line(nests, " class=\"s\"", parts.at[i]);
	nests->y += GAP;
}

/* The loops inside of an op's tiles, where it has any, else those of its tiles. */
static const char *mapping_of(const json_t *op)
{
	const char *inside =
		json_string_value(json_object_get(json_object_get(op, "nest"), "mapping"));
	return inside ? inside : json_string_value(json_object_get(op, "mapping"));
}

const char *nest_svg(struct arena *arena, const char *title, const json_t *details)
{
	const json_t *score = json_object_get(details, "score");
	const char *mapping = json_string_value(json_object_get(score, "mapping"));
	struct nest_drawing nests = {
		.text = text_open(arena), .y = NEST_TOP, .right = NEST_LEFT + page_width(title)};
	size_t i;
	json_t *op;
	if (mapping)
		nest_drawing_add_nest(&nests, NULL, mapping);
	json_array_foreach(json_object_get(score, "ops"), i, op)
		if (mapping_of(op))
			nest_drawing_add_nest(&nests, json_string_value(json_object_get(op, "op")),
				mapping_of(op));
	if (nests.y <= NEST_TOP)
		return NULL;
	struct text text = text_open(arena);
	svg_head(&text, (int)nests.right + NEST_LEFT, (int)nests.y, "");
	svg_label(&text, NEST_LEFT, 22, " font-size=\"13\"", title);
	text_bytes(&text, nests.text.at, nests.text.length);
	text_add(&text, "</svg>\n");
	return text_read(&text);
}
