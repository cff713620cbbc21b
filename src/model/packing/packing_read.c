#include "model/packing/packing_read.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

struct spelling {
	const char *name;
	enum packing_column column;
};

/* The first of a column's names is ours. */
static const struct spelling spellings[] = {
	{"id", COLUMN_ID},
	{"buffer", COLUMN_ID},
	{"buffer_id", COLUMN_ID},
	{"lower", COLUMN_LOWER},
	{"start", COLUMN_LOWER},
	{"begin", COLUMN_LOWER},
	{"upper", COLUMN_UPPER},
	{"end", COLUMN_UPPER},
	{"size", COLUMN_SIZE},
	{"alignment", COLUMN_ALIGNMENT},
	{"in_place_parents", COLUMN_PARENTS},
	{"in_place", COLUMN_IN_PLACE},
	{"weight", COLUMN_WEIGHT},
	{"uses", COLUMN_USES},
	{"address", COLUMN_ADDRESS},
	{"hint", COLUMN_HINT},
	{"gaps", COLUMN_GAPS},
	{"offset", COLUMN_OFFSET},
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

static const char *column_name(enum packing_column column)
{
	size_t s = 0;
	while (spellings[s].column != column)
		s++;
	return spellings[s].name;
}

const char *packing_cell(const struct packing_reading *r, enum packing_column column)
{
	if (r->at[column] < 0)
		return NULL;
	const char *text = r->table.cells[r->at[column]].text;
	return *text ? text : NULL;
}

struct span packing_cell_span(const struct packing_reading *r, enum packing_column column)
{
	return table_span(&r->table, (size_t)r->at[column]);
}

bool packing_next_word(const char **list, char *word)
{
	const char *at = *list + strspn(*list, " \t;");
	size_t length = strcspn(at, ";");
	*list = at + length;
	while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t'))
		length--;
	memcpy(word, at, length);
	word[length] = '\0';
	return length > 0;
}

/* --- the header */

static void complain_column(struct packing_reading *r, const char *name, struct span span)
{
	const char *names[SPELLINGS + 1] = {NULL};
	for (size_t s = 0; s < SPELLINGS; s++)
		names[s] = spellings[s].name;
	const char *near = suggest(name, names);
	if (near)
		diag_error(r->reading.diag, span, "unknown column '%s'; did you mean '%s'?", name,
			near);
	else
		diag_error(r->reading.diag, span,
			"unknown column '%s'; columns are id, lower, upper, size, alignment, "
			"in_place_parents, in_place, weight, uses, address, hint, offset",
			name);
}

static void read_header(struct packing_reading *r)
{
	struct diag *diag = r->reading.diag;
	for (int c = 0; c < COLUMN_COUNT; c++)
		r->at[c] = -1;
	for (size_t i = 0; i < r->table.column_count; i++) {
		const char *name = r->table.cells[i].text;
		size_t s = 0;
		while (s < SPELLINGS && !text_equal(spellings[s].name, name))
			s++;
		if (s == SPELLINGS) {
			complain_column(r, name, table_span(&r->table, i));
			continue;
		}
		enum packing_column column = spellings[s].column;
		if (r->at[column] >= 0) {
			diag_error(diag, table_span(&r->table, i), "column '%s' is given twice",
				column_name(column));
			diag_note(diag, packing_cell_span(r, column), "first given here");
			continue;
		}
		r->at[column] = (int)i;
		r->end_is_last |= text_equal(name, "end");
	}
	for (int c = COLUMN_ID; c <= COLUMN_SIZE; c++)
		if (r->at[c] < 0)
			diag_error(diag, table_row_span(&r->table),
				"column '%s' is missing; a row has at least id, lower, upper, size",
				column_name((enum packing_column)c));
	if (r->at[COLUMN_IN_PLACE] >= 0 && r->at[COLUMN_PARENTS] < 0)
		diag_error(diag, packing_cell_span(r, COLUMN_IN_PLACE),
			"column 'in_place' is about 'in_place_parents', which is missing");
}

static struct packing_row row_at_hand(const struct packing_reading *r)
{
	const struct table *table = &r->table;
	struct packing_row row = {
		table->row_from, table->row_to, table->row_to, table->row_to, table->line};
	if (r->at[COLUMN_OFFSET] >= 0) {
		row.offset_from = table->cells[r->at[COLUMN_OFFSET]].from;
		row.offset_to = table->cells[r->at[COLUMN_OFFSET]].to;
	}
	return row;
}

/* --- numbers */

static const char *what(const struct packing_reading *r, enum packing_column column)
{
	return arena_format(r->reading.arena, "'%s' of buffer '%s'", column_name(column),
		r->table.cells[r->at[COLUMN_ID]].text);
}

/* Digits alone need no arithmetic: most cells of a long table. */
static bool read_digits(const char *text, int64_t least, int64_t most, int64_t *out)
{
	const char *at = text;
	int64_t n;
	if ((text[0] == '0' && text[1]) || !scan_integer(&at, &n) || *at || n < least || n > most)
		return false;
	*out = n;
	return true;
}

/* A cell that must have a number in [least, most]; a size may have a unit. */
static bool read_cell(struct packing_reading *r, enum packing_column column, bool size,
	int64_t least, int64_t most, int64_t *out)
{
	const char *text = r->table.cells[r->at[column]].text;
	if (read_digits(text, least, most, out))
		return true;
	struct span span = packing_cell_span(r, column);
	if (text[strspn(text, "0123456789")] == '\0' && strlen(text) > 18) {
		diag_error(r->reading.diag, span, "%s is too large: %s; it can be at most %" PRId64,
			what(r, column), text, most);
		return false;
	}
	const struct node *node =
		node_scalar(r->reading.arena, arena_text(r->reading.arena, text), span);
	return size ? node_size(&r->reading, node, what(r, column), least, most, out)
		    : node_integer(&r->reading, node, what(r, column), least, most, out);
}

/* The same for one that may be empty or missing. */
static bool read_optional(struct packing_reading *r, enum packing_column column, bool size,
	int64_t least, int64_t most, int64_t *out)
{
	return packing_cell(r, column) && read_cell(r, column, size, least, most, out);
}

/* --- a row */

static bool read_id(struct packing_reading *r, struct buffer *buffer)
{
	struct diag *diag = r->reading.diag;
	const char *id = packing_cell(r, COLUMN_ID);
	if (!id) {
		diag_error(diag, table_row_span(&r->table), "the id of a buffer is empty");
		return false;
	}
	int before = names_find(&r->ids, id);
	if (before >= 0) {
		struct packing_row row = r->rows.at[before + 1];
		diag_error(diag, packing_cell_span(r, COLUMN_ID), "buffer '%s' is given twice", id);
		if (!diag_full(diag))
			diag_note(diag, source_span(r->table.source, row.from, row.to),
				"first given here");
		return false;
	}
	buffer->name = arena_text(r->reading.arena, id);
	names_add(r->reading.arena, &r->ids, buffer->name, (int)r->buffers.count - 1);
	return true;
}

static void read_life(struct packing_reading *r, struct buffer *buffer)
{
	const int64_t most = INT64_C(1) << 61;
	bool good = read_cell(r, COLUMN_LOWER, false, -most, most, &buffer->start);
	good &= read_cell(r, COLUMN_UPPER, false, -most, most, &buffer->end);
	buffer->end += r->end_is_last;
	if (good && buffer->start >= buffer->end)
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_UPPER),
			"the life of buffer '%s' is empty: it ends at %" PRId64
			" and begins at %" PRId64,
			buffer->name, buffer->end, buffer->start);
}

/* What solvers add up must not overflow. */
static void add_totals(struct packing_reading *r, const struct buffer *buffer)
{
	int64_t most = PACKING_BYTES_MOST, before = r->bytes;
	int64_t times = buffer->use_count ? (int64_t)buffer->use_count : 1, weight;
	r->bytes += number_min(most, buffer->size) + (buffer->alignment ? buffer->alignment : 1);
	r->bytes = number_min(r->bytes, 2 * most - 1);
	if (before <= most && r->bytes > most)
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_SIZE),
			"the sizes and alignments up to here add up to more than %" PRId64 " bytes",
			most);
	if (!number_mul(buffer->weight, times, &weight) ||
		!number_add(r->weights, weight, &r->weights))
		diag_error(r->reading.diag,
			packing_cell_span(
				r, r->at[COLUMN_WEIGHT] < 0 ? COLUMN_SIZE : COLUMN_WEIGHT),
			"the weights up to here add up to more than %" PRId64, INT64_MAX);
}

static void read_address(struct packing_reading *r, struct buffer *buffer)
{
	buffer->is_fixed =
		read_optional(r, COLUMN_ADDRESS, true, 0, PACKING_BYTES_MOST, &buffer->address);
	int64_t alignment = buffer->alignment ? buffer->alignment : r->alignment;
	if (buffer->is_fixed && buffer->address % alignment)
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_ADDRESS),
			"buffer '%s' has to lie at %" PRId64
			", which is no multiple of its alignment %" PRId64,
			buffer->name, buffer->address, alignment);
}

/* minimalloc's two columns that are of little use here: a hint may be -1, and gaps are refused. */
static void read_hint_and_gaps(struct packing_reading *r, struct buffer *buffer)
{
	int64_t hint = -1;
	read_optional(r, COLUMN_HINT, true, -1, PACKING_BYTES_MOST, &hint);
	buffer->has_hint = hint >= 0;
	buffer->hint = hint;
	if (packing_cell(r, COLUMN_GAPS))
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_GAPS),
			"gaps in a life are not read; give its pieces rows of their own, or 'uses'");
}

static void read_in_place(struct packing_reading *r, struct buffer *buffer)
{
	static const char *const words[] = {"may", "must", NULL};
	const char *parents = packing_cell(r, COLUMN_PARENTS);
	const char *word = packing_cell(r, COLUMN_IN_PLACE);
	buffer->must_take_over = word && text_equal(word, words[1]);
	if (word && !buffer->must_take_over && !text_equal(word, words[0]))
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_IN_PLACE),
			"'in_place' of buffer '%s' is '%s'; it can be may, must", buffer->name,
			word);
	if (buffer->must_take_over && !parents)
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_IN_PLACE),
			"buffer '%s' must take a place, but 'in_place_parents' names none",
			buffer->name);
	if (!parents)
		return;
	*array_add(r->reading.arena, &r->families) = (struct family){(int)r->buffers.count - 1,
		arena_text(r->reading.arena, parents), packing_cell_span(r, COLUMN_PARENTS)};
}

static void read_row(struct packing_reading *r)
{
	struct buffer *buffer = array_add(r->reading.arena, &r->buffers);
	*array_add(r->reading.arena, &r->rows) = row_at_hand(r);
	if (!read_id(r, buffer))
		return;
	read_life(r, buffer);
	read_cell(r, COLUMN_SIZE, true, 0, PACKING_BYTES_MOST, &buffer->size);
	read_optional(r, COLUMN_ALIGNMENT, true, 1, PACKING_BYTES_MOST, &buffer->alignment);
	buffer->weight = buffer->size;
	read_optional(r, COLUMN_WEIGHT, false, 0, INT64_MAX, &buffer->weight);
	read_address(r, buffer);
	read_hint_and_gaps(r, buffer);
	read_in_place(r, buffer);
	if (packing_cell(r, COLUMN_USES))
		packing_read_uses(r, buffer);
	add_totals(r, buffer);
	if (r->offsets)
		packing_read_offset(r, (int)r->buffers.count - 1);
}

bool packing_read(struct arena *arena, const struct source *source, int64_t alignment, bool offsets,
	struct diag *diag, struct packing_file *out)
{
	struct packing_reading r = {
		.reading = {.arena = arena, .diag = diag}, .alignment = alignment};
	size_t errors = diag_errors(diag);
	if (!table_open(&r.table, arena, source, diag))
		return false;
	read_header(&r);
	if (diag_errors(diag) != errors)
		return false;
	r.offsets = offsets && r.at[COLUMN_OFFSET] >= 0;
	*array_add(arena, &r.rows) = row_at_hand(&r);
	while (table_next(&r.table))
		read_row(&r);
	if (diag_errors(diag) == errors)
		packing_find_parents(&r);
	if (diag_errors(diag) != errors)
		return false;
	*out = (struct packing_file){.source = source,
		.packing = {.alignment = alignment,
			.count = r.buffers.count,
			.buffers = r.buffers.at},
		.has_offsets = r.at[COLUMN_OFFSET] >= 0,
		.rows = r.rows.at};
	if (r.offsets)
		out->placement = packing_placed(&r, &out->packing);
	return true;
}

struct span packing_span(const struct packing_file *file, size_t buffer)
{
	const struct packing_row *row = &file->rows[buffer + 1];
	return source_span(file->source, row->from, row->to);
}
