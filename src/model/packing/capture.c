#include "model/packing/capture.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/reader.h"

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

static int64_t end_of(const struct checking *check, size_t i)
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
	if (end_of(check, i) > check->question->capacity)
		return arena_format(check->arena,
			"'%s' ends at %" PRId64 ", beyond the capacity of %" PRId64 " bytes",
			buffer->name, end_of(check, i), check->question->capacity);
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
		end_of(check, child) != end_of(check, parent))
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
		addresses[i] >= end_of(check, k) || addresses[k] >= end_of(check, i) ||
		takes_place(check, i, k) || takes_place(check, k, i))
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

/* A case half read. */
struct capture_reading {
	const struct reading *reading;
	struct names names; /* of buffers, by index */
	size_t count;
	struct capture_buffer *buffers;
	struct reader *readers;
};

/* Multiplies into the product and the sum of squares the ways of one map {stride: ways}. */
static void read_ways(
	struct reader *division, const char *key, struct capture_division *out, int64_t *product)
{
	const struct node *map = read_map(division, key, REQUIRED);
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
	const struct node *list = read_list(buffer, "core_divisions", REQUIRED);
	if (list && !list->count)
		reader_refuse(
			buffer, "core_divisions", "is empty; an op has at least one division");
	if (!list)
		return;
	struct capture_division *menu =
		arena_array(r->reading->arena, struct capture_division, list->count);
	for (size_t i = 0; i < list->count; i++) {
		struct reader division;
		int64_t reductions = 1;
		menu[i].pieces = 1;
		if (!reader_open(&division, r->reading, list->items[i], "division"))
			continue;
		read_ways(&division, "output_splits", &menu[i], &menu[i].pieces);
		read_ways(&division, "reduction_splits", &menu[i], &reductions);
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
	const struct node *list = read_list(buffer, "uses", REQUIRED);
	int64_t last = -1;
	if (list && !list->count)
		reader_refuse(buffer, "uses", "is empty; a buffer is made somewhere");
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
	struct reader *buffer = &r->readers[b];
	const char *reason = NULL;
	int64_t size = 0, write = 0, boundary = 0;
	if (!reader_open(buffer, r->reading, node, "buffer"))
		return;
	out->span = node->span;
	out->name = "";
	if (read_text(buffer, "name", REQUIRED, &out->name)) {
		if (names_find(&r->names, out->name) >= 0)
			reader_refuse(
				buffer, "name", "is '%s', as that of another buffer", out->name);
		else
			names_add(r->reading->arena, &r->names, out->name, (int)b);
	}
	read_integer(buffer, "size", REQUIRED, -1, SIZE_MOST, &size);
	read_integer(buffer, "spill_write_cost", OPTIONAL, -1, SIZE_MOST, &write);
	read_integer(buffer, "boundary_cost", OPTIONAL, -1, SIZE_MOST, &boundary);
	read_text(buffer, "residency_reason", OPTIONAL, &reason);
	out->size = size > 0 ? size : 0;
	out->may_stay = !reason && size > 0;
	out->cost = out->size * read_life(r, b) + (write > boundary ? write - boundary : 0);
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

static bool lists_name(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(names[i], name))
			return true;
	return false;
}

/* Reads the edges.  Names of parents that are not buffers here are ignored, as the format says. */
static void read_edges(struct capture_reading *r, size_t b)
{
	struct reader *buffer = &r->readers[b];
	struct capture_buffer *own = &r->buffers[b];
	const char *const *parents = NULL, *const *in_place = NULL;
	size_t parent_count = 0, in_place_count = 0;
	read_texts(buffer, "parents", OPTIONAL, &parents, &parent_count);
	read_texts(buffer, "in_place_parents", OPTIONAL, &in_place, &in_place_count);
	const struct node *pairs = read_map(buffer, "cd_parent_matches", OPTIONAL);
	struct capture_edge *edges =
		arena_array(r->reading->arena, struct capture_edge, parent_count + 1);
	for (size_t i = 0; i < parent_count; i++) {
		struct capture_edge *edge = &edges[own->edge_count];
		edge->parent = names_find(&r->names, parents[i]);
		if (edge->parent < 0 || lists_name(parents, i, parents[i]))
			continue;
		const struct capture_buffer *parent = &r->buffers[edge->parent];
		const struct node *list = node_find(pairs, parents[i]);
		own->edge_count++;
		edge->is_in_place = lists_name(in_place, in_place_count, parents[i]);
		if (own->start <= parent->start || own->start >= parent->end)
			reader_refuse(buffer, "parents",
				"has '%s', which lives from step %" PRId64 " to %" PRId64
				"; the op that reads it runs at step %" PRId64,
				parents[i], parent->start, parent->end - 1, own->start);
		if (list && list->kind == NODE_LIST)
			read_pairs(r, b, list, edge);
		else if (list)
			reading_refuse(r->reading, list,
				"the pairs of '%s' are %s; a list is expected", parents[i],
				node_kind_name(list));
	}
	own->edges = edges;
	read_node(buffer, "first_use_is_read", OPTIONAL);
	read_node(buffer, "placement", OPTIONAL);
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
		const char *name = NULL;
		int64_t division = 0, address = UNPLACED;
		if (!reader_open(&buffer, r->reading, list->items[i], "answer") ||
			!read_text(&buffer, "name", REQUIRED, &name))
			continue;
		int b = names_find(&r->names, name);
		if (b < 0) {
			reader_refuse(&buffer, "name", "is '%s', which is not a buffer", name);
			continue;
		}
		read_integer(&buffer, "chosen_division", REQUIRED, 0,
			(int64_t)r->buffers[b].division_count - 1, &division);
		read_integer(&buffer, "address", OPTIONAL, 0, SIZE_MOST, &address);
		answer->divisions[b] = (int)division;
		answer->addresses[b] = address;
	}
	out->published = answer;
}

static void read_case(const struct reading *reading, const struct node *node, struct capture *out)
{
	struct reader body;
	if (!reader_open(&body, reading, node, "case"))
		return;
	const struct node *inputs = read_list(&body, "inputs", REQUIRED);
	const struct node *solved = read_list(&body, "solved", OPTIONAL);
	reader_done_lenient(&body);
	if (inputs && inputs->count > BUFFERS_MOST)
		reader_refuse(&body, "inputs", "has more than %d buffers", BUFFERS_MOST);
	if (!inputs || inputs->count > BUFFERS_MOST)
		return;
	struct capture_reading r = {.reading = reading,
		.count = inputs->count,
		.buffers = arena_array(reading->arena, struct capture_buffer, inputs->count),
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
