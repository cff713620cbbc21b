#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include <stdbool.h>

/* Two axes with ticks, titles and a legend, in SVG 1.1: what drawings over two numbers share. */
enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 420 };

struct plot_axis {
	const char *title;
	double from, to; /* as drawn: of a logarithmic axis exponents of ten */
	bool logarithmic;
};

struct text;
struct plot {
	struct text *text;
	struct plot_axis x, y;
};

/* The ends of an axis from the least and the most value; far apart and above 0, it is logarithmic. */
void plot_span(struct plot_axis *axis, double least, double most);

/* The head of the file, the title, both axes. */
void plot_open(struct plot *plot, const char *title);

/* Pixels of values. */
double plot_x(const struct plot *plot, double value);
double plot_y(const struct plot *plot, double value);

/* An entry of the legend from pixel x on; where the next one begins, x itself if it does not fit and is left out. */
double plot_legend(struct plot *plot, double x, const char *name, const char *colour);

#endif
