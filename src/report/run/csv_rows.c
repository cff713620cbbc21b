#include "report/run/csv_rows.h"

#include "base/text.h"

#include <string.h>

struct csv_cells csv_cells(struct arena *arena, const char **line)
{
	struct csv_cells cells = {0};
	const char *at = *line, *end = at + strcspn(at, "\n");
	while (at <= end) {
		struct text cell = text_open(arena);
		bool quoted = at < end && *at == '"';
		at += quoted;
		if (quoted && at + 1 < end && *at == '\'' && strchr("=@+-\t\r", at[1]))
			at++;
		for (; at < end && (quoted || *at != ','); at++) {
			if (quoted && *at == '"' && (at + 1 == end || at[1] != '"')) {
				quoted = false;
				continue;
			}
			at += quoted && *at == '"';
			text_bytes(&cell, at, 1);
		}
		*array_add(arena, &cells) = text_read(&cell);
		at++;
	}
	*line = end + (*end == '\n');
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
	struct csv_cells names = csv_cells(arena, &csv);
	while (*csv) {
		struct csv_cells cells = csv_cells(arena, &csv);
		json_t *row = json_object();
		for (size_t i = 0; i < names.count && i < cells.count; i++)
			json_object_set_new(row, names.at[i], cell_value(cells.at[i]));
		json_array_append_new(rows, row);
	}
	return rows;
}
