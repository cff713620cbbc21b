#include "base/arena.h"
#include "base/scan.h"
#include "model/broadcast.h"
#include "spec/reader.h"

#include <ctype.h>
#include <string.h>

/* The line, and how far it is read. */
struct parse {
	const struct reading *reading;
	const struct node *node;
	const char *at;
};

static bool refuse(struct parse *parse, const char *wanted)
{
	while (*parse->at == ' ')
		parse->at++;
	size_t from = (size_t)(parse->at - parse->node->text), length = 0;
	while (parse->at[length] && !strchr(" ,:<>()", parse->at[length]))
		length++;
	if (!length && *parse->at)
		length = 1;
	diag_error(parse->reading->diag, node_part(parse->node, from, from + length),
		"%s is wanted here; the line is 'tbroadcast %%group, %%src : (!pto.group<4, "
		"1x1x1x128x32xf32>, !pto.memref<1x1x1x128x32xf32>)'",
		wanted);
	return false;
}

static bool expect(struct parse *parse, const char *text)
{
	return scan_text(&parse->at, text) ||
	       refuse(parse, arena_format(parse->reading->arena, "'%s'", text));
}

/* %name */
static bool read_operand(struct parse *parse, const char **out)
{
	if (!scan_text(&parse->at, "%"))
		return refuse(parse, "an operand such as '%group'");
	size_t length = 0;
	while (isalnum((unsigned char)parse->at[length]) || parse->at[length] == '_')
		length++;
	if (!length)
		return refuse(parse, "the operand's name");
	*out = arena_format(parse->reading->arena, "%.*s", (int)length, parse->at);
	parse->at += length;
	return true;
}

/* 1x1x1x128x32xf32 */
static bool read_shape(struct parse *parse, struct assembly_type *type)
{
	int64_t extents[BROADCAST_RANK];
	int count = 0;
	while (isdigit((unsigned char)parse->at[strspn(parse->at, " ")])) {
		if (count == BROADCAST_RANK)
			return refuse(parse, "an element type after five extents");
		if (!scan_integer(&parse->at, &extents[count++]))
			return refuse(parse, "a smaller extent");
		if (*parse->at != 'x')
			return refuse(parse, "'x' and what follows it");
		parse->at++;
	}
	size_t length = strcspn(parse->at, " ,>");
	if (!count || !element_parse(parse->at, length, &type->element))
		return refuse(parse, count ? "an element type such as 'f32'" : "an extent");
	parse->at += length;
	for (int d = 0; d < BROADCAST_RANK; d++) {
		int given = d - (BROADCAST_RANK - count);
		type->shape[d] = given < 0 ? 1 : extents[given];
	}
	type->given = true;
	return true;
}

static bool read_types(struct parse *parse, struct assembly *out)
{
	if (!expect(parse, "(") || !expect(parse, "!pto.group<"))
		return false;
	if (!scan_text(&parse->at, "...")) {
		if (!scan_integer(&parse->at, &out->ranks))
			return refuse(parse, "the number of ranks");
		if (!expect(parse, ",") || !read_shape(parse, &out->destination))
			return false;
	}
	if (!expect(parse, ">") || !expect(parse, ",") || !expect(parse, "!pto.memref<"))
		return false;
	if (!scan_text(&parse->at, "...") && !read_shape(parse, &out->tensor))
		return false;
	return expect(parse, ">") && expect(parse, ")");
}

bool broadcast_parse(const struct reading *reading, const struct node *text, struct assembly *out)
{
	struct parse parse = {reading, text, text->text};
	*out = (struct assembly){0};
	if (!expect(&parse, "tbroadcast") || !read_operand(&parse, &out->group) ||
		!expect(&parse, ",") || !read_operand(&parse, &out->source) ||
		!expect(&parse, ":") || !read_types(&parse, out))
		return false;
	return scan_end(&parse.at) || refuse(&parse, "the end of the line");
}
