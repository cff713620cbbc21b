#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/page/drawings.h"
#include "report/run/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 420, LEFT = 78, RIGHT = 18, TOP = 40, BOTTOM = 48, SMALL = 500 };

/* Ends that are this many times apart ask for a logarithmic axis. */
static const double far_apart = 10;

struct axis {
	const char *name; /* the column */
	const struct amount_unit *unit;
	double from, to; /* as drawn: of a logarithmic axis exponents of ten */
	bool logarithmic;
};

struct dot {
	double x, y;
	const char *point;
	bool beaten;
};

struct chart {
	struct text text;
	struct axis x, y;
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

/* Whether the column has a number, and more than one of them where `varies`. */
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
static const struct amount_unit *unit_of(const json_t *rows, const char *name)
{
	double value, most = 0;
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
		if (read_number(row, name, &value))
			most = fmax(most, fabs(value));
	return amount_unit(amount_of_column(name), most);
}

static const char *axis_title(struct arena *arena, const struct axis *axis)
{
	return amount_title(arena, axis->name, axis->unit);
}

/* --- axes */

static void span_axis(struct axis *axis, double least, double most)
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
static double along(const struct axis *axis, double value)
{
	double at = axis->logarithmic ? log10(value) : value;
	return (at - axis->from) / (axis->to - axis->from);
}

static double x_of(const struct chart *chart, double value)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * along(&chart->x, value);
}

static double y_of(const struct chart *chart, double value)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * along(&chart->y, value);
}

static void add_tick(struct chart *chart, bool across, double value)
{
	double at = across ? x_of(chart, value) : y_of(chart, value);
	const char *label = amount_number(chart->text.arena, value);
	if (across) {
		text_add(&chart->text,
			"<line class=\"g\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>", at, TOP,
			at, HEIGHT - BOTTOM);
		svg_label(&chart->text, at, HEIGHT - BOTTOM + 15,
			" class=\"s\" text-anchor=\"middle\"", label);
	} else {
		text_add(&chart->text,
			"<line class=\"g\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"/>", LEFT, at,
			WIDTH - RIGHT, at);
		svg_label(
			&chart->text, LEFT - 6, at + 4, " class=\"s\" text-anchor=\"end\"", label);
	}
}

/* At 1, 2 and 5 times powers of ten, or at these alone, as there is room. */
static void add_powers(struct chart *chart, const struct axis *axis, bool across)
{
	static const int factors[] = {1, 2, 5};
	int count = axis->to - axis->from > 3 ? 1 : 3;
	int step = 1 + (int)(axis->to - axis->from) / 10;
	for (int power = (int)floor(axis->from); power <= (int)axis->to; power += step)
		for (int i = 0; i < count; i++) {
			double value = factors[i] * pow(10, power);
			if (along(axis, value) >= 0 && along(axis, value) <= 1)
				add_tick(chart, across, value);
		}
}

static void add_axis(struct chart *chart, const struct axis *axis, bool across)
{
	if (axis->logarithmic) {
		add_powers(chart, axis, across);
		return;
	}
	double rough = (axis->to - axis->from) / 7, step = pow(10, floor(log10(rough)));
	step *= rough > 5 * step ? 10 : rough > 2 * step ? 5 : rough > step ? 2 : 1;
	for (double i = ceil(axis->from / step); i * step <= axis->to; i++)
		add_tick(chart, across, i * step);
}

/* --- dots */

static int by_place(const void *left, const void *right)
{
	const struct dot *a = left, *b = right;
	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return (a->y > b->y) - (a->y < b->y);
}

/* Those that another dot is no worse than in both, and better in one; dots are sorted. */
static void find_beaten(struct chart *chart)
{
	const struct dot *best = NULL;
	for (size_t i = 0; i < chart->dots.count; i++) {
		struct dot *dot = &chart->dots.at[i];
		dot->beaten = best && dot->y >= best->y && (dot->x > best->x || dot->y > best->y);
		best = !best || dot->y < best->y ? dot : best;
	}
}

static void collect(struct chart *chart, const json_t *rows)
{
	struct arena *arena = chart->text.arena;
	double x, y, least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row) {
		if (!read_number(row, chart->x.name, &x) || !read_number(row, chart->y.name, &y))
			continue;
		struct dot dot = {x / chart->x.unit->size, y / chart->y.unit->size,
			arena_format(arena, "%zu", i + 1), false};
		*array_add(arena, &chart->dots) = dot;
		least[0] = fmin(least[0], dot.x);
		least[1] = fmin(least[1], dot.y);
		most[0] = fmax(most[0], dot.x);
		most[1] = fmax(most[1], dot.y);
	}
	span_axis(&chart->x, least[0], most[0]);
	span_axis(&chart->y, least[1], most[1]);
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
		double x = x_of(chart, dot->x), y = y_of(chart, dot->y);
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
	const char *x = axis_title(chart->text.arena, &chart->x);
	const char *y = axis_title(chart->text.arena, &chart->y);
	for (size_t i = 0; i < chart->dots.count; i++) {
		const struct dot *dot = &chart->dots.at[i];
		text_add(&chart->text,
			"<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%s\" fill=\"%s\" fill-opacity=\"%s\"><title>",
			x_of(chart, dot->x), y_of(chart, dot->y), small ? "1.5" : "4",
			svg_colour(0), dot->beaten ? "0.3" : "0.9");
		xml_text(&chart->text,
			arena_format(chart->text.arena, "%s: %s %s, %s %s", dot->point, x,
				amount_number(chart->text.arena, dot->x), y,
				amount_number(chart->text.arena, dot->y)));
		text_add(&chart->text, "</title></circle>\n");
	}
}

const char *frontier_svg(
	struct arena *arena, const char *title, const json_t *rows, const char *x, const char *y)
{
	static const char *const across[] = {"latency_ns", "latency_cycles", "rounds", NULL};
	static const char *const upwards[] = {"energy_pj", "hbm_bytes", "pes", "buffer_bytes",
		"edp", "lx_peak_bytes", "cores", "registers", "link_bytes", NULL};
	struct chart chart = {.text = text_open(arena)};
	x = x ? x : find_column(rows, across, y);
	y = y || !x ? y : find_column(rows, upwards, x);
	if (!x || !y || !has_numbers(rows, x, false) || !has_numbers(rows, y, false))
		return NULL;
	chart.x = (struct axis){.name = x, .unit = unit_of(rows, x)};
	chart.y = (struct axis){.name = y, .unit = unit_of(rows, y)};
	chart.apart = json_object_get(json_array_get(rows, 0), "frontier") != NULL;
	collect(&chart, rows);
	svg_head(&chart.text, WIDTH, HEIGHT, "");
	svg_label(&chart.text, LEFT, 22, " font-size=\"13\"", title);
	add_axis(&chart, &chart.x, true);
	add_axis(&chart, &chart.y, false);
	svg_label(&chart.text, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, " text-anchor=\"middle\"",
		axis_title(arena, &chart.x));
	text_add(&chart.text, "<g transform=\"rotate(-90)\">");
	svg_label(&chart.text, -(TOP + HEIGHT - BOTTOM) / 2.0, 16, " text-anchor=\"middle\"",
		axis_title(arena, &chart.y));
	text_add(&chart.text, "</g>\n");
	if (!chart.apart)
		add_stairs(&chart);
	add_dots(&chart);
	text_add(&chart.text, "</svg>\n");
	return text_read(&chart.text);
}
