#include "tests/support/csv.h"

#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

#include "tests/test.h"

const char *csv_cell(struct arena *arena, const char *table, int row, const char *column)
{
	const char *head = table, *line = table;
	for (int i = 0; i < row && line; i++)
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
	if (!line || !*line)
		return NULL;
	for (; *head != '\n'; head++, line++) {
		bool quoted = *line == '"';
		line += quoted;
		size_t name = strcspn(head, ",\n"), value = strcspn(line, quoted ? "\"" : ",\n");
		if (name == strlen(column) && strncmp(head, column, name) == 0)
			return arena_format(arena, "%.*s", (int)value, line);
		head += name;
		line += value + quoted;
		if (*head == '\n')
			break;
	}
	fail_msg("no column '%s'", column);
	return NULL;
}
