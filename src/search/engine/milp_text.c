#include "base/text.h"
#include "search/engine/milp_rows.h"

#include <math.h>
#include <stdio.h>

/* Terms in a line: readers of the format have limits of a few hundred characters. */
enum { TERMS_IN_A_LINE = 6 };

static const char *name_of(const struct milp *milp, int c, char *room, size_t size)
{
	if (milp->columns.at[c].name)
		return milp->columns.at[c].name;
	snprintf(room, size, "c%d", c);
	return room;
}

static void write_term(
	struct text *text, const struct milp *milp, size_t i, int column, double factor)
{
	char room[16];
	if (i && i % TERMS_IN_A_LINE == 0)
		text_add(text, "\n  ");
	text_add(text, " %s %.17g %s", factor < 0 ? "-" : "+", fabs(factor),
		name_of(milp, column, room, sizeof room));
}

static void write_goal(struct text *text, const struct milp *milp)
{
	size_t count = 0;
	text_add(text, "Minimize\n goal:");
	for (size_t c = 0; c < milp->columns.count; c++)
		if (milp->columns.at[c].cost != 0)
			write_term(text, milp, count++, (int)c, milp->columns.at[c].cost);
	if (!count && milp->columns.count)
		write_term(text, milp, 0, 0, 0);
	text_add(text, "\n");
}

static void write_row(struct text *text, const struct milp *milp, size_t r, const char *relation,
	double value, const struct milp_packed *packed, int count)
{
	text_add(text, " r%zu%s:", r, relation[0] == '>' ? "_" : "");
	for (int k = 1; k <= count; k++)
		write_term(
			text, milp, (size_t)k - 1, packed->columns[k] - 1, packed->coefficients[k]);
	text_add(text, " %s %.17g\n", relation, value);
}

static void write_rows(struct text *text, const struct milp *milp, struct milp_packed *packed)
{
	text_add(text, "Subject To\n");
	for (size_t r = 0; r < milp->rows.count; r++) {
		const struct milp_row *row = &milp->rows.at[r];
		int count = milp_pack(milp, r, packed);
		if (!count) {
			packed->columns[1] = 1;
			packed->coefficients[1] = 0;
			count = 1;
		}
		if (row->least == row->most) {
			write_row(text, milp, r, "=", row->most, packed, count);
			continue;
		}
		if (!isinf(row->most))
			write_row(text, milp, r, "<=", row->most, packed, count);
		if (!isinf(row->least))
			write_row(text, milp, r, ">=", row->least, packed, count);
	}
}

static void write_bounds(struct text *text, const struct milp *milp)
{
	char room[16];
	text_add(text, "Bounds\n");
	for (size_t c = 0; c < milp->columns.count; c++) {
		const struct milp_column *column = &milp->columns.at[c];
		const char *name = name_of(milp, (int)c, room, sizeof room);
		if (column->least == column->most)
			text_add(text, " %s = %.17g\n", name, column->least);
		else if (isinf(column->least) && isinf(column->most))
			text_add(text, " %s free\n", name);
		else if (isinf(column->most))
			text_add(text, " %s >= %.17g\n", name, column->least);
		else if (isinf(column->least))
			text_add(text, " -inf <= %s <= %.17g\n", name, column->most);
		else
			text_add(
				text, " %.17g <= %s <= %.17g\n", column->least, name, column->most);
	}
}

const char *milp_text(const struct milp *milp, const char *comment, struct arena *arena)
{
	struct text text = text_open(arena);
	struct milp_packed packed = milp_open_packed(milp, arena);
	char room[16];
	text_add(&text, "%s", comment);
	write_goal(&text, milp);
	write_rows(&text, milp, &packed);
	write_bounds(&text, milp);
	text_add(&text, "General\n");
	for (size_t c = 0; c < milp->columns.count; c++)
		if (milp->columns.at[c].integer)
			text_add(&text, " %s\n", name_of(milp, (int)c, room, sizeof room));
	text_add(&text, "End\n");
	return text_read(&text);
}
