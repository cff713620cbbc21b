#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/page/drawings.h"
#include "report/run/svg.h"

#include <string.h>

enum {
	LEFT = 20,
	TOP = 40,
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

/* "DRAM: M2 | GLB: N16 | keep GLB: A": the levels, outermost first, and what is said of all of them. */
static struct part split(struct arena *arena, const char *mapping)
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

static double width_of(const char *words)
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
			double here = width_of(parts->at[i]) + 2 * INDENT + 2 * INDENT * depth++;
			wide = here > wide ? here : wide;
		}
	depth = 0;
	for (size_t i = 0; i < parts->count; i++) {
		const char *colon = strchr(parts->at[i], ':');
		if (!is_level(parts->at[i]))
			continue;
		double x = LEFT + INDENT * depth, y = nests->y + ROW * depth;
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
	nests->right = LEFT + wide > nests->right ? LEFT + wide : nests->right;
	nests->y += levels ? ROW + (ROW + INDENT / 2) * (levels - 1) : 0;
}

static void add_line(struct nest_drawing *nests, const char *attributes, const char *words)
{
	nests->y += ROW - 4;
	svg_label(&nests->text, LEFT, nests->y - 5, attributes, words);
	if (LEFT + width_of(words) > nests->right)
		nests->right = LEFT + width_of(words);
}

static void add_nest(struct nest_drawing *nests, const char *name, const char *mapping)
{
	struct part parts = split(nests->text.arena, mapping);
	if (name)
		add_line(nests, "", name);
	add_boxes(nests, &parts);
	for (size_t i = 0; i < parts.count; i++)
		if (!is_level(parts.at[i]))
			add_line(nests, " class=\"s\"", parts.at[i]);
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
		.text = text_open(arena), .y = TOP, .right = LEFT + width_of(title)};
	size_t i;
	json_t *op;
	if (mapping)
		add_nest(&nests, NULL, mapping);
	json_array_foreach(json_object_get(score, "ops"), i, op)
		if (mapping_of(op))
			add_nest(&nests, json_string_value(json_object_get(op, "op")),
				mapping_of(op));
	if (nests.y <= TOP)
		return NULL;
	struct text text = text_open(arena);
	svg_head(&text, (int)nests.right + LEFT, (int)nests.y, "");
	svg_label(&text, LEFT, 22, " font-size=\"13\"", title);
	text_bytes(&text, nests.text.at, nests.text.length);
	text_add(&text, "</svg>\n");
	return text_read(&text);
}
