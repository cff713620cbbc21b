#include "model/packing/capture.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/field.h"

#include <inttypes.h>

int64_t capture_bytes(const struct capture_buffer *buffer, int division)
{
	int64_t pieces = buffer->divisions[division].pieces;
	return buffer->size / pieces + (buffer->size % pieces != 0);
}

/* True if the op of the edge finds its parent in LX under these two divisions. */
static bool capture_pairs(const struct capture_edge *edge, int parent_division, int own_division)
{
	for (size_t i = 0; i < edge->pair_count; i++)
		if (edge->pairs[i].parent == parent_division && edge->pairs[i].own == own_division)
			return true;
	return false;
}

int64_t capture_footprint(const struct capture *capture)
{
	int64_t sum = 0;
	for (size_t i = 0; i < capture->count; i++)
		sum += capture->buffers[i].size;
	return sum;
}

struct capture_cost capture_cost(const struct capture *capture, const struct capture_answer *answer)
{
	struct capture_cost cost = {0};
	for (size_t i = 0; i < capture->count; i++) {
		const struct capture_buffer *buffer = &capture->buffers[i];
		const struct capture_division *division = &buffer->divisions[answer->divisions[i]];
		cost.spilled += answer->addresses[i] == UNPLACED ? buffer->cost : 0;
		cost.idle -= division->cores;
		cost.squares += division->squares;
	}
	return cost;
}

int capture_compare(const struct capture_cost *a, const struct capture_cost *b)
{
	if (a->spilled != b->spilled)
		return a->spilled < b->spilled ? -1 : 1;
	if (a->idle != b->idle)
		return a->idle < b->idle ? -1 : 1;
	return (a->squares > b->squares) - (a->squares < b->squares);
}

struct checking {
	struct arena *arena;
	const struct capture_question *question;
	const struct capture_answer *answer;
};

static int64_t checked_life_end(const struct checking *check, size_t i)
{
	const struct capture_buffer *buffer = &check->question->capture->buffers[i];
	return check->answer->addresses[i] + capture_bytes(buffer, check->answer->divisions[i]);
}

static const char *check_buffer(const struct checking *check, size_t i)
{
	const struct capture_buffer *buffer = &check->question->capture->buffers[i];
	int division = check->answer->divisions[i];
	int64_t address = check->answer->addresses[i];
	if (division < 0 || (size_t)division >= buffer->division_count)
		return arena_format(
			check->arena, "'%s' has no division %d", buffer->name, division);
	if (address == UNPLACED)
		return NULL;
	if (!buffer->may_stay)
		return arena_format(check->arena, "'%s' may not be in LX", buffer->name);
	if (address < 0 || address % check->question->alignment)
		return arena_format(check->arena,
			"the address %" PRId64 " of '%s' is not a multiple of %" PRId64, address,
			buffer->name, check->question->alignment);
	if (checked_life_end(check, i) > check->question->capacity)
		return arena_format(check->arena,
			"'%s' ends at %" PRId64 ", beyond the capacity of %" PRId64 " bytes",
			buffer->name, checked_life_end(check, i), check->question->capacity);
	return NULL;
}

/* The parents of buffer i that are in LX. */
static const char *check_edges(const struct checking *check, size_t i)
{
	const struct capture_buffer *buffers = check->question->capture->buffers;
	const int *divisions = check->answer->divisions;
	for (size_t e = 0; e < buffers[i].edge_count; e++) {
		const struct capture_edge *edge = &buffers[i].edges[e];
		int parent = edge->parent;
		if (check->answer->addresses[parent] != UNPLACED &&
			!capture_pairs(edge, divisions[parent], divisions[i]))
			return arena_format(check->arena,
				"'%s' in division %d does not find '%s' in division %d in LX",
				buffers[i].name, divisions[i], buffers[parent].name,
				divisions[parent]);
	}
	return NULL;
}

/* True if the child lies in its parent's place by right. */
static bool takes_place(const struct checking *check, size_t child, size_t parent)
{
	const struct capture_buffer *buffers = check->question->capture->buffers;
	const struct capture_answer *answer = check->answer;
	if (answer->addresses[child] != answer->addresses[parent] ||
		buffers[parent].end != buffers[child].start + 1 ||
		checked_life_end(check, child) != checked_life_end(check, parent))
		return false;
	for (size_t e = 0; e < buffers[child].edge_count; e++)
		if (buffers[child].edges[e].parent == (int)parent &&
			buffers[child].edges[e].is_in_place)
			return true;
	return false;
}

static const char *check_two(const struct checking *check, size_t i, size_t k)
{
	const struct capture_buffer *buffers = check->question->capture->buffers;
	const int64_t *addresses = check->answer->addresses;
	if (addresses[i] == UNPLACED || addresses[k] == UNPLACED ||
		buffers[i].start >= buffers[k].end || buffers[k].start >= buffers[i].end ||
		addresses[i] >= checked_life_end(check, k) ||
		addresses[k] >= checked_life_end(check, i) || takes_place(check, i, k) ||
		takes_place(check, k, i))
		return NULL;
	return arena_format(
		check->arena, "'%s' and '%s' share bytes", buffers[i].name, buffers[k].name);
}

const char *capture_check(struct arena *arena, const struct capture_question *question,
	const struct capture_answer *answer)
{
	struct checking check = {arena, question, answer};
	size_t count = question->capture->count;
	const char *why = NULL;
	for (size_t i = 0; i < count && !why; i++)
		why = check_buffer(&check, i);
	for (size_t i = 0; i < count && !why; i++)
		why = check_edges(&check, i);
	for (size_t i = 0; i < count && !why; i++)
		for (size_t k = 0; k < i && !why; k++)
			why = check_two(&check, i, k);
	return why;
}

/* Costs of a case add up to less than 2^60. */
enum { WAYS_MOST = 1 << 20, STEP_MOST = 1 << 30, BUFFERS_MOST = 4096, USES_MOST = 1 << 12 };
#define SIZE_MOST (INT64_C(1) << 36)

struct captured_division {
	const struct node *output, *reduction;
};

static const struct field captured_division_fields[] = {
	{"output_splits", FIELD_WHOLE, .shape = SHAPE_NAMED, .required = true,
		KEEP(struct captured_division, output)},
	{"reduction_splits", FIELD_WHOLE, .shape = SHAPE_NAMED, .required = true,
		KEEP(struct captured_division, reduction)},
	{0},
};
static const struct noun captured_division_noun = {
	.name = "captured_division", .fields = captured_division_fields};

struct captured_buffer {
	const char *name, *reason;
	int64_t size, write, boundary;
	const struct node *uses, *divisions, *pairs;
	struct texts parents, in_place;
};

static const struct field captured_buffer_fields[] = {
	{"name", FIELD_TEXT, .required = true, INTO(struct captured_buffer, name)},
	{"size", FIELD_WHOLE, .required = true, INTO(struct captured_buffer, size), .least = -1,
		.most = SIZE_MOST},
	{"spill_write_cost", FIELD_WHOLE, INTO(struct captured_buffer, write), .least = -1,
		.most = SIZE_MOST},
	{"boundary_cost", FIELD_WHOLE, INTO(struct captured_buffer, boundary), .least = -1,
		.most = SIZE_MOST},
	{"residency_reason", FIELD_TEXT, INTO(struct captured_buffer, reason)},
	{"uses", FIELD_WHOLE, .shape = SHAPE_LIST, .required = true,
		KEEP(struct captured_buffer, uses)},
	{"core_divisions", FIELD_MAP, .shape = SHAPE_LIST, .required = true,
		.noun = &captured_division_noun, KEEP(struct captured_buffer, divisions)},
	{"parents", FIELD_TEXT, .shape = SHAPE_SOME, INTO(struct captured_buffer, parents)},
	{"in_place_parents", FIELD_TEXT, .shape = SHAPE_SOME,
		INTO(struct captured_buffer, in_place)},
	{"cd_parent_matches", FIELD_ANY, .shape = SHAPE_NAMED, KEEP(struct captured_buffer, pairs)},
	{"first_use_is_read", FIELD_ANY, .read = field_skip},
	{"placement", FIELD_ANY, .read = field_skip},
	{0},
};
static const struct noun captured_buffer_noun = {
	.name = "captured_buffer", .fields = captured_buffer_fields};

struct captured_answer {
	const char *name;
	const struct node *division;
	int64_t address;
};

static const struct field captured_answer_fields[] = {
	{"name", FIELD_TEXT, .required = true, INTO(struct captured_answer, name)},
	{"chosen_division", FIELD_WHOLE, .required = true,
		KEEP_ANY(struct captured_answer, division)},
	{"address", FIELD_WHOLE, INTO(struct captured_answer, address), .most = SIZE_MOST},
	{0},
};
static const struct noun captured_answer_noun = {
	.name = "captured_answer", .fields = captured_answer_fields};

struct captured_case {
	const struct node *inputs, *solved;
};

static const struct field captured_case_fields[] = {
	{"inputs", FIELD_MAP, .shape = SHAPE_LIST, .required = true, .noun = &captured_buffer_noun,
		KEEP(struct captured_case, inputs)},
	{"solved", FIELD_MAP, .shape = SHAPE_LIST, .noun = &captured_answer_noun,
		KEEP(struct captured_case, solved)},
	{0},
};
static const struct noun captured_case_noun = {
	.name = "captured_case", .fields = captured_case_fields};

/* A case half read. */
struct capture_reading {
	const struct reading *reading;
	struct names names; /* of buffers, by index */
	size_t count;
	struct capture_buffer *buffers;
	struct captured_buffer *forms;
	struct reader *readers;
};

/* Multiplies into the product and the sum of squares the ways of one map {stride: ways}. */
static void read_ways(struct reader *division, const char *key, const struct node *map,
	struct capture_division *out, int64_t *product)
{
	for (size_t i = 0; map && i < map->count; i++) {
		int64_t ways = 1;
		if (!node_integer(division->reading, map->entries[i].value,
			    reader_place(division, key), 1, WAYS_MOST, &ways))
			continue;
		if (*product * ways > WAYS_MOST) {
			reader_refuse(division, key, "splits into more than %d parts", WAYS_MOST);
			return;
		}
		*product *= ways;
		out->squares += ways * ways;
	}
}

static void read_menu(struct capture_reading *r, size_t b)
{
	struct reader *buffer = &r->readers[b];
	const struct node *list = r->forms[b].divisions;
	if (list && !list->count)
		reader_refuse(
			buffer, "core_divisions", "is empty; an op has at least one division");
	if (!list)
		return;
	struct capture_division *menu =
		arena_array(r->reading->arena, struct capture_division, list->count);
	for (size_t i = 0; i < list->count; i++) {
		struct reader division;
		struct captured_division form = {0};
		int64_t reductions = 1;
		menu[i].pieces = 1;
		if (!noun_open(&division, r->reading, list->items[i], "division",
			    &captured_division_noun))
			continue;
		fields_read(&division, &captured_division_noun, &form, NULL);
		read_ways(&division, "output_splits", form.output, &menu[i], &menu[i].pieces);
		read_ways(&division, "reduction_splits", form.reduction, &menu[i], &reductions);
		menu[i].cores = menu[i].pieces * reductions;
		reader_done(&division);
	}
	r->buffers[b].divisions = menu;
	r->buffers[b].division_count = list->count;
}

/* Number of transfers that a buffer outside LX costs, and its life. */
static int64_t read_life(struct capture_reading *r, size_t b)
{
	struct reader *buffer = &r->readers[b];
	const struct node *list = r->forms[b].uses;
	int64_t last = -1;
	if (list && !list->count)
		reader_refuse(buffer, "uses", "is empty; a buffer needs the step that writes it");
	if (list && list->count > USES_MOST)
		return reader_refuse(buffer, "uses", "has more than %d steps", USES_MOST);
	for (size_t i = 0; list && i < list->count; i++) {
		int64_t step = 0;
		if (!node_integer(r->reading, list->items[i], reader_place(buffer, "uses"), 0,
			    STEP_MOST, &step))
			return 0;
		if (step < last)
			return reader_refuse(buffer, "uses",
				"goes back from %" PRId64 " to %" PRId64, last, step);
		if (i == 0)
			r->buffers[b].start = step;
		r->buffers[b].end = step + 1;
		last = step;
	}
	return list && list->count ? (int64_t)list->count - 1 : 0;
}

static void read_buffer(struct capture_reading *r, size_t b, const struct node *node)
{
	struct capture_buffer *out = &r->buffers[b];
	struct captured_buffer *form = &r->forms[b];
	struct reader *buffer = &r->readers[b];
	if (!noun_open(buffer, r->reading, node, "buffer", &captured_buffer_noun))
		return;
	fields_read(buffer, &captured_buffer_noun, form, NULL);
	out->span = node->span;
	out->name = form->name ? form->name : "";
	if (form->name && names_find(&r->names, form->name) >= 0)
		reader_refuse(buffer, "name", "is '%s', which another buffer has, too", form->name);
	else if (form->name)
		names_add(r->reading->arena, &r->names, form->name, (int)b);
	out->size = form->size > 0 ? form->size : 0;
	out->may_stay = !form->reason && form->size > 0;
	out->cost = out->size * read_life(r, b) + number_max(0, form->write - form->boundary);
	read_menu(r, b);
}

static void read_pairs(
	struct capture_reading *r, size_t b, const struct node *list, struct capture_edge *edge)
{
	struct reader *buffer = &r->readers[b];
	const struct capture_buffer *parent = &r->buffers[edge->parent];
	struct capture_pair *pairs =
		arena_array(r->reading->arena, struct capture_pair, list->count);
	const char *place =
		arena_format(r->reading->arena, "'cd_parent_matches' of '%s'", r->buffers[b].name);
	for (size_t i = 0; i < list->count; i++) {
		const struct node *item = list->items[i];
		int64_t own = 0, of_parent = 0;
		if (item->kind != NODE_LIST || item->count != 2) {
			reading_refuse(r->reading, item,
				"a pair in %s has two entries: that of '%s', then its own",
				buffer->what, parent->name);
			return;
		}
		node_integer(r->reading, item->items[0], place, 0,
			(int64_t)parent->division_count - 1, &of_parent);
		node_integer(r->reading, item->items[1], place, 0,
			(int64_t)r->buffers[b].division_count - 1, &own);
		pairs[i] = (struct capture_pair){(int)of_parent, (int)own};
	}
	edge->pairs = pairs;
	edge->pair_count = list->count;
}

/* True if one of the first names of a list is this. */
static bool lists_name(const struct texts *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(names->at[i], name))
			return true;
	return false;
}

/* Reads the edges.  Names of parents that are not buffers here are ignored, as the format says. */
static void read_edges(struct capture_reading *r, size_t b)
{
	struct reader *buffer = &r->readers[b];
	struct capture_buffer *own = &r->buffers[b];
	const struct captured_buffer *form = &r->forms[b];
	struct capture_edge *edges =
		arena_array(r->reading->arena, struct capture_edge, form->parents.count + 1);
	for (size_t i = 0; i < form->parents.count; i++) {
		struct capture_edge *edge = &edges[own->edge_count];
		const char *name = form->parents.at[i];
		edge->parent = names_find(&r->names, name);
		if (edge->parent < 0 || lists_name(&form->parents, i, name))
			continue;
		const struct capture_buffer *parent = &r->buffers[edge->parent];
		const struct node *list = node_find(form->pairs, name);
		own->edge_count++;
		edge->is_in_place = lists_name(&form->in_place, form->in_place.count, name);
		if (own->start <= parent->start || own->start >= parent->end)
			reader_refuse(buffer, "parents",
				"has '%s', which lives from step %" PRId64 " to %" PRId64
				"; the op that reads it runs at step %" PRId64,
				name, parent->start, parent->end - 1, own->start);
		if (list && list->kind == NODE_LIST)
			read_pairs(r, b, list, edge);
		else if (list)
			reading_refuse(r->reading, list,
				"the pairs of '%s' are %s; a list is expected", name,
				node_kind_name(list));
	}
	own->edges = edges;
	reader_done_lenient(buffer);
}

/* The answer of the file; what it repeats of the menu is not read. */
static void read_published(struct capture_reading *r, const struct node *list, struct capture *out)
{
	struct capture_answer *answer = arena_new(r->reading->arena, struct capture_answer);
	answer->divisions = arena_array(r->reading->arena, int, r->count);
	answer->addresses = arena_array(r->reading->arena, int64_t, r->count);
	for (size_t i = 0; i < r->count; i++)
		answer->addresses[i] = UNPLACED;
	for (size_t i = 0; i < list->count; i++) {
		struct reader buffer;
		struct captured_answer form = {.address = UNPLACED};
		int64_t division = 0;
		if (!noun_open(
			    &buffer, r->reading, list->items[i], "answer", &captured_answer_noun))
			continue;
		fields_read(&buffer, &captured_answer_noun, &form, NULL);
		int b = form.name ? names_find(&r->names, form.name) : -1;
		if (form.name && b < 0)
			reader_refuse(&buffer, "name", "is '%s', which is not a buffer", form.name);
		if (b < 0 || !form.division)
			continue;
		node_integer(r->reading, form.division, reader_place(&buffer, "chosen_division"), 0,
			(int64_t)r->buffers[b].division_count - 1, &division);
		answer->divisions[b] = (int)division;
		answer->addresses[b] = form.address;
	}
	out->published = answer;
}

static void read_case(const struct reading *reading, const struct node *node, struct capture *out)
{
	struct reader body;
	struct captured_case form = {0};
	if (!noun_open(&body, reading, node, "case", &captured_case_noun))
		return;
	fields_read(&body, &captured_case_noun, &form, NULL);
	const struct node *inputs = form.inputs, *solved = form.solved;
	reader_done_lenient(&body);
	if (inputs && inputs->count > BUFFERS_MOST)
		reader_refuse(&body, "inputs", "has more than %d buffers", BUFFERS_MOST);
	if (!inputs || inputs->count > BUFFERS_MOST)
		return;
	struct capture_reading r = {.reading = reading,
		.count = inputs->count,
		.buffers = arena_array(reading->arena, struct capture_buffer, inputs->count),
		.forms = arena_array(reading->arena, struct captured_buffer, inputs->count),
		.readers = arena_array(reading->arena, struct reader, inputs->count)};
	size_t before = diag_errors(reading->diag);
	for (size_t b = 0; b < r.count; b++)
		read_buffer(&r, b, inputs->items[b]);
	out->count = r.count;
	out->buffers = r.buffers;
	if (diag_errors(reading->diag) > before)
		return; /* what follows needs menus, lives and names */
	for (size_t b = 0; b < r.count; b++)
		read_edges(&r, b);
	if (solved && solved->count)
		read_published(&r, solved, out);
}

bool captures_read(const struct reading *reading, const struct node *root, struct captures *out)
{
	size_t before = diag_errors(reading->diag), count = 0;
	if (root->kind != NODE_MAP)
		return reading_refuse(
			reading, root, "a capture is a map of cases, not %s", node_kind_name(root));
	for (size_t i = 0; i < root->count; i++)
		count += root->entries[i].value->kind == NODE_LIST ? root->entries[i].value->count
								   : 1;
	struct capture *all = arena_array(reading->arena, struct capture, count + 1);
	*out = (struct captures){.at = all};
	for (size_t i = 0; i < root->count; i++) {
		const struct node *list = root->entries[i].value;
		const char *name = root->entries[i].key;
		if (list->kind != NODE_LIST)
			reading_refuse(reading, list,
				"case '%s' is %s; a list of maps with 'inputs' is expected", name,
				node_kind_name(list));
		for (size_t k = 0; list->kind == NODE_LIST && k < list->count; k++) {
			struct capture *capture = &all[out->count++];
			capture->key = name;
			capture->position = k;
			capture->name = list->count == 1
						? name
						: arena_format(reading->arena, "%s[%zu]", name, k);
			read_case(reading, list->items[k], capture);
		}
	}
	return diag_errors(reading->diag) == before;
}
