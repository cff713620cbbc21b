#include "report/run/csv_rows.h"

#include "base/array.h"
#include "base/text.h"

#include <string.h>

struct cells array(const char *);

/* The cells of a line, RFC 4180 but for line ends in quotes, which our tables have not. */
static struct cells split(struct arena *arena, const char *line, const char *end)
{
	struct cells cells = {0};
	while (line <= end) {
		struct text cell = text_open(arena);
		bool quoted = line < end && *line == '"';
		for (line += quoted; line < end && (quoted || *line != ','); line++) {
			if (quoted && *line == '"' && (line + 1 == end || line[1] != '"')) {
				quoted = false;
				continue;
			}
			line += quoted && *line == '"';
			text_bytes(&cell, line, 1);
		}
		*array_add(arena, &cells) = text_read(&cell);
		line++;
	}
	return cells;
}

static json_t *cell_value(const char *cell)
{
	json_t *number =
		strchr("-0123456789", *cell) ? json_loads(cell, JSON_DECODE_ANY, NULL) : NULL;
	return number ? number : *cell ? json_string(cell) : json_null();
}

json_t *csv_rows(struct arena *arena, const char *csv)
{
	json_t *rows = json_array();
	struct cells names = {0};
	for (const char *line = csv, *end; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		struct cells cells = split(arena, line, end);
		json_t *row = json_object();
		for (size_t i = 0; i < names.count && i < cells.count; i++)
			json_object_set_new(row, names.at[i], cell_value(cells.at[i]));
		if (names.count)
			json_array_append_new(rows, row);
		else {
			json_decref(row);
			names = cells;
		}
	}
	return rows;
}
