#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "report/page/drawings.h"
#include "report/run/svg.h"

#include <inttypes.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 420, LEFT = 78, RIGHT = 18, TOP = 40, BOTTOM = 48, LETTER = 6 };

struct drawn_stay {
	const char *name;
	int64_t from, to, address, size;
};

struct map {
	struct text text;
	struct array(struct drawn_stay) stays;
	int64_t steps, top;
};

static void add_stay(struct map *map, const char *name, const json_t *object)
{
	const char *place = json_string_value(json_object_get(object, "place"));
	if (!place || strcmp(place, "LX") != 0 || !json_object_get(object, "address"))
		return;
	struct drawn_stay stay = {name, json_integer_value(json_object_get(object, "from")),
		json_integer_value(json_object_get(object, "to")),
		json_integer_value(json_object_get(object, "address")),
		json_integer_value(json_object_get(object, "bytes_per_core"))};
	*array_add(map->text.arena, &map->stays) = stay;
	map->top = number_max(map->top, stay.address + stay.size);
	map->steps = number_max(map->steps, stay.to);
}

static void collect(struct map *map, json_t *tensors)
{
	const char *name;
	json_t *stays, *stay;
	size_t i;
	json_object_foreach(tensors, name, stays) {
		if (json_is_object(stays))
			add_stay(map, name, stays);
		json_array_foreach(stays, i, stay)
			add_stay(map, name, stay);
	}
}

static double x_of(const struct map *map, int64_t step)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (double)step / (double)map->steps;
}

static double y_of(const struct map *map, int64_t address)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (double)address / (double)map->top;
}

static void add_axes(struct map *map, const json_t *ops)
{
	int64_t step = svg_step(map->top, 10, true), stride = svg_step(map->steps, 12, false);
	bool room = map->steps <= 12;
	for (int64_t at = 0; at <= map->top; at += step) {
		text_add(&map->text,
			"<line class=\"g\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"/>", LEFT,
			y_of(map, at), WIDTH - RIGHT, y_of(map, at));
		svg_label(&map->text, LEFT - 6, y_of(map, at) + 4,
			" class=\"s\" text-anchor=\"end\"", svg_bytes(map->text.arena, at));
	}
	for (int64_t at = 0; at < map->steps; at += stride) {
		const char *op =
			json_string_value(json_object_get(json_array_get(ops, (size_t)at), "op"));
		double wide = x_of(map, 1) - x_of(map, 0);
		bool fits = room && op && (double)(LETTER * utf8_count(op, strlen(op))) < wide;
		svg_label(&map->text, (x_of(map, at) + x_of(map, at + 1)) / 2, HEIGHT - BOTTOM + 15,
			" class=\"s\" text-anchor=\"middle\"",
			fits ? op : arena_format(map->text.arena, "%" PRId64, at));
	}
	svg_label(&map->text, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, " text-anchor=\"middle\"",
		"step");
}

static void add_box(struct map *map, const struct drawn_stay *stay, int64_t number)
{
	double x = x_of(map, stay->from), wide = x_of(map, stay->to) - x;
	double y = y_of(map, stay->address + stay->size), tall = y_of(map, stay->address) - y;
	struct arena *arena = map->text.arena;
	const char *colour = svg_colour(number);
	text_add(&map->text,
		"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
		"fill-opacity=\"0.45\" stroke=\"%s\"><title>",
		x, y, wide, tall, colour, colour);
	xml_text(&map->text,
		arena_format(arena,
			"%s: %" PRId64 " bytes at %" PRId64 ", steps [%" PRId64 ", %" PRId64 ")",
			stay->name, stay->size, stay->address, stay->from, stay->to));
	text_add(&map->text, "</title></rect>\n");
	if (tall > 11 && wide > (double)(LETTER * (1 + utf8_count(stay->name, strlen(stay->name)))))
		svg_label(&map->text, x + 4, y + 11, "", stay->name);
}

const char *lx_svg(struct arena *arena, const char *title, const json_t *details)
{
	const json_t *score = json_object_get(details, "score"),
		     *ops = json_object_get(score, "ops");
	struct map map = {.text = text_open(arena), .steps = (int64_t)json_array_size(ops)};
	collect(&map, json_object_get(score, "tensors"));
	if (!map.stays.count || !map.top || !map.steps)
		return NULL;
	svg_head(&map.text, WIDTH, HEIGHT, "");
	svg_label(&map.text, LEFT, 22, " font-size=\"13\"",
		arena_format(arena, "%s: bytes of LX on each core", title));
	add_axes(&map, ops);
	for (size_t i = 0; i < map.stays.count; i++)
		add_box(&map, &map.stays.at[i], (int64_t)i);
	text_add(&map.text, "</svg>\n");
	return text_read(&map.text);
}
