#include "model/recurrence/space_time_read.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/recurrence/recurrence_equations.h"

#include <string.h>

static bool read_loop(
	const struct reading *reading, const struct node_entry *entry, struct recurrence_loop *loop)
{
	const struct node *node = entry->value;
	*loop = (struct recurrence_loop){.name = entry->key, .extent = 1};
	if (node->kind != NODE_LIST)
		return node_integer(
			reading, node, entry->key, 1, RECURRENCE_EXTENT_MOST, &loop->extent);
	int64_t end = 0;
	if (node->count != 2)
		return reading_refuse(reading, node,
			"'%s' is an extent, or [first, end) as a list of two", entry->key);
	if (!node_integer(reading, node->items[0], entry->key, -RECURRENCE_EXTENT_MOST,
		    RECURRENCE_EXTENT_MOST, &loop->least) ||
		!node_integer(reading, node->items[1], entry->key, loop->least + 1,
			loop->least + RECURRENCE_EXTENT_MOST, &end))
		return false;
	loop->extent = end - loop->least;
	return true;
}

static bool read_loops(struct reader *map, struct recurrence *recurrence)
{
	const struct node *loops = read_map(map, "loops", REQUIRED);
	if (!loops)
		return false;
	if (!loops->count || loops->count > RECURRENCE_LOOPS_MOST)
		return reading_refuse(
			map->reading, loops, "there are 1 to 8 loops, not %zu", loops->count);
	bool good = true;
	for (size_t i = 0; i < loops->count; i++)
		good &= read_loop(map->reading, &loops->entries[i], &recurrence->loops[i]);
	recurrence->loop_count = (int)loops->count;
	return good;
}

/* A condition over loops; true without one. */
static bool read_condition(struct reader *map, const char *key, const struct recurrence *recurrence,
	const struct term **out)
{
	const struct node *node = read_node(map, key, OPTIONAL);
	if (!node)
		return true;
	if (node->kind != NODE_SCALAR)
		return reading_refuse(
			map->reading, node, "'%s' is a condition such as i >= k", key);
	const char *loops[RECURRENCE_LOOPS_MOST + 1];
	struct term_names names = {.reading = map->reading, .loops = loops};
	struct term_fault fault = {0};
	size_t at = 0;
	recurrence_loop_names(recurrence, loops);
	const struct term *term = term_parse(map->reading->arena, node->text, &at, &names, &fault);
	if (term) {
		at += strspn(node->text + at, " \t\r\n");
		if (node->text[at])
			fault = (struct term_fault){at, at + 1, "the condition should end here"};
		else if (term_has_stream(term))
			fault = (struct term_fault){
				0, at, "a condition depends on loops, not on streams"};
	}
	if (fault.text)
		diag_error(map->reading->diag, node_part(node, fault.from, fault.to), "%s",
			fault.text);
	*out = term;
	return !fault.text;
}

bool space_time_vector(const struct reading *reading, const struct node *node, const char *what,
	int count, int64_t least, int64_t most, int64_t *out)
{
	if (node->kind != NODE_LIST || node->count != (size_t)count)
		return reading_refuse(
			reading, node, "%s is a list of %d whole numbers", what, count);
	bool good = true;
	for (int i = 0; i < count; i++)
		good &= node_integer(reading, node->items[i], what, least, most, &out[i]);
	return good;
}

static bool read_dependence(
	struct reader *map, const struct node *node, int stream, struct recurrence *recurrence)
{
	const struct reading *reading = map->reading;
	int64_t vector[RECURRENCE_LOOPS_MOST] = {0};
	const struct term *when = NULL;
	bool good, zero = true;
	if (node->kind == NODE_MAP) {
		struct reader entry;
		reader_open(&entry, reading, node, "dependence");
		const struct node *list = read_list(&entry, "vector", REQUIRED);
		good = read_condition(&entry, "when", recurrence, &when);
		good &= list && space_time_vector(reading, list, "'vector'", recurrence->loop_count,
					-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, vector);
		reader_done(&entry);
	} else {
		good = space_time_vector(reading, node, "a dependence", recurrence->loop_count,
			-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, vector);
	}
	for (int i = 0; i < recurrence->loop_count; i++)
		zero &= !vector[i];
	if (good && zero)
		return reading_refuse(reading, node, "a dependence of a point on itself");
	if (good &&
		!recurrence_depend(reading->arena, recurrence, stream, vector, when, node->span))
		return reading_refuse(
			reading, node, "more than 64 dependences, or too many of one vector");
	return good;
}

bool space_time_is_vector(const struct node *node)
{
	return node->kind == NODE_LIST && node->count && node->items[0]->kind == NODE_SCALAR;
}

static bool read_dependences(
	struct reader *map, const struct node *streams, struct recurrence *recurrence)
{
	bool good = true;
	if (streams->kind != NODE_MAP)
		return reading_refuse(map->reading, streams,
			"'dependences' is a map of streams, such as {a: [1, 0]}");
	if (streams->count > RECURRENCE_STREAMS_MOST)
		return reading_refuse(map->reading, streams, "there are at most 16 streams");
	for (size_t i = 0; i < streams->count; i++) {
		const struct node_entry *entry = &streams->entries[i];
		recurrence->streams[i] = (struct stream){.name = entry->key,
			.kind = STREAM_RECURRENT,
			.rank = recurrence->loop_count,
			.span = entry->key_span};
		recurrence->stream_count = (int)i + 1;
		if (entry->value->kind == NODE_MAP || space_time_is_vector(entry->value)) {
			good &= read_dependence(map, entry->value, (int)i, recurrence);
			continue;
		}
		if (entry->value->kind != NODE_LIST) {
			good = reading_refuse(map->reading, entry->value,
				"the dependences of '%s' are one vector or a list of vectors",
				entry->key);
			continue;
		}
		for (size_t k = 0; k < entry->value->count; k++)
			good &= read_dependence(map, entry->value->items[k], (int)i, recurrence);
	}
	return good;
}

/* What the loops compute: one of these keys says it. */
static const char *const bodies[] = {"equations", "dependences", "einsum"};
enum { BODIES = sizeof bodies / sizeof *bodies };

static bool read_equations(
	struct reader *map, const struct node *const *given, struct recurrence *out)
{
	const struct node *equations = given[0], *dependences = given[1];
	if (dependences) {
		if (!read_dependences(map, dependences, out))
			return false;
		recurrence_invent(map->reading->arena, out);
		return true;
	}
	if (equations->kind != NODE_SCALAR)
		return reading_refuse(
			map->reading, equations, "'equations' is a text with an equation a line");
	return recurrence_equations(map->reading, equations, out);
}

/* The einsum of the problem, or of the graph's op, that stands beside. */
static bool take_beside(struct reader *map, const struct space_time_beside *beside,
	struct recurrence_einsum *einsum, struct recurrence *out)
{
	const struct reading *reading = map->reading;
	const struct node *name = read_node(map, "op", OPTIONAL);
	const struct node *loops = read_node(map, "loops", OPTIONAL);
	const char *why = NULL;
	if (loops)
		return reading_refuse(reading, loops,
			"the loops are those of the %s; take them out",
			beside->problem ? "problem" : "op");
	if (beside->problem && name)
		return reading_refuse(
			reading, name, "a problem is one op; 'op' names one of a workload");
	if (beside->problem) {
		if (!recurrence_einsum_of_shape(reading->arena, beside->problem, einsum, out, &why))
			return reading_refuse(reading, map->map, "%s", why);
		recurrence_einsum_squeeze(einsum, out);
		return true;
	}
	const struct op *op = space_time_op(map, name, beside->workload);
	return op &&
	       (recurrence_einsum_of_op(reading->arena, beside->workload, op, einsum, out, &why) ||
		       reading_refuse(reading, name ? name : map->map, "%s", why));
}

/* The recurrence of an einsum, in tiles where the spec or a plan says so. */
static bool derive(struct reader *map, const struct space_time_beside *beside,
	struct recurrence_einsum *einsum, struct space_time *out)
{
	struct arena *arena = map->reading->arena;
	const char *why = NULL;
	out->einsum = arena_copy(arena, einsum, sizeof *einsum);
	out->loops = arena_copy(arena, &out->recurrence, sizeof out->recurrence);
	if (!space_time_tiles(map, einsum, &out->recurrence))
		return false;
	if (beside && beside->plan) {
		struct reader plan;
		if (!reader_open(&plan, map->reading, beside->plan, "projection") ||
			!space_time_tiles(&plan, einsum, &out->recurrence))
			return false;
	}
	return recurrence_einsum(arena, einsum, &out->recurrence, &why) ||
	       reading_refuse(map->reading, map->map, "%s", why);
}

bool space_time_body(
	struct reader *map, const struct space_time_beside *beside, struct space_time *out)
{
	struct recurrence *recurrence = &out->recurrence;
	const struct node *given[BODIES], *first = NULL;
	for (int i = 0; i < BODIES; i++) {
		given[i] = read_node(map, bodies[i], OPTIONAL);
		if (given[i] && first)
			return reading_refuse(map->reading, given[i],
				"dependences follow from equations and einsums; give one of them");
		first = first ? first : given[i];
	}
	bool is_beside = beside && (beside->problem || beside->workload);
	if (first && is_beside)
		return reading_refuse(map->reading, first,
			"the %s beside says already what is computed",
			beside->problem ? "problem" : "workload");
	if (!first && !is_beside)
		return reading_refuse(map->reading, map->map,
			"'space_time' needs 'equations', 'dependences' or an 'einsum', or a "
			"problem or workload beside");
	if (given[0] || given[1])
		return read_loops(map, recurrence) &&
		       read_condition(map, "domain", recurrence, &recurrence->domain) &&
		       read_equations(map, given, recurrence);
	struct recurrence_einsum *einsum = arena_new(map->reading->arena, struct recurrence_einsum);
	if (is_beside ? !take_beside(map, beside, einsum, recurrence)
		      : !read_loops(map, recurrence) ||
				!space_time_einsum(map->reading, given[2], recurrence, einsum))
		return false;
	const struct node *domain = read_node(map, "domain", OPTIONAL);
	if (domain)
		return reading_refuse(map->reading, domain,
			"an einsum is over all its loops; a 'domain' goes with equations");
	return derive(map, beside, einsum, out);
}
