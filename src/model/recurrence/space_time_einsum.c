#include "base/arena.h"
#include "base/text.h"
#include "model/graph/op_line.h"
#include "model/recurrence/recurrence_einsum.h"
#include "model/recurrence/space_time_read.h"

#include <string.h>

static bool read_loop(
	const struct reading *reading, const struct node_entry *entry, struct loop *loop)
{
	const struct node *node = entry->value;
	*loop = (struct loop){.name = entry->key, .extent = 1};
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

static bool read_loops(
	const struct reading *reading, const struct node *loops, struct loop *out, int *count)
{
	if (!loops)
		return false;
	if (!loops->count || loops->count > RECURRENCE_LOOPS_MOST)
		return reading_refuse(
			reading, loops, "there are 1 to 8 loops, not %zu", loops->count);
	bool good = true;
	for (size_t i = 0; i < loops->count; i++)
		good &= read_loop(reading, &loops->entries[i], &out[i]);
	*count = (int)loops->count;
	return good;
}

/* A condition over loops; true without one. */
static bool read_condition(const struct reading *reading, const struct node *node, const char *key,
	const struct recurrence *recurrence, const struct term **out)
{
	if (!node)
		return true;
	if (node->kind != NODE_SCALAR)
		return reading_refuse(reading, node, "'%s' is a condition such as i >= k", key);
	const char *loops[RECURRENCE_LOOPS_MOST + 1];
	struct term_names names = {.reading = reading, .loops = loops};
	struct scan_fault fault = {0};
	size_t at = 0;
	loop_names(recurrence->loops, recurrence->loop_count, loops);
	const struct term *term = term_parse(reading->arena, node->text, &at, &names, &fault);
	if (term) {
		at += strspn(node->text + at, " \t\r\n");
		if (node->text[at])
			fault = (struct scan_fault){at, at + 1, "the condition should end here"};
		else if (term_has_stream(term))
			fault = (struct scan_fault){
				0, at, "a condition depends on loops, not on streams"};
	}
	if (fault.text)
		diag_error(reading->diag, node_part(node, fault.from, fault.to), "%s", fault.text);
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

struct dependence_form {
	const struct node *vector, *when;
};

static const struct field dependence_fields[] = {
	{"vector", FIELD_WHOLE,
		"of loops, from the point that has the value to the one that reads it",
		.shape = SHAPE_LIST, .required = true, KEEP(struct dependence_form, vector)},
	{"when", FIELD_TEXT, "condition over loops", .usual = "everywhere",
		KEEP_ANY(struct dependence_form, when)},
	{0},
};
static const struct noun dependence_noun = {
	.name = "dependence", .fields = dependence_fields, .also = "array"};

static const struct field dependences_fields[] = {
	{"*", FIELD_MAP, .noun = &dependence_noun},
	{0},
};
const struct noun dependences_noun = {.name = "dependences", .fields = dependences_fields};

static bool read_dependence(
	struct reader *map, const struct node *node, int stream, struct recurrence *recurrence)
{
	const struct reading *reading = map->reading;
	int64_t vector[RECURRENCE_LOOPS_MOST] = {0};
	const struct term *when = NULL;
	bool good, zero = true;
	if (node->kind == NODE_MAP) {
		struct dependence_form form = {0};
		struct reader entry;
		noun_open(&entry, reading, node, "dependence", &dependence_noun);
		fields_read(&entry, &dependence_noun, &form, NULL);
		good = read_condition(reading, form.when, "when", recurrence, &when);
		good &= form.vector &&
			space_time_vector(reading, form.vector, "'vector'", recurrence->loop_count,
				-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, vector);
		reader_done(&entry);
	} else {
		good = space_time_vector(reading, node, "a dependence", recurrence->loop_count,
			-PROJECTION_ENTRY_MOST, PROJECTION_ENTRY_MOST, vector);
	}
	for (int i = 0; i < recurrence->loop_count; i++)
		zero &= !vector[i];
	if (good && zero)
		return reading_refuse(reading, node, "a point cannot depend on itself");
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

static bool read_equations(
	struct reader *map, const struct space_time_form *form, struct recurrence *out)
{
	const struct node *equations = form->equations, *dependences = form->dependences;
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

struct einsum_draft {
	const struct reading *reading;
	const struct node *text;
	const struct shape *shape;
	uint32_t named; /* loops, as bits */
};

static bool einsum_refuse(const struct einsum_draft *draft, size_t at, size_t end, const char *why)
{
	diag_error(draft->reading->diag, node_part(draft->text, at, end), "%s", why);
	return false;
}

/* The loop of a word; -1 after complaining. */
static int loop_of(struct einsum_draft *draft, const struct word *word)
{
	int loop = shape_dimension(draft->shape, word->text);
	if (loop >= 0) {
		draft->named |= UINT32_C(1) << loop;
		return loop;
	}
	struct arena *arena = draft->reading->arena;
	einsum_refuse(draft, word->at, word->end,
		arena_format(arena, "'%s' is not a loop%s", word->text,
			suggestion(arena,
				loop_near(draft->shape->dimensions, draft->shape->dimension_count,
					word->text),
				"; give its extent in 'loops'")));
	return -1;
}

static bool read_operand(struct einsum_draft *draft, const struct line_operand *from,
	struct dataspace *to, uint32_t *loops)
{
	*to = (struct dataspace){.name = from->tensor.text,
		.rank_count = from->index_count,
		.span = node_part(draft->text, from->at, from->end)};
	for (int k = 0; k < from->index_count; k++)
		for (int t = 0; t < from->indices[k].term_count; t++) {
			const struct affine_term *term = &from->indices[k].terms[t];
			int loop = term->name.text ? loop_of(draft, &term->name) : -1;
			if (term->name.text && loop < 0)
				return false;
			int64_t *sum =
				loop < 0 ? &to->ranks[k].offset : &to->ranks[k].coefficient[loop];
			if (!number_add(*sum, term->factor, sum))
				return einsum_refuse(draft, from->indices[k].at,
					from->indices[k].end, "the number is too large");
			*loops |= loop < 0 ? 0 : UINT32_C(1) << loop;
		}
	return true;
}

/* Every loop indexes the result or is reduced, and not both. */
static bool check_loops(
	struct einsum_draft *draft, const struct op_line *line, uint32_t written, uint32_t reduced)
{
	const struct shape *shape = draft->shape;
	struct arena *arena = draft->reading->arena;
	for (int i = 0; i < shape->dimension_count; i++) {
		const char *name = shape->dimensions[i].name, *why = NULL;
		uint32_t bit = UINT32_C(1) << i;
		if (!(draft->named & bit))
			why = "nothing in the einsum has the loop '%s'";
		else if (!(written & bit) && !(reduced & bit))
			why = "'%s' does not index the result; sum(%s) would reduce it";
		else if (written & bit && reduced & bit)
			why = "'%s' indexes the result, and is reduced";
		if (why)
			return einsum_refuse(draft, line->output.at, line->output.end,
				arena_format(arena, why, name, name));
	}
	return true;
}

/* A tensor has one rank. */
static bool check_ranks(struct einsum_draft *draft, const struct op_line *line)
{
	const struct dataspace *spaces = draft->shape->spaces;
	for (int i = 0; i < draft->shape->space_count - 1; i++)
		for (int k = 0; k < i; k++)
			if (text_equal(spaces[i].name, spaces[k].name) &&
				spaces[i].rank_count != spaces[k].rank_count)
				return einsum_refuse(draft, line->reads[i].at, line->reads[i].end,
					arena_format(draft->reading->arena,
						"'%s' has %d indices elsewhere", spaces[i].name,
						spaces[k].rank_count));
	return true;
}

/*
 * `einsum: "C[m,n] = sum(k) A[m,k] * B[k,n]"` over loops that are known, in the notation of ops
 * (op_line.h).
 */
static bool read_einsum(
	const struct reading *reading, const struct node *text, struct recurrence_einsum *einsum)
{
	struct shape *shape = &einsum->shape;
	struct einsum_draft draft = {.reading = reading, .text = text, .shape = shape};
	struct op_line *line = arena_new(reading->arena, struct op_line);
	struct scan_fault fault;
	uint32_t written = 0, reduced = 0, read = 0;
	if (text->kind != NODE_SCALAR)
		return reading_refuse(reading, text,
			"'einsum' is a text such as \"C[m,n] = sum(k) A[m,k] * B[k,n]\"");
	if (!op_line_parse(reading->arena, text->text, line, &fault))
		return einsum_refuse(&draft, fault.from, fault.to, fault.text);
	if (!recurrence_einsum_sum(line->primitive, line->has_constant, &einsum->sum))
		return reading_refuse(
			reading, text, "not a sum of products, a sum, a max or a min");
	for (int i = 0; i <= line->read_count; i++) {
		const struct line_operand *from =
			i < line->read_count ? &line->reads[i] : &line->output;
		struct dataspace *space = &shape->spaces[shape->space_count++];
		if (!read_operand(&draft, from, space, i < line->read_count ? &read : &written))
			return false;
		space->written = i == line->read_count;
	}
	shape_finish(shape);
	for (int i = 0; i < line->reduction_count && i < RECURRENCE_LOOPS_MOST; i++) {
		int loop = loop_of(&draft, &line->reductions[i]);
		if (loop < 0)
			return false;
		reduced |= UINT32_C(1) << loop;
		einsum->order[einsum->order_count++] = loop;
	}
	return check_loops(&draft, line, written, reduced) && check_ranks(&draft, line);
}

/* The op of a graph that `op:` names; without one the only op.  NULL after complaining. */
static const struct op *find_op(
	struct reader *map, const struct node *name, const struct workload *workload)
{
	const struct reading *reading = map->reading;
	const char **known = arena_array(reading->arena, const char *, workload->op_count + 1);
	const char *wanted = NULL;
	if (!name && workload->op_count == 1)
		return &workload->ops[0];
	for (size_t i = 0; i < workload->op_count; i++)
		known[i] = workload->ops[i].name;
	if (!name) {
		reading_refuse(reading, map->map, "the workload has %zu ops; 'op: %s' names one",
			workload->op_count, workload->op_count ? known[0] : "..");
		return NULL;
	}
	if (!node_text(reading, name, "op", &wanted))
		return NULL;
	int op = workload_op(workload, wanted);
	if (op >= 0)
		return &workload->ops[op];
	reading_refuse(reading, name, "the workload has no op '%s'%s", wanted,
		suggestion(reading->arena, suggest(wanted, known), ""));
	return NULL;
}

/* A loop by name; -1 after complaining. */
static int named_loop(
	const struct reading *reading, const struct node *node, const struct shape *shape)
{
	const char *name = NULL;
	if (!node_text(reading, node, "a loop", &name))
		return -1;
	int loop = shape_dimension(shape, name);
	if (loop >= 0)
		return loop;
	reading_refuse(reading, node, "'%s' is not a loop%s", name,
		suggestion(reading->arena,
			loop_near(shape->dimensions, shape->dimension_count, name), ""));
	return -1;
}

/* A list of loops, each once; the number of them, -1 after complaining. */
static int read_loop_list(const struct reading *reading, const struct node *list,
	const struct shape *shape, int *loops)
{
	size_t count = !list ? 0 : list->kind == NODE_LIST ? list->count : 1;
	uint32_t seen = 0;
	for (size_t i = 0; i < count; i++) {
		const struct node *item = node_item(list, i);
		int loop = named_loop(reading, item, shape);
		if (loop < 0)
			return -1;
		if (seen >> loop & 1) {
			reading_refuse(reading, item, "the loop '%s' is listed twice",
				shape->dimensions[loop].name);
			return -1;
		}
		seen |= UINT32_C(1) << loop;
		loops[i] = loop;
	}
	return (int)count;
}

static bool read_splits(
	const struct reading *reading, const struct node *node, struct recurrence_einsum *einsum)
{
	const struct shape whole = einsum->shape;
	const char *why = NULL;
	bool good = true;
	for (size_t i = 0; node && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		const char *what = arena_format(reading->arena, "'%s' in split", entry->key);
		int loop = shape_dimension(&whole, entry->key);
		int64_t size = 0;
		if (loop < 0)
			diag_error(
				reading->diag, entry->key_span, "'%s' is not a loop", entry->key);
		good = node_integer(
			       reading, entry->value, what, 1, RECURRENCE_EXTENT_MOST, &size) &&
		       loop >= 0 && good;
		if (good && !recurrence_einsum_split(reading->arena, einsum, loop, size, &why))
			good = reading_refuse(reading, entry->value, "%s", why);
	}
	return good;
}

/* `load: {B: [k, m]}`: B is shifted in along k before m begins. */
static bool read_loads(
	const struct reading *reading, const struct node *node, struct recurrence_einsum *einsum)
{
	const struct shape *shape = &einsum->shape;
	for (size_t i = 0; node && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		int operand = -1;
		for (int k = 0; k < shape->space_count - 1; k++)
			if (text_equal(shape->spaces[k].name, entry->key))
				operand = k;
		if (operand < 0) {
			diag_error(reading->diag, entry->key_span, "'%s' is not read", entry->key);
			return false;
		}
		if (entry->value->kind != NODE_LIST || entry->value->count != 2)
			return reading_refuse(reading, entry->value,
				"'%s' is shifted in along a loop before another one begins: a list "
				"of two",
				entry->key);
		int along = named_loop(reading, entry->value->items[0], shape);
		int before = named_loop(reading, entry->value->items[1], shape);
		if (along < 0 || before < 0)
			return false;
		if (einsum->load_count == SHAPE_SPACES_MOST)
			return reading_refuse(reading, node, "too many operands are shifted in");
		einsum->loads[einsum->load_count++] =
			(struct recurrence_load){operand, along, before};
	}
	return true;
}

/* Reads the options of a derivation: `split: {m: 4}`, `sum: [k_tile, k]`, `reread: [m_tile]`,
 * `load: {B: [k, m]}`. */
static bool read_tiles(const struct reading *reading, const struct space_time_form *form,
	struct recurrence_einsum *einsum)
{
	int loops[RECURRENCE_LOOPS_MOST];
	/* The other entries may name tiles, and without a split none exist. */
	if (!read_splits(reading, form->split, einsum))
		return false;
	int count = read_loop_list(reading, form->sum, &einsum->shape, loops);
	if (count > 0) {
		einsum->order_count = count;
		memcpy(einsum->order, loops, sizeof loops);
	}
	int reread = read_loop_list(reading, form->reread, &einsum->shape, loops);
	for (int i = 0; i < reread; i++)
		einsum->reread |= UINT32_C(1) << loops[i];
	return read_loads(reading, form->load, einsum) && count >= 0 && reread >= 0;
}

/* The einsum of the problem, or of the graph's op, that stands beside. */
static bool take_beside(struct reader *map, const struct space_time_form *form,
	const struct space_time_beside *beside, struct recurrence_einsum *out)
{
	const struct reading *reading = map->reading;
	const struct node *name = form->op, *loops = form->loops;
	const char *why = NULL;
	if (loops)
		return reading_refuse(reading, loops,
			"the loops are those of the %s; take them out",
			beside->problem ? "problem" : "op");
	if (beside->problem && name)
		return reading_refuse(
			reading, name, "a problem is one op; 'op' names one of a workload");
	if (beside->problem) {
		if (!recurrence_einsum_of_shape(reading->arena, beside->problem, out, &why))
			return reading_refuse(reading, map->map, "%s", why);
		recurrence_einsum_squeeze(out);
		return true;
	}
	const struct op *op = find_op(map, name, beside->workload);
	return op && (recurrence_einsum_of_op(reading->arena, beside->workload, op, out, &why) ||
			     reading_refuse(reading, name ? name : map->map, "%s", why));
}

/* The recurrence of an einsum, in tiles where the spec or a plan says so. */
static bool derive(struct reader *map, const struct space_time_form *form,
	const struct space_time_beside *beside, struct recurrence_einsum *einsum,
	struct space_time *out)
{
	struct arena *arena = map->reading->arena;
	const char *why = NULL;
	out->einsum = arena_copy(arena, einsum, sizeof *einsum);
	out->whole = &out->einsum->shape;
	if (!read_tiles(map->reading, form, einsum))
		return false;
	if (beside && beside->plan) {
		struct reader plan;
		struct space_time_form tiles = {0};
		if (!noun_open(&plan, map->reading, beside->plan, "projection", &space_time_noun))
			return false;
		fields_read_form(&plan, &space_time_noun, SPACE_TIME_TILES, &tiles, NULL);
		if (!read_tiles(map->reading, &tiles, einsum))
			return false;
	}
	return recurrence_einsum(arena, einsum, &out->recurrence, &why) ||
	       reading_refuse(map->reading, map->map, "%s", why);
}

bool space_time_body(struct reader *map, struct space_time_form *form,
	const struct space_time_beside *beside, struct space_time *out)
{
	const struct reading *reading = map->reading;
	struct recurrence *recurrence = &out->recurrence;
	const struct node *given[] = {form->equations, form->dependences, form->einsum};
	const struct node *first = NULL;
	for (int i = 0; i < 3; i++) {
		if (given[i] && first)
			return reading_refuse(map->reading, given[i],
				"dependences follow from equations and einsums; give one of them");
		first = first ? first : given[i];
	}
	bool is_beside = beside && (beside->problem || beside->workload);
	if (first && is_beside)
		return reading_refuse(map->reading, first,
			"the %s beside already gives the computation; remove one",
			beside->problem ? "problem" : "workload");
	if (!first && !is_beside)
		return reading_refuse(map->reading, map->map,
			"'space_time' needs 'equations', 'dependences' or an 'einsum', or a "
			"problem or workload beside");
	bool equations = form->equations || form->dependences;
	fields_read_form(map, &space_time_noun,
		(is_beside ? SPACE_TIME_BESIDE : SPACE_TIME_LOOPS) |
			(equations ? 0 : SPACE_TIME_TILES),
		form, NULL);
	if (equations)
		return read_loops(
			       reading, form->loops, recurrence->loops, &recurrence->loop_count) &&
		       read_condition(
			       reading, form->domain, "domain", recurrence, &recurrence->domain) &&
		       read_equations(map, form, recurrence);
	struct recurrence_einsum *einsum = arena_new(map->reading->arena, struct recurrence_einsum);
	if (is_beside ? !take_beside(map, form, beside, einsum)
		      : !read_loops(reading, form->loops, einsum->shape.dimensions,
				&einsum->shape.dimension_count) ||
				!read_einsum(reading, form->einsum, einsum))
		return false;
	if (form->domain)
		return reading_refuse(reading, form->domain,
			"an einsum is over all its loops; a 'domain' goes with equations");
	return derive(map, form, beside, einsum, out);
}

bool space_time_streams(const struct reading *reading, const struct node *list, const char *key,
	const struct recurrence *recurrence, uint32_t *out)
{
	size_t count = !list ? 0 : list->kind == NODE_LIST ? list->count : 1;
	bool good = true;
	for (size_t i = 0; i < count; i++) {
		const char *name = NULL, *known[RECURRENCE_STREAMS_MOST + 1] = {0};
		const struct node *item = node_item(list, i);
		if (!node_text(reading, item, key, &name)) {
			good = false;
			continue;
		}
		for (int k = 0; k < recurrence->stream_count; k++)
			known[k] = recurrence->streams[k].name;
		int stream = recurrence_stream_named(recurrence, name);
		if (stream >= 0) {
			*out |= UINT32_C(1) << stream;
			continue;
		}
		good = reading_refuse(reading, item, "'%s' is not a stream%s", name,
			suggestion(reading->arena, suggest(name, known), ""));
	}
	return good;
}

static int row_count(const struct space_time *spec)
{
	return spec->has_space ? spec->projection.space_count : spec->space_rows;
}

/* A row of space by name; -1 after complaining. */
static int find_row(const struct reading *reading, struct span span, const char *name,
	const struct space_time *spec)
{
	const char *known[RECURRENCE_LOOPS_MOST + 1] = {0};
	struct text all = text_open(reading->arena);
	for (int r = 0; r < row_count(spec); r++) {
		known[r] = spec->projection.space_names[r];
		text_add(&all, "%s%s", r ? ", " : "", known[r]);
		if (text_equal(known[r], name))
			return r;
	}
	const char *near = suggest(name, known);
	diag_error(reading->diag, span,
		near ? "'%s' is not a row of space; did you mean '%s'?"
		     : "'%s' is not a row of space; there are: %s",
		name, near ? near : text_read(&all));
	return -1;
}

static const struct field bans_fields[] = {
	{"no_link_transfer", FIELD_ANY,
		"streams that neighbours do not hand on, or those of each row",
		KEEP_ANY(struct ban_form, links)},
	{"no_reuse", FIELD_ANY, "streams that no wire carries, or those of each row",
		KEEP_ANY(struct ban_form, wires)},
	{"no_multicast_no_reduction", FIELD_ANY, "an older word for `no_reuse`",
		KEEP_ANY(struct ban_form, older_wires)},
	{0},
};
const struct noun bans_noun = {.name = "bans", .fields = bans_fields};

/* The rows of bans_noun that a map gives, with the streams of each row of space that they concern. */
struct ban {
	const char *key;
	const struct node *node;
	uint32_t *streams;
};

enum { BANS = 3 };

static void list_bans(const struct ban_form *form, struct space_time *spec, struct ban bans[BANS])
{
	bans[0] = (struct ban){"no_link_transfer", form->links, spec->no_links};
	bans[1] = (struct ban){"no_reuse", form->wires, spec->no_wires};
	bans[2] = (struct ban){"no_multicast_no_reduction", form->older_wires, spec->no_wires};
}

/* `[A]`: along all rows; `{p1: [A]}`. */
static void read_ban(const struct reading *reading, const struct ban *ban, struct space_time *out)
{
	const struct node *node = ban->node;
	uint32_t all = 0;
	if (!node)
		return;
	for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		int row = find_row(reading, entry->key_span, entry->key, out);
		if (row >= 0)
			space_time_streams(reading, entry->value, ban->key, &out->recurrence,
				&ban->streams[row]);
	}
	if (node->kind == NODE_MAP ||
		!space_time_streams(reading, node, ban->key, &out->recurrence, &all))
		return;
	for (int r = 0; r < row_count(out); r++)
		ban->streams[r] |= all;
}

struct target_form {
	const struct node *target, *nested, *spatial;
	int type;
	struct ban_form bans;
};

static const char *const target_types[] = {"spatial", NULL};

/* A constraint whose target is a row of space. */
static const struct field target_fields[] = {
	{"target", FIELD_TEXT, "a row of space", .required = true,
		KEEP(struct target_form, target)},
	{"constraints", FIELD_MAP, "bans, or `spatial` with the bans in it",
		KEEP(struct target_form, nested)},
	{"type", FIELD_CHOICE, .words = target_types, INTO(struct target_form, type)},
	{0},
};
static const struct noun *const with_bans[] = {&bans_noun, NULL};
static const struct noun target_noun = {
	.name = "row_constraint", .fields = target_fields, .parts = with_bans};

static const struct field nested_fields[] = {
	{"spatial", FIELD_MAP, .noun = &bans_noun, KEEP(struct target_form, spatial)},
	{0},
};
static const struct noun nested_noun = {
	.name = "row_bans", .fields = nested_fields, .parts = with_bans};

/* Reads the bans of the row that is the target. */
static void read_row_bans(
	struct reader *map, const char *name, const struct node *target, struct space_time *out)
{
	struct ban_form form = {0};
	struct ban bans[BANS];
	int row = find_row(map->reading, target->span, name, out);
	fields_read(map, &bans_noun, &form, NULL);
	list_bans(&form, out, bans);
	for (int k = 0; k < BANS; k++)
		if (bans[k].node && row >= 0)
			space_time_streams(map->reading, bans[k].node, bans[k].key,
				&out->recurrence, &bans[k].streams[row]);
}

/* {target: p1, type: spatial, constraints: {no_link_transfer: [A]}}, or the kinds beside the
 * type, or under `constraints: {spatial: ..}` without one. */
static void read_target(
	const struct reading *reading, const struct node *node, struct space_time *out)
{
	struct target_form form = {0};
	struct reader map, inner, spatial;
	const char *name = NULL;
	size_t before = diag_errors(reading->diag);
	if (!noun_open(&map, reading, node, "constraint", &target_noun))
		return;
	fields_read(&map, &target_noun, &form, NULL);
	if (diag_errors(reading->diag) > before ||
		!node_text(reading, form.target, "target", &name))
		return;
	if (!form.nested) {
		read_row_bans(&map, name, form.target, out);
	} else if (noun_open(&inner, reading, form.nested, "constraint", &nested_noun)) {
		fields_read(&inner, &nested_noun, &form, NULL);
		if (form.spatial &&
			noun_open(&spatial, reading, form.spatial, "constraint", &bans_noun)) {
			read_row_bans(&spatial, name, form.target, out);
			reader_done(&spatial);
		}
		if (!form.spatial)
			read_row_bans(&inner, name, form.target, out);
		reader_done(&inner);
	}
	reader_done(&map);
}

/* `lanes: 16`: the last row of space; `lanes: {k: 16}`. */
static void read_lanes(
	const struct reading *reading, const struct node *node, struct space_time *out)
{
	int64_t *lanes = out->projection.lanes;
	int rows = row_count(out);
	if (!node)
		return;
	if (!rows) {
		reading_refuse(reading, node, "the allocation has no row that could be lanes");
		return;
	}
	if (node->kind != NODE_MAP) {
		node_integer(reading, node, "lanes", 1, RECURRENCE_EXTENT_MOST, &lanes[rows - 1]);
		return;
	}
	for (size_t i = 0; i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		int row = find_row(reading, entry->key_span, entry->key, out);
		if (row >= 0)
			node_integer(reading, entry->value, entry->key, 1, RECURRENCE_EXTENT_MOST,
				&lanes[row]);
	}
}

void space_time_limits(struct reader *map, const struct space_time_form *form,
	const struct node *const *targets, struct space_time *out)
{
	const struct reading *reading = map->reading;
	const struct recurrence *recurrence = &out->recurrence;
	const struct node *array = form->array;
	out->reach = form->reach;
	space_time_streams(reading, form->stays, "stays", recurrence, &out->stays);
	if (array && array->count <= RECURRENCE_LOOPS_MOST)
		space_time_vector(reading, array, "'array'", (int)array->count, 1,
			RECURRENCE_EXTENT_MOST, out->array);
	else if (array)
		reading_refuse(reading, array, "'array' has at most 8 sizes");
	struct ban bans[BANS];
	list_bans(&form->bans, out, bans);
	for (int k = 0; k < BANS; k++)
		read_ban(reading, &bans[k], out);
	for (int i = 0; targets && targets[i]; i++)
		read_target(reading, targets[i], out);
	space_time_streams(
		reading, form->shuffle, "shuffle", recurrence, &out->projection.shuffles);
	read_lanes(reading, form->lanes, out);
}
