#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/page/drawings.h"
#include "report/page/plot.h"
#include "report/run/svg.h"

#include <math.h>
#include <string.h>

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
static double bytes_of(const json_t *op)
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

static void collect(struct roofs *roofs, const json_t *score, double ns)
{
	size_t i;
	json_t *op;
	json_array_foreach(json_object_get(score, "ops"), i, op) {
		double computes = real_of(op, "computes"), bytes = bytes_of(op);
		double cycles = real_of(json_object_get(op, "phase"), "cycles");
		if (computes > 0 && cycles > 0)
			*array_add(roofs->arena, &roofs->ops) = (struct roof_op){
				json_string_value(json_object_get(op, "op")),
				computes / fmax(bytes, 1), computes / (cycles * ns), bytes <= 0};
	}
}

/* Ops without a byte of HBM stand at the right end. */
static void span(struct roofs *roofs, struct plot *plot)
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

/* Where names were written, in pixels. */
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

static void add_ops(struct plot *plot, const struct roofs *roofs)
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
		collect(&roofs, score, real_of(score, "latency_ns") / real_of(score, "cycles"));
	if (!roofs.ops.count)
		return NULL;
	span(&roofs, &plot);
	plot_open(&plot, title);
	add_roof(&plot, &roofs);
	add_ops(&plot, &roofs);
	text_add(&text, "</svg>\n");
	return text_read(&text);
}
