#include "report/page/plot.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/run/svg.h"

#include <math.h>
#include <string.h>

enum { WIDTH = PLOT_WIDTH, HEIGHT = PLOT_HEIGHT, LEFT = 78, RIGHT = 18, TOP = 58, BOTTOM = 48 };

/* Ends that are this many times apart ask for a logarithmic axis. */
static const double far_apart = 10;

void plot_span(struct plot_axis *axis, double least, double most)
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
static double along(const struct plot_axis *axis, double value)
{
	double at = axis->logarithmic ? log10(value) : value;
	return (at - axis->from) / (axis->to - axis->from);
}

double plot_x(const struct plot *plot, double value)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * along(&plot->x, value);
}

double plot_y(const struct plot *plot, double value)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * along(&plot->y, value);
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
			if (along(axis, value) >= 0 && along(axis, value) <= 1)
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

void plot_open(struct plot *plot, const char *title)
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

double plot_legend(struct plot *plot, double x, const char *name, const char *colour)
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
