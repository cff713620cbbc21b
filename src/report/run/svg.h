#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "base/text.h"

#include <stdint.h>

/*
 * Parts of drawings in SVG 1.1: the head, texts, axes.  A drawing ends with "</svg>\n".
 */

/* The root with a white ground; `style` is CSS beside that of classes `g` (lines of a grid) and `s` (soft texts). */
void svg_head(struct text *text, int width, int height, const char *style);

/* What XML reads as this text; control characters, which XML has not, become '?'. */
void xml_text(struct text *text, const char *plain);

/* A text at a place, with attributes such as " class=\"s\"". */
void svg_label(struct text *text, double x, double y, const char *attributes, const char *plain);

/* The distance of ticks: 1, 2 or 5 times a power of ten, or a power of two; no more than `most` of them in `range`. */
int64_t svg_step(int64_t range, int most, bool binary);

/* A colour by number; the first eight are distinct to colour-blind readers. */
const char *svg_colour(int64_t number);

#endif
