#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/page/drawings.h"
#include "report/page/plot.h"
#include "report/run/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 500, COLOURS_MOST = 8 };

/* What is drawn along an axis. */
struct quantity {
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
	struct quantity x, y;
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

static const char *title_of(struct arena *arena, const struct quantity *of)
{
	return amount_title(arena, of->name, of->unit);
}

/* --- colours */

static int by_value(const void *left, const void *right)
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
		qsort(values.at, values.count, sizeof *values.at, by_value);
	palette.values = values.at;
	for (i = 0; i < values.count; i++)
		if (!palette.count || by_value(&values.at[palette.count - 1], &values.at[i]))
			palette.values[palette.count++] = values.at[i];
	palette.numbers = palette.count && json_is_number(palette.values[palette.count - 1]);
	return palette;
}

static size_t value_of(const struct palette *palette, const json_t *row)
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

static const char *value_text(struct arena *arena, const json_t *value)
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
		x = plot_legend(&chart->plot, x, value_text(arena, palette->values[at]),
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
			arena_format(arena, "%zu", i + 1), value_of(&chart->palette, row), false};
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
	chart.x = (struct quantity){x, unit_of(rows, x)};
	chart.y = (struct quantity){y, unit_of(rows, y)};
	chart.plot = (struct plot){.text = &chart.text,
		.x.title = title_of(arena, &chart.x),
		.y.title = title_of(arena, &chart.y)};
	if (colour)
		chart.palette = open_palette(arena, rows, colour);
	chart.apart = json_object_get(json_array_get(rows, 0), "frontier") != NULL;
	collect(&chart, rows);
	plot_open(&chart.plot, title);
	add_legend(&chart);
	if (!chart.apart)
		add_stairs(&chart);
	add_dots(&chart);
	text_add(&chart.text, "</svg>\n");
	return text_read(&chart.text);
}
