#include "search/graph/stream.h"

#include "base/array.h"

#include <inttypes.h>

enum { MEMORY_LISTS = 4096 };

struct asked {
	struct stream_question question;
	struct stream_answer answer;
	size_t before; /* with the same hash, plus 1 */
};

/* What has been asked in this call, and the answers. */
struct memory {
	struct arena *arena;
	struct array(struct asked) asked;
	size_t *heads; /* by hash of the question: the last that was asked, plus 1 */
};

static bool indices_alike(const struct affine *a, const struct affine *b, int loop_count)
{
	for (int l = 0; l < loop_count; l++)
		if (a->loop[l] != b->loop[l])
			return false;
	return a->offset == b->offset;
}

static bool operands_alike(
	const struct stream_question *a, const struct stream_question *b, int operand)
{
	const struct access *x = op_operand(a->op, operand), *y = op_operand(b->op, operand);
	const struct layout *first = &a->workload->tensors[x->tensor].layout;
	const struct layout *second = &b->workload->tensors[y->tensor].layout;
	if (!layout_equal(first, second) || first->host_rank != second->host_rank)
		return false;
	for (int d = 0; d < first->rank; d++)
		if (first->host_dim[d] != second->host_dim[d] || first->part[d] != second->part[d])
			return false;
	for (int h = 0; h < first->host_rank; h++)
		if (!indices_alike(&x->host[h], &y->host[h], a->op->loop_count))
			return false;
	return true;
}

/* Whether two questions must have the same answer. */
static bool questions_alike(const struct stream_question *a, const struct stream_question *b)
{
	if (a->in_lx != b->in_lx || a->arriving != b->arriving ||
		a->op->loop_count != b->op->loop_count || a->op->read_count != b->op->read_count)
		return false;
	for (int l = 0; l < a->op->loop_count; l++)
		if (a->op->loops[l].extent != b->op->loops[l].extent ||
			a->op->loops[l].reduction != b->op->loops[l].reduction ||
			mapping_split(a->arch, a->mapping, l) !=
				mapping_split(b->arch, b->mapping, l))
			return false;
	for (int i = 0; i <= a->op->read_count; i++)
		if (!operands_alike(a, b, i))
			return false;
	return true;
}

/* Questions that are alike have the same. */
static size_t hash(const struct stream_question *question)
{
	uint64_t h = question->in_lx | (uint64_t)question->arriving << 32;
	for (int l = 0; l < question->op->loop_count; l++) {
		h = (h ^ (uint64_t)question->op->loops[l].extent) * 0x9e3779b97f4a7c15u;
		h = (h ^ (uint64_t)mapping_split(question->arch, question->mapping, l)) *
		    0x9e3779b97f4a7c15u;
	}
	return (size_t)(h >> 40) % MEMORY_LISTS;
}

static const struct stream_answer *ask(
	struct memory *memory, const struct stream_question *question)
{
	size_t *head = &memory->heads[hash(question)];
	for (size_t i = *head; i; i = memory->asked.at[i - 1].before)
		if (questions_alike(&memory->asked.at[i - 1].question, question))
			return &memory->asked.at[i - 1].answer;
	struct stream_answer answer = stream_tiles(question, memory->arena);
	*array_add(memory->arena, &memory->asked) = (struct asked){*question, answer, *head};
	*head = memory->asked.count;
	return &memory->asked.at[*head - 1].answer;
}

static void set_tiles(struct plan *plan, int step, const int64_t *tiles, const int *order)
{
	struct mapping *mapping = &plan->steps[step].mapping;
	struct mapping_row *row = &mapping->rows[plan->arch->lx];
	for (int i = 0; i < mapping->loop_count; i++) {
		row->temporal[i] = (uint32_t)tiles[i];
		row->temporal_order[i] = (uint8_t)order[i];
	}
}

static const struct op *op_at(const struct plan *plan, int step)
{
	return &plan->workload->ops[plan->steps[step].op];
}

/* The operands of a step that the clones just before it bring. */
static uint32_t find_arriving(const struct plan *plan, int step)
{
	const struct op *op = op_at(plan, step);
	uint32_t arriving = 0;
	for (int before = step - 1; before >= 0 && plan_is_move(plan, before); before--)
		for (int i = 0; i < op->read_count; i++)
			if (op->reads[i].tensor == op_at(plan, before)->writes[0].tensor)
				arriving |= 1u << i;
	return arriving;
}

static bool tile_op(
	struct plan *plan, int step, struct memory *memory, struct arena *arena, const char **why)
{
	const struct op *op = op_at(plan, step);
	struct stream_question question = {
		.arch = plan->arch,
		.workload = plan->workload,
		.op = op,
		.mapping = &plan->steps[step].mapping,
		.arriving = find_arriving(plan, step),
	};
	for (int i = 0; i < op_operands(op); i++)
		if (plan_lx(plan, op_operand(op, i)->tensor, step))
			question.in_lx |= 1u << i;
	const struct stream_answer *answer = ask(memory, &question);
	if (answer->found) {
		set_tiles(plan, step, answer->tiles, answer->order);
		return true;
	}
	*why = arena_format(arena,
		"op '%s': its smallest tile buffers take %" PRId64 " bytes of a core's LX; %" PRId64
		" are kept for them",
		op->name, answer->least_room, arch_stream_capacity(plan->arch));
	return false;
}

/* The loop that alone walks host dimension h of an access, by steps of one from 0; -1. */
static int find_walking_loop(const struct op *op, const struct access *access, int h)
{
	int found = -1;
	for (int l = 0; l < op->loop_count; l++) {
		if (access->host[h].loop[l] == 0)
			continue;
		if (found >= 0 || access->host[h].loop[l] != 1)
			return -1;
		found = l;
	}
	return access->host[h].offset == 0 ? found : -1;
}

static int64_t elements_on_core(const struct plan *plan, int step, int l)
{
	const struct op *op = op_at(plan, step);
	int64_t split = mapping_split(plan->arch, &plan->steps[step].mapping, l);
	return op_units(plan->workload, op, l) / split * op_grain(plan->workload, op, l);
}

/* How loops of a clone correspond to those of its reader: same dimension, same share; else -1. */
static void match_loops(
	const struct plan *plan, int clone, int reader, const struct access *use, int *matches)
{
	const struct op *op = op_at(plan, clone);
	const struct access *made = &op->writes[0];
	const struct layout *layout = &plan->workload->tensors[made->tensor].layout;
	for (int l = 0; l < op->loop_count; l++)
		matches[l] = -1;
	for (int h = 0; h < layout->host_rank; h++) {
		int own = find_walking_loop(op, made, h);
		int other = find_walking_loop(op_at(plan, reader), use, h);
		if (own < 0 || other < 0 ||
			elements_on_core(plan, clone, own) != elements_on_core(plan, reader, other))
			continue;
		int64_t units = op_units(plan->workload, op, own) /
				mapping_split(plan->arch, &plan->steps[clone].mapping, own);
		uint32_t tiles = plan->steps[reader].mapping.rows[plan->arch->lx].temporal[other];
		if (units % tiles == 0)
			matches[own] = other;
	}
}

static bool contains(const int *list, int count, int value)
{
	for (int i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* Tiles a clone as its reader is, in the same order; one tile without a reader in its phase. */
static void tile_clone(struct plan *plan, int step, int reader)
{
	const struct op *op = op_at(plan, step);
	int64_t tiles[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST], matches[OP_LOOPS_MOST], count = 0;
	for (int l = 0; l < op->loop_count; l++) {
		tiles[l] = 1;
		matches[l] = -1;
	}
	for (int i = 0; reader >= 0 && i < op_at(plan, reader)->read_count; i++) {
		const struct access *use = &op_at(plan, reader)->reads[i];
		if (use->tensor == op->writes[0].tensor)
			match_loops(plan, step, reader, use, matches);
	}
	for (int i = 0; reader >= 0 && i < op_at(plan, reader)->loop_count; i++) {
		const struct mapping_row *row = &plan->steps[reader].mapping.rows[plan->arch->lx];
		int other = row->temporal_order[i];
		for (int l = 0; l < op->loop_count; l++)
			if (matches[l] == other) {
				tiles[l] = row->temporal[other];
				order[count++] = l;
			}
	}
	for (int l = 0; l < op->loop_count; l++)
		if (!contains(order, count, l))
			order[count++] = l;
	set_tiles(plan, step, tiles, order);
}

bool stream_plan(
	struct plan *plan, const struct stopper *stopper, struct arena *arena, const char **why)
{
	struct memory memory = {.arena = arena_open()};
	memory.heads = arena_array(memory.arena, size_t, MEMORY_LISTS);
	int reader = -1;
	bool tiled = true;
	for (int step = plan->step_count - 1; step >= 0 && tiled && !stopper_stops(stopper);
		step--) {
		if (!op_is_tiled(op_at(plan, step))) {
			reader = -1;
		} else if (plan_is_move(plan, step)) {
			tile_clone(plan, step, reader);
		} else if (plan_is_evict(plan, step)) {
			tile_clone(plan, step, -1);
			reader = -1;
		} else {
			tiled = tile_op(plan, step, &memory, arena, why);
			reader = step;
		}
	}
	arena_close(memory.arena);
	return tiled;
}
