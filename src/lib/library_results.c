#include "base/text.h"
#include "lib/library.h"
#include "report/run/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct library_table library_read_table(struct arena *arena, const char *text)
{
	struct library_table out = {.columns = csv_cells(arena, &text)};
	for (; *text; out.row_count++) {
		struct csv_cells row = csv_cells(arena, &text);
		for (size_t c = 0; c < row.count; c++)
			*array_add(arena, &out.cells) = row.at[c];
	}
	return out;
}

const char *lxplore_message(const struct lxplore *run)
{
	const char *failure = library_failure();
	return failure ? failure : run->write_message ? run->write_message : run->message;
}

const char *lxplore_output(const struct lxplore *run)
{
	return run->output;
}

size_t lxplore_complaints(const struct lxplore *run)
{
	return run->complaint_count;
}

const struct lxplore_complaint *lxplore_complaint(const struct lxplore *run, size_t i)
{
	return i < run->complaint_count ? &run->complaints[i] : NULL;
}

size_t lxplore_points(const struct lxplore *run)
{
	return run->points.row_count;
}

size_t lxplore_columns(const struct lxplore *run)
{
	return run->points.columns.count;
}

const char *lxplore_column(const struct lxplore *run, size_t i)
{
	return i < run->points.columns.count ? run->points.columns.at[i] : NULL;
}

const char *lxplore_cell(const struct lxplore *run, size_t point, const char *column)
{
	const struct library_table *points = &run->points;
	for (size_t c = 0; c < points->columns.count && point < points->row_count; c++)
		if (text_equal(points->columns.at[c], column))
			return points->cells.at[point * points->columns.count + c];
	return NULL;
}

double lxplore_number(const struct lxplore *run, size_t point, const char *column)
{
	const char *text = lxplore_cell(run, point, column);
	char *end = NULL;
	double value = text ? strtod(text, &end) : 0;
	return text && *text && !*end ? value : (double)NAN;
}

const char *lxplore_plan(const struct lxplore *run, size_t point)
{
	const char *name = lxplore_cell(run, point, "plan");
	if (!name)
		return NULL;
	for (size_t i = 0; i < lxplore_files(run); i++)
		if (text_equal(lxplore_file_name(run, i), name))
			return lxplore_file_text(run, i);
	return "";
}

size_t lxplore_files(const struct lxplore *run)
{
	return run->files ? folder_count(run->files) : 0;
}

const char *lxplore_file_name(const struct lxplore *run, size_t i)
{
	const char *text;
	return i < lxplore_files(run) ? folder_file(run->files, i, &text) : NULL;
}

const char *lxplore_file_text(const struct lxplore *run, size_t i)
{
	const char *text;
	if (i >= lxplore_files(run))
		return NULL;
	folder_file(run->files, i, &text);
	return text;
}
