#include "model/recurrence/space_time_read.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/graph/einsum.h"

#include <string.h>

struct einsum_draft {
	const struct reading *reading;
	const struct node *text;
	const struct recurrence *recurrence;
	uint32_t named; /* loops, as bits */
};

static bool refuse(const struct einsum_draft *draft, size_t at, size_t end, const char *why)
{
	diag_error(draft->reading->diag, node_part(draft->text, at, end), "%s", why);
	return false;
}

/* The loop of a word; -1 after complaining. */
static int loop_of(struct einsum_draft *draft, const struct word *word)
{
	int loop = recurrence_loop_named(draft->recurrence, word->text);
	if (loop >= 0) {
		draft->named |= UINT32_C(1) << loop;
		return loop;
	}
	struct arena *arena = draft->reading->arena;
	refuse(draft, word->at, word->end,
		arena_format(arena, "'%s' is no loop%s", word->text,
			suggestion(arena, recurrence_loop_near(draft->recurrence, word->text),
				"; 'loops' wants its extent")));
	return -1;
}

static bool read_operand(struct einsum_draft *draft, const struct einsum_operand *from,
	struct recurrence_operand *to, uint32_t *loops)
{
	*to = (struct recurrence_operand){.name = from->tensor.text,
		.rank = from->index_count,
		.span = node_part(draft->text, from->at, from->end)};
	for (int k = 0; k < from->index_count; k++)
		for (int t = 0; t < from->indices[k].term_count; t++) {
			const struct einsum_term *term = &from->indices[k].terms[t];
			int loop = term->dimension.text ? loop_of(draft, &term->dimension) : -1;
			if (term->dimension.text && loop < 0)
				return false;
			int64_t *sum = loop < 0 ? &to->place[k].constant : &to->place[k].at[loop];
			if (!number_add(*sum, term->factor, sum))
				return refuse(draft, from->indices[k].at, from->indices[k].end,
					"the number is too large");
			*loops |= loop < 0 ? 0 : UINT32_C(1) << loop;
		}
	return true;
}

/* Every loop indexes the result or is reduced, and not both. */
static bool check_loops(
	struct einsum_draft *draft, const struct einsum *einsum, uint32_t written, uint32_t reduced)
{
	const struct recurrence *recurrence = draft->recurrence;
	struct arena *arena = draft->reading->arena;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const char *name = recurrence->loops[i].name, *why = NULL;
		uint32_t bit = UINT32_C(1) << i;
		if (!(draft->named & bit))
			why = "nothing in the einsum has the loop '%s'";
		else if (!(written & bit) && !(reduced & bit))
			why = "'%s' does not index the result; sum(%s) would reduce it";
		else if (written & bit && reduced & bit)
			why = "'%s' indexes the result, and is reduced";
		if (why)
			return refuse(draft, einsum->output.at, einsum->output.end,
				arena_format(arena, why, name, name));
	}
	return true;
}

/* A tensor has one rank. */
static bool check_ranks(struct einsum_draft *draft, const struct einsum *parsed,
	const struct recurrence_einsum *einsum)
{
	for (int i = 0; i < einsum->operand_count - 1; i++)
		for (int k = 0; k < i; k++)
			if (text_equal(einsum->operands[i].name, einsum->operands[k].name) &&
				einsum->operands[i].rank != einsum->operands[k].rank)
				return refuse(draft, parsed->reads[i].at, parsed->reads[i].end,
					arena_format(draft->reading->arena,
						"'%s' has %d indices elsewhere",
						einsum->operands[i].name,
						einsum->operands[k].rank));
	return true;
}

bool space_time_einsum(const struct reading *reading, const struct node *text,
	const struct recurrence *recurrence, struct recurrence_einsum *einsum)
{
	struct einsum_draft draft = {.reading = reading, .text = text, .recurrence = recurrence};
	struct einsum *parsed = arena_new(reading->arena, struct einsum);
	struct einsum_fault fault;
	uint32_t written = 0, reduced = 0, read = 0;
	*einsum = (struct recurrence_einsum){0};
	if (text->kind != NODE_SCALAR)
		return reading_refuse(reading, text,
			"'einsum' is a text such as \"C[m,n] = sum(k) A[m,k] * B[k,n]\"");
	if (!einsum_parse(reading->arena, text->text, parsed, &fault))
		return refuse(&draft, fault.at, fault.end, fault.text);
	if (!recurrence_einsum_sum(parsed->primitive, parsed->has_constant, &einsum->sum))
		return reading_refuse(reading, text, "no sum of products, and no sum, max or min");
	for (int i = 0; i <= parsed->read_count; i++) {
		const struct einsum_operand *from =
			i < parsed->read_count ? &parsed->reads[i] : &parsed->output;
		if (!read_operand(&draft, from, &einsum->operands[einsum->operand_count++],
			    i < parsed->read_count ? &read : &written))
			return false;
	}
	for (int i = 0; i < parsed->reduction_count && i < RECURRENCE_LOOPS_MOST; i++) {
		int loop = loop_of(&draft, &parsed->reductions[i]);
		if (loop < 0)
			return false;
		reduced |= UINT32_C(1) << loop;
		einsum->order[einsum->order_count++] = loop;
	}
	return check_loops(&draft, parsed, written, reduced) && check_ranks(&draft, parsed, einsum);
}

const struct op *space_time_op(
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
	const struct reading *reading, const struct node *node, const struct recurrence *recurrence)
{
	const char *name = NULL;
	if (!node_text(reading, node, "a loop", &name))
		return -1;
	int loop = recurrence_loop_named(recurrence, name);
	if (loop >= 0)
		return loop;
	reading_refuse(reading, node, "'%s' is no loop%s", name,
		suggestion(reading->arena, recurrence_loop_near(recurrence, name), ""));
	return -1;
}

/* A list of loops, each once; the number of them, -1 after complaining. */
static int read_loop_list(
	struct reader *map, const char *key, const struct recurrence *recurrence, int *loops)
{
	const struct node *list = read_node(map, key, OPTIONAL);
	size_t count = !list ? 0 : list->kind == NODE_LIST ? list->count : 1;
	uint32_t seen = 0;
	for (size_t i = 0; i < count; i++) {
		const struct node *item = node_item(list, i);
		int loop = named_loop(map->reading, item, recurrence);
		if (loop < 0)
			return -1;
		if (seen >> loop & 1) {
			reading_refuse(map->reading, item, "the loop '%s' is there twice",
				recurrence->loops[loop].name);
			return -1;
		}
		seen |= UINT32_C(1) << loop;
		loops[i] = loop;
	}
	return (int)count;
}

static bool read_splits(
	struct reader *map, struct recurrence_einsum *einsum, struct recurrence *recurrence)
{
	const struct node *node = read_map(map, "split", OPTIONAL);
	const struct recurrence whole = *recurrence;
	const char *why = NULL;
	bool good = true;
	for (size_t i = 0; node && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		const char *what = arena_format(map->reading->arena, "'%s' in split", entry->key);
		int loop = recurrence_loop_named(&whole, entry->key);
		int64_t size = 0;
		if (loop < 0)
			diag_error(
				map->reading->diag, entry->key_span, "'%s' is no loop", entry->key);
		good = node_integer(map->reading, entry->value, what, 1, RECURRENCE_EXTENT_MOST,
			       &size) &&
		       loop >= 0 && good;
		if (good && !recurrence_einsum_split(
				    map->reading->arena, einsum, recurrence, loop, size, &why))
			good = reading_refuse(map->reading, entry->value, "%s", why);
	}
	return good;
}

/* `load: {B: [k, m]}`: B is shifted in along k before m begins. */
static bool read_loads(
	struct reader *map, struct recurrence_einsum *einsum, const struct recurrence *recurrence)
{
	const struct reading *reading = map->reading;
	const struct node *node = read_map(map, "load", OPTIONAL);
	for (size_t i = 0; node && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		int operand = -1;
		for (int k = 0; k < einsum->operand_count - 1; k++)
			if (text_equal(einsum->operands[k].name, entry->key))
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
		int along = named_loop(reading, entry->value->items[0], recurrence);
		int before = named_loop(reading, entry->value->items[1], recurrence);
		if (along < 0 || before < 0)
			return false;
		if (einsum->load_count == SHAPE_SPACES_MOST)
			return reading_refuse(reading, node, "too many operands are shifted in");
		einsum->loads[einsum->load_count++] =
			(struct recurrence_load){operand, along, before};
	}
	return true;
}

bool space_time_tiles(
	struct reader *map, struct recurrence_einsum *einsum, struct recurrence *recurrence)
{
	int loops[RECURRENCE_LOOPS_MOST];
	if (!read_splits(map, einsum, recurrence)) {
		/* What else they list may be tiles, which there are none of now. */
		static const char *const keys[] = {"sum", "reread", "load"};
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			read_node(map, keys[i], OPTIONAL);
		return false;
	}
	int count = read_loop_list(map, "sum", recurrence, loops);
	if (count > 0) {
		einsum->order_count = count;
		memcpy(einsum->order, loops, sizeof loops);
	}
	int reread = read_loop_list(map, "reread", recurrence, loops);
	for (int i = 0; i < reread; i++)
		einsum->reread |= UINT32_C(1) << loops[i];
	return read_loads(map, einsum, recurrence) && count >= 0 && reread >= 0;
}
