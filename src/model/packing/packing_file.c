#include "model/packing/packing_file.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/reader.h"
#include "spec/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum packing_column {
	COLUMN_ID,
	COLUMN_LOWER,
	COLUMN_UPPER,
	COLUMN_SIZE,
	COLUMN_ALIGNMENT,
	COLUMN_PARENTS,
	COLUMN_IN_PLACE,
	COLUMN_WEIGHT,
	COLUMN_USES,
	COLUMN_ADDRESS,
	COLUMN_HINT,
	COLUMN_GAPS,
	COLUMN_OFFSET,
	COLUMN_COUNT
};

/* The parents of a buffer, to be found when all ids are known. */
struct family {
	int child;
	const char *text;
	struct span span;
};

/* The offset of a buffer, likewise. */
struct packing_reading {
	struct reading reading;
	struct table table;
	int at[COLUMN_COUNT]; /* the table's column; -1: it has none */
	bool end_is_last;     /* upper is the last step */
	int64_t alignment, bytes, weights;
	bool offsets;
	struct names ids;
	struct array(struct buffer) buffers;
	struct array(struct packing_row) rows;
	struct array(struct family) families;
	struct array(int64_t) addresses;
	struct array(struct residence_part) parts;
};

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

/* The cell of a column in the row at hand; NULL if it is empty or there is none. */
static const char *packing_cell_text(const struct packing_reading *r, enum packing_column column)
{
	if (r->at[column] < 0)
		return NULL;
	const char *text = r->table.cells[r->at[column]].text;
	return *text ? text : NULL;
}

static struct span cell_span(const struct packing_reading *r, enum packing_column column)
{
	return table_span(&r->table, (size_t)r->at[column]);
}

/* The next word of a list `a;b;c`; false at its end.  `word` has room for all of the list. */
static bool next_word(const char **list, char *word)
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

/* --- parents and uses */

static const char *suggest_id(const struct packing_reading *r, const char *id)
{
	const char **names = arena_array(r->reading.arena, const char *, r->buffers.count + 1);
	for (size_t i = 0; i < r->buffers.count; i++)
		names[i] = r->buffers.at[i].name;
	return suggest(id, names);
}

/* The parent by its id; -1 after complaining. */
static int find_parent(struct packing_reading *r, const struct family *family, const char *id)
{
	struct diag *diag = r->reading.diag;
	const char *child = r->buffers.at[family->child].name;
	int parent = names_find(&r->ids, id);
	if (parent >= 0 && parent != family->child)
		return parent;
	const char *near = parent < 0 && !diag_full(diag) ? suggest_id(r, id) : NULL;
	if (parent >= 0)
		diag_error(diag, family->span, "buffer '%s' cannot take its own place", child);
	else
		diag_error(diag, family->span,
			"buffer '%s' names a parent '%s' that is not a buffer%s", child, id,
			suggestion(r->reading.arena, near, ""));
	return -1;
}

/* True if the child can ever take its place; else a warning says why not. */
static bool is_possible(
	struct packing_reading *r, const struct family *family, const struct buffer *parent)
{
	const struct buffer *child = &r->buffers.at[family->child];
	if (parent->end != child->start + 1)
		diag_warning(r->reading.diag, family->span,
			"'%s' cannot take the place of '%s': it starts at %" PRId64
			", so its parent must end at %" PRId64 ", not %" PRId64,
			child->name, parent->name, child->start, child->start + 1, parent->end);
	else if (child->size > parent->size)
		diag_warning(r->reading.diag, family->span,
			"'%s' cannot take the place of '%s': %" PRId64
			" bytes are more than %" PRId64,
			child->name, parent->name, child->size, parent->size);
	else
		return true;
	return false;
}

static void find_family(struct packing_reading *r, const struct family *family, char *word)
{
	struct buffer *child = &r->buffers.at[family->child];
	size_t errors = diag_errors(r->reading.diag);
	struct array(int) parents = {0};
	for (const char *list = family->text; next_word(&list, word);) {
		int parent = find_parent(r, family, word);
		bool fresh = parent >= 0 && is_possible(r, family, &r->buffers.at[parent]);
		for (size_t k = 0; k < parents.count && fresh; k++)
			fresh = parents.at[k] != parent;
		if (fresh)
			*array_add(r->reading.arena, &parents) = parent;
	}
	child->parent_count = parents.count;
	child->parents = parents.at;
	if (child->must_take_over && !parents.count && diag_errors(r->reading.diag) == errors)
		diag_error(r->reading.diag, family->span,
			"buffer '%s' must take the place of a parent, and fits none of these",
			child->name);
}

/* From child to parent and back: which buffers the path goes through, and who is done with. */
enum { UNSEEN, ON_PATH, DONE };

struct descent {
	const struct buffer *buffers;
	unsigned char *seen;
	int *path;
	size_t *next; /* by buffer on the path: its parent to go to */
};

/* Finds a buffer on the path of its own child; -1. */
static int find_circle(struct descent *d, int from)
{
	size_t depth = 0;
	d->path[depth++] = from;
	while (depth) {
		int at = d->path[depth - 1];
		const struct buffer *buffer = &d->buffers[at];
		d->seen[at] = ON_PATH;
		if (d->next[at] == buffer->parent_count) {
			d->seen[at] = DONE;
			depth--;
			continue;
		}
		int parent = buffer->parents[d->next[at]++];
		if (d->seen[parent] == ON_PATH)
			return parent;
		if (d->seen[parent] == UNSEEN)
			d->path[depth++] = parent;
	}
	return -1;
}

/* Refuses a cycle of buffers of one step, each of which must take the place of the next. */
static void refuse_circle(struct packing_reading *r)
{
	size_t count = r->buffers.count;
	int circle = -1;
	struct descent descent = {.buffers = r->buffers.at,
		.seen = arena_array(r->reading.arena, unsigned char, count),
		.path = arena_array(r->reading.arena, int, count),
		.next = arena_array(r->reading.arena, size_t, count)};
	for (size_t i = 0; i < r->families.count && circle < 0; i++)
		if (descent.seen[r->families.at[i].child] == UNSEEN)
			circle = find_circle(&descent, r->families.at[i].child);
	for (size_t i = 0; i < r->families.count; i++)
		if (r->families.at[i].child == circle)
			diag_error(r->reading.diag, r->families.at[i].span,
				"buffer '%s' would take its own place through a chain of others",
				r->buffers.at[circle].name);
}

/* Finds the parents of all; complains. */
static void packing_find_parents(struct packing_reading *r)
{
	size_t longest = 0;
	for (size_t i = 0; i < r->families.count; i++) {
		size_t length = strlen(r->families.at[i].text);
		longest = length > longest ? length : longest;
	}
	char *word = arena_alloc(r->reading.arena, longest + 1);
	for (size_t i = 0; i < r->families.count; i++)
		find_family(r, &r->families.at[i], word);
	refuse_circle(r);
}

/* NULL, or what is wrong with a use that is written so. */
static const char *parse_use(const char *word, const struct buffer *buffer, struct use *out)
{
	char *end;
	if (word[0] != 'r' && word[0] != 'w')
		return "a use is 'r' or 'w' and a step, such as r5";
	long long at = strtoll(word + 1, &end, 10);
	if (end == word + 1 || *end)
		return "a use is 'r' or 'w' and a step, such as r5";
	if (at < buffer->start || at >= buffer->end)
		return "it is not inside its life";
	*out = (struct use){.at = at, .write = word[0] == 'w'};
	return NULL;
}

/* `w3;r5;r9` of the buffer; complains. */
static void read_uses(struct packing_reading *r, struct buffer *buffer)
{
	const char *list = packing_cell_text(r, COLUMN_USES), *why = NULL;
	char *word = arena_alloc(r->reading.arena, strlen(list) + 1);
	struct array(struct use) uses = {0};
	while (!why && next_word(&list, word)) {
		struct use use;
		why = parse_use(word, buffer, &use);
		if (!why && uses.count && uses.at[uses.count - 1].at >= use.at)
			why = "the use before it is not earlier";
		if (!why)
			*array_add(r->reading.arena, &uses) = use;
	}
	if (why)
		diag_error(r->reading.diag, cell_span(r, COLUMN_USES),
			"use '%s' of buffer '%s': %s", word, buffer->name, why);
	buffer->use_count = uses.count;
	buffer->uses = uses.at;
}

/* --- the column `offset` */

static bool scan_step(const char **at, int64_t *out)
{
	bool negative = scan_text(at, "-");
	if (!scan_integer(at, out))
		return false;
	*out = negative ? -*out : *out;
	return true;
}

/* FROM-TO@ADDRESS */
static bool parse_part(const char *word, struct residence_part *out)
{
	return scan_step(&word, &out->from) && scan_text(&word, "-") &&
	       scan_step(&word, &out->to) && scan_text(&word, "@") &&
	       scan_integer(&word, &out->address) && scan_end(&word);
}

static void read_parts(struct packing_reading *r, int buffer, const char *list)
{
	char *word = arena_alloc(r->reading.arena, strlen(list) + 1);
	while (next_word(&list, word)) {
		struct residence_part part = {.buffer = buffer};
		if (!parse_part(word, &part)) {
			diag_error(r->reading.diag, cell_span(r, COLUMN_OFFSET),
				"'offset' of buffer '%s': '%s' is not a FROM-TO@ADDRESS",
				r->buffers.at[buffer].name, word);
			return;
		}
		*array_add(r->reading.arena, &r->parts) = part;
	}
}

/* Reads where the buffer of a row lies; complains. */
static void read_offset(struct packing_reading *r, int buffer)
{
	const char *text = packing_cell_text(r, COLUMN_OFFSET), *at = text;
	int64_t *address = array_add(r->reading.arena, &r->addresses);
	*address = UNPLACED;
	if (!text || (scan_integer(&at, address) && scan_end(&at)))
		return;
	*address = UNPLACED;
	if (strchr(text, '@'))
		read_parts(r, buffer, text);
	else
		diag_error(r->reading.diag, cell_span(r, COLUMN_OFFSET),
			"'offset' of buffer '%s' is '%s'; it can be an address from 0 to %" PRId64
			", empty, or FROM-TO@ADDRESS;..",
			r->buffers.at[buffer].name, text, INT64_MAX);
}

/* The placement that the offsets give, with the parents whose place is taken in it. */
static struct placement *placement_of_rows(struct packing_reading *r, const struct packing *packing)
{
	size_t count = r->buffers.count;
	struct placement *placement = arena_new(r->reading.arena, struct placement);
	*placement = (struct placement){.count = count,
		.addresses = r->addresses.at,
		.in_place_of = arena_array(r->reading.arena, int, count),
		.part_count = r->parts.count,
		.parts = r->parts.at};
	placement_note(packing, placement);
	return placement;
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
			diag_note(diag, cell_span(r, column), "first given here");
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
		diag_error(diag, cell_span(r, COLUMN_IN_PLACE),
			"column 'in_place' needs 'in_place_parents', which is missing");
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

static const char *packing_reading_what(const struct packing_reading *r, enum packing_column column)
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
	struct span span = cell_span(r, column);
	if (text[strspn(text, "0123456789")] == '\0' && strlen(text) > 18) {
		diag_error(r->reading.diag, span,
			"%s is too large: %s; it must be at most %" PRId64,
			packing_reading_what(r, column), text, most);
		return false;
	}
	const struct node *node =
		node_scalar(r->reading.arena, arena_text(r->reading.arena, text), span);
	return size ? node_size(
			      &r->reading, node, packing_reading_what(r, column), least, most, out)
		    : node_integer(
			      &r->reading, node, packing_reading_what(r, column), least, most, out);
}

/* The same for one that may be empty or missing. */
static bool read_optional(struct packing_reading *r, enum packing_column column, bool size,
	int64_t least, int64_t most, int64_t *out)
{
	return packing_cell_text(r, column) && read_cell(r, column, size, least, most, out);
}

/* --- a row */

static bool read_id(struct packing_reading *r, struct buffer *buffer)
{
	struct diag *diag = r->reading.diag;
	const char *id = packing_cell_text(r, COLUMN_ID);
	if (!id) {
		diag_error(diag, table_row_span(&r->table), "the id of a buffer is empty");
		return false;
	}
	int before = names_find(&r->ids, id);
	if (before >= 0) {
		struct packing_row row = r->rows.at[before + 1];
		diag_error(diag, cell_span(r, COLUMN_ID), "buffer '%s' is given twice", id);
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
		diag_error(r->reading.diag, cell_span(r, COLUMN_UPPER),
			"the life of buffer '%s' is empty: it ends at %" PRId64
			" and begins at %" PRId64,
			buffer->name, buffer->end, buffer->start);
}

/* Checks that the sums of solvers do not overflow. */
static void add_totals(struct packing_reading *r, const struct buffer *buffer)
{
	int64_t most = PACKING_BYTES_MOST, before = r->bytes;
	int64_t times = buffer->use_count ? (int64_t)buffer->use_count : 1, weight;
	r->bytes += number_min(most, buffer->size) + (buffer->alignment ? buffer->alignment : 1);
	r->bytes = number_min(r->bytes, 2 * most - 1);
	if (before <= most && r->bytes > most)
		diag_error(r->reading.diag, cell_span(r, COLUMN_SIZE),
			"the sizes and alignments up to here add up to more than %" PRId64 " bytes",
			most);
	if (!number_mul(buffer->weight, times, &weight) ||
		!number_add(r->weights, weight, &r->weights))
		diag_error(r->reading.diag,
			cell_span(r, r->at[COLUMN_WEIGHT] < 0 ? COLUMN_SIZE : COLUMN_WEIGHT),
			"the weights up to here add up to more than %" PRId64, INT64_MAX);
}

static void read_address(struct packing_reading *r, struct buffer *buffer)
{
	buffer->is_fixed =
		read_optional(r, COLUMN_ADDRESS, true, 0, PACKING_BYTES_MOST, &buffer->address);
	int64_t alignment = buffer->alignment ? buffer->alignment : r->alignment;
	if (buffer->is_fixed && buffer->address % alignment)
		diag_error(r->reading.diag, cell_span(r, COLUMN_ADDRESS),
			"buffer '%s' must lie at %" PRId64
			", which is not a multiple of its alignment %" PRId64,
			buffer->name, buffer->address, alignment);
}

/* minimalloc's two columns that are of little use here: a hint may be -1, and gaps are refused. */
static void read_hint_and_gaps(struct packing_reading *r, struct buffer *buffer)
{
	int64_t hint = -1;
	read_optional(r, COLUMN_HINT, true, -1, PACKING_BYTES_MOST, &hint);
	buffer->has_hint = hint >= 0;
	buffer->hint = hint;
	if (packing_cell_text(r, COLUMN_GAPS))
		diag_error(r->reading.diag, cell_span(r, COLUMN_GAPS),
			"gaps in a life are not read; give its pieces rows of their own, or 'uses'");
}

static void read_in_place(struct packing_reading *r, struct buffer *buffer)
{
	static const char *const words[] = {"may", "must", NULL};
	const char *parents = packing_cell_text(r, COLUMN_PARENTS);
	const char *word = packing_cell_text(r, COLUMN_IN_PLACE);
	buffer->must_take_over = word && text_equal(word, words[1]);
	if (word && !buffer->must_take_over && !text_equal(word, words[0]))
		diag_error(r->reading.diag, cell_span(r, COLUMN_IN_PLACE),
			"'in_place' of buffer '%s' is '%s'; it can be may, must", buffer->name,
			word);
	if (buffer->must_take_over && !parents)
		diag_error(r->reading.diag, cell_span(r, COLUMN_IN_PLACE),
			"buffer '%s' must take a place, but 'in_place_parents' names none",
			buffer->name);
	if (!parents)
		return;
	*array_add(r->reading.arena, &r->families) = (struct family){(int)r->buffers.count - 1,
		arena_text(r->reading.arena, parents), cell_span(r, COLUMN_PARENTS)};
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
	if (packing_cell_text(r, COLUMN_USES))
		read_uses(r, buffer);
	add_totals(r, buffer);
	if (r->offsets)
		read_offset(r, (int)r->buffers.count - 1);
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
		out->placement = placement_of_rows(&r, &out->packing);
	return true;
}

struct span packing_span(const struct packing_file *file, size_t buffer)
{
	const struct packing_row *row = &file->rows[buffer + 1];
	return source_span(file->source, row->from, row->to);
}

void packing_write_offset(
	struct text *text, const struct placement *placement, size_t buffer, size_t *part)
{
	if (placement->addresses[buffer] != UNPLACED)
		text_add(text, "%" PRId64, placement->addresses[buffer]);
	const char *before = "";
	for (; *part < placement->part_count; ++*part) {
		const struct residence_part *at = &placement->parts[*part];
		if ((size_t)at->buffer != buffer)
			return;
		text_add(text, "%s%" PRId64 "-%" PRId64 "@%" PRId64, before, at->from, at->to,
			at->address);
		before = ";";
	}
}

const char *packing_write(
	struct arena *arena, const struct packing_file *file, const struct placement *placement)
{
	struct text text = text_open(arena);
	const char *bytes = file->source->bytes;
	size_t part = 0;
	for (size_t i = 0; i <= file->packing.count; i++) {
		struct packing_row row = file->rows[i];
		text_bytes(&text, bytes + row.from, row.offset_from - row.from);
		if (!file->has_offsets)
			text_bytes(&text, ",", 1);
		if (i == 0)
			text_bytes(&text, "offset", 6);
		else
			packing_write_offset(&text, placement, i - 1, &part);
		text_bytes(&text, bytes + row.offset_to, row.to - row.offset_to);
		text_bytes(&text, "\n", 1);
	}
	return text_read(&text);
}
