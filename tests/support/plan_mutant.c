#include "tests/support/plan_mutant.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/graph/run.h"
#include "tests/support/draws.h"
#include "tests/support/random_plan.h"
#include "tests/support/random_view.h"

#include <string.h>

const char *const mutation_names[] = {"division", "alike", "tiles", "bundle", "stay", "in place",
	"move in", "move out", "relayout", "move", "no move", "run", "no run"};

static int op_count(const struct plan_draft *draft)
{
	return (int)draft->workload->op_count;
}

static int draw_op(struct random *random, const struct plan_draft *draft)
{
	return (int)draw_below(random, op_count(draft));
}

/* The op as a step has it: one part of a run. */
static const struct op *part_of(const struct plan_draft *draft, int o, struct arena *arena)
{
	return run_op(arena, draft->workload, &draft->workload->ops[o], draft_run(draft, o), 0);
}

/* One loop more or less divided. */
static void nudge(struct random *random, const struct plan_draft *draft, const struct op *op,
	struct mapping *mapping, struct arena *arena)
{
	struct mapping_row *row = &mapping->rows[draft->arch->core];
	int l = op->loop_count ? (int)draw_below(random, op->loop_count) : -1;
	if (l < 0 || op_units(draft->workload, op, l) < 1)
		return;
	struct divisors divisors = number_divisors(arena, op_units(draft->workload, op, l));
	row->spatial[l] = (uint32_t)divisors.at[draw_below(random, (int64_t)divisors.count)];
	if (mapping_cores(draft->arch, mapping) > draft->cores)
		for (int k = 0; k < op->loop_count; k++)
			row->spatial[k] = k == l ? row->spatial[l] : 1;
	if (draw_chance(random, 3))
		draw_shuffle(random, row->spatial_order, op->loop_count);
}

static void few_tiles(struct random *random, const struct plan_draft *draft, const struct op *op,
	struct mapping *mapping, struct arena *arena)
{
	struct mapping_row *row = &mapping->rows[draft->arch->lx];
	for (int l = 0; l < op->loop_count; l++)
		if (op_units(draft->workload, op, l) % mapping_split(draft->arch, mapping, l))
			mapping->rows[draft->arch->core].spatial[l] =
				1; /* as in a run of other parts */
	random_tiles(random, draft->arch, draft->workload, op, mapping, arena);
	for (int l = 0; l < op->loop_count; l++)
		if (draw_chance(random, 2))
			row->temporal[l] = 1;
}

static void mutate_division(
	struct random *random, struct plan_draft *draft, int o, struct arena *arena)
{
	const struct op *op = part_of(draft, o, arena);
	struct mapping *mapping = &draft->ops[o].mapping;
	if (!op_is_tiled(op))
		return;
	if (draw_chance(random, 3))
		*mapping = random_mapping(
			random, draft->arch, draft->cores, draft->workload, op, arena);
	else
		nudge(random, draft, op, mapping, arena);
	few_tiles(random, draft, op, mapping, arena);
}

/* A shared tensor of two ops. */
static bool find_shared(const struct op *a, const struct op *b, int *i, int *j)
{
	for (*i = op_operands(a) - 1; *i >= 0; --*i)
		for (*j = op_operands(b) - 1; *j >= 0; --*j)
			if (op_operand(a, *i)->tensor == op_operand(b, *j)->tensor)
				return true;
	return false;
}

/* Ops [first, end) are divided as op `model` is, as far as they share tensors with one that already is. */
static void divide_alike(struct random *random, struct plan_draft *draft, int first, int end,
	int model, struct arena *arena)
{
	struct plan plan = {.arch = draft->arch, .workload = draft->workload};
	uint32_t done = 1u << model;
	for (bool more = true; more;) {
		more = false;
		for (int a = first; a < end; a++)
			for (int b = first; b < end; b++) {
				int i, j;
				const struct op *from = part_of(draft, a, arena);
				const struct op *to = part_of(draft, b, arena);
				if (!(done >> a & 1) || done >> b & 1 || !op_is_tiled(to) ||
					!find_shared(from, to, &i, &j))
					continue;
				random_follow(&plan, from, op_operand(from, i),
					&draft->ops[a].mapping, to, op_operand(to, j),
					&draft->ops[b].mapping);
				few_tiles(random, draft, to, &draft->ops[b].mapping, arena);
				done |= 1u << b;
				more = true;
			}
	}
}

static struct draft_stay draw_stay(
	struct random *random, const struct plan_draft *draft, int tensor)
{
	struct draft_stay stay = {.in_lx = true};
	int users[DRAFT_OPS_MOST], count = 0;
	uint32_t readers = draft_readers(draft->workload, tensor);
	for (int o = 0; o < op_count(draft); o++)
		if (readers >> o & 1 || draft->workload->tensors[tensor].producer == o)
			users[count++] = o;
	stay.op = count ? users[draw_below(random, count)] : 0;
	stay.view.cores = 1;
	for (int k = 0; k < count; k++)
		stay.view.cores = number_max(
			stay.view.cores, mapping_cores(draft->arch, &draft->ops[users[k]].mapping));
	switch (draw_below(random, 6)) {
	case 0:
	case 1:
		stay.rule = VIEW_WHOLE;
		break;
	case 2:
		stay.rule = VIEW_GIVEN;
		stay.view =
			random_view(random, &draft->workload->tensors[tensor].layout, draft->cores);
		break;
	default:
		stay.rule = VIEW_OF_OP;
	}
	return stay;
}

/* The moves before an op come first; those of equal places as they were. */
static struct draft_move *insert_move(struct plan_draft *draft, int before)
{
	int at = 0;
	if (draft->move_count == DRAFT_MOVES_MOST)
		return NULL;
	while (at < draft->move_count && draft->moves[at].before <= before)
		at++;
	for (int m = draft->move_count++; m > at; m--)
		draft->moves[m] = draft->moves[m - 1];
	for (int m = 0; m < draft->move_count; m++)
		if (m != at && draft->moves[m].from >= at)
			draft->moves[m].from++;
	draft->moves[at] = (struct draft_move){.before = before, .from = -1};
	return &draft->moves[at];
}

static void remove_move(struct plan_draft *draft, int at)
{
	draft->move_count--;
	for (int m = at; m < draft->move_count; m++)
		draft->moves[m] = draft->moves[m + 1];
	for (int m = 0; m < draft->move_count; m++) {
		struct draft_move *move = &draft->moves[m];
		if (move->from == at)
			move->from = -1;
		else if (move->from > at)
			move->from--;
	}
}

/* All readers from an op on, one, or some. */
static uint32_t draw_readers(struct random *random, uint32_t readers, int before)
{
	readers &= ~0u << before;
	switch (draw_below(random, 4)) {
	case 0:
		return readers & (uint32_t)random_next(random);
	case 1:
		return readers & -readers;
	default:
		return readers;
	}
}

static void draw_move_tiles(
	struct random *random, const struct plan_draft *draft, struct draft_move *move)
{
	static const uint32_t tiles[] = {1, 1, 1, 2, 3, 4, 6, 8, 12, 16, 32};
	const struct layout *layout = &draft->workload->tensors[move->tensor].layout;
	int loops = 0;
	for (int h = 0; h < layout->host_rank; h++)
		loops += layout->host_size[h] > 1;
	for (int l = 0; l < loops; l++) {
		move->tiles[l] = tiles[draw_below(random, 11)];
		move->order[l] = (uint8_t)l;
	}
	draw_shuffle(random, move->order, loops);
}

/* A place from which on a tensor is there, of an evict also behind all that read it. */
static int draw_place(
	struct random *random, const struct plan_draft *draft, enum move_kind kind, int tensor)
{
	int first = draft->workload->tensors[tensor].producer + 1;
	uint32_t readers = draft_readers(draft->workload, tensor);
	int last = first;
	for (int o = first; o < op_count(draft); o++)
		if (readers >> o & 1)
			last = o + (kind == MOVE_EVICT);
	return first + (int)draw_below(random, last - first + 1);
}

/* An output of the graph has to leave LX as well. */
static void mutate_stay(struct random *random, struct plan_draft *draft)
{
	int o = draw_op(random, draft);
	const struct op *op = &draft->workload->ops[o];
	int tensor = op->writes[0].tensor;
	if (op->write_count != 1)
		return;
	draft->ops[o].stay = (struct draft_stay){0};
	if (draw_chance(random, 4))
		return;
	draft->ops[o].stay = draw_stay(random, draft, tensor);
	int before = draw_place(random, draft, MOVE_EVICT, tensor);
	if (draft->workload->tensors[tensor].role != TENSOR_OUTPUT)
		return;
	struct draft_move *out = insert_move(draft, before);
	if (!out)
		return;
	out->kind = MOVE_EVICT;
	out->tensor = tensor;
	draw_move_tiles(random, draft, out);
}

/* A tensor that some op reads; -1. */
static int draw_read(struct random *random, const struct plan_draft *draft)
{
	const struct op *op = &draft->workload->ops[draw_op(random, draft)];
	return op->read_count ? op->reads[draw_below(random, op->read_count)].tensor : -1;
}

static void mutate_move_in(struct random *random, struct plan_draft *draft)
{
	int tensor = draw_read(random, draft);
	if (tensor < 0)
		return;
	bool input = draft->workload->tensors[tensor].producer < 0;
	enum move_kind kind = input ? MOVE_CLONE : MOVE_RELOAD;
	int before = draw_place(random, draft, kind, tensor);
	struct draft_move *move = before < op_count(draft) ? insert_move(draft, before) : NULL;
	if (!move)
		return;
	move->kind = kind;
	move->tensor = tensor;
	move->readers = draw_readers(random, draft_readers(draft->workload, tensor), before);
	move->begins_bundle = draw_chance(random, 4);
	move->stay = draw_stay(random, draft, tensor);
	draw_move_tiles(random, draft, move);
}

/* Draws a tensor in LX: the output of an op, or the copy that a move made. */
static bool draw_in_lx(
	struct random *random, const struct plan_draft *draft, int *tensor, int *from)
{
	*from = (int)draw_below(random, draft->move_count + 1) - 1;
	if (*from >= 0) {
		*tensor = draft->moves[*from].tensor;
		return draft->moves[*from].stay.in_lx;
	}
	int o = draw_op(random, draft);
	*tensor = draft->workload->ops[o].writes[0].tensor;
	return draft->ops[o].stay.in_lx;
}

static struct draft_move *add_from_lx(
	struct random *random, struct plan_draft *draft, enum move_kind kind)
{
	int tensor, from;
	if (!draw_in_lx(random, draft, &tensor, &from))
		return NULL;
	int before = draw_place(random, draft, kind, tensor);
	if (from >= 0 && before < draft->moves[from].before)
		before = draft->moves[from].before;
	if (before >= op_count(draft) + (kind == MOVE_EVICT))
		return NULL;
	struct draft_move *move = insert_move(draft, before);
	if (!move)
		return NULL;
	*move = (struct draft_move){.kind = kind,
		.tensor = tensor,
		.from = from,
		.before = before,
		.begins_bundle = draw_chance(random, 3),
		.readers = draw_readers(random, draft_readers(draft->workload, tensor), before)};
	draw_move_tiles(random, draft, move);
	return move;
}

static void mutate_move_out(struct random *random, struct plan_draft *draft)
{
	struct draft_move *out = add_from_lx(random, draft, MOVE_EVICT);
	if (!out || out->before == op_count(draft) || draw_chance(random, 2))
		return;
	int at = (int)(out - draft->moves), tensor = out->tensor;
	uint32_t readers = out->readers;
	int last = out->before + (int)draw_below(random, op_count(draft) - out->before);
	struct draft_move *in = insert_move(draft, last);
	if (!in)
		return;
	*in = (struct draft_move){.kind = MOVE_RELOAD,
		.tensor = tensor,
		.from = at,
		.before = last,
		.readers = draw_readers(random, readers, last),
		.stay = draw_stay(random, draft, tensor)};
	draw_move_tiles(random, draft, in);
}

static void mutate_relayout(struct random *random, struct plan_draft *draft)
{
	struct draft_move *move = add_from_lx(random, draft, MOVE_RELAYOUT);
	if (move)
		move->stay = draw_stay(random, draft, move->tensor);
}

static void mutate_move(struct random *random, struct plan_draft *draft)
{
	if (!draft->move_count)
		return;
	int at = (int)draw_below(random, draft->move_count);
	struct draft_move move = draft->moves[at];
	int before;
	switch (draw_below(random, 5)) {
	case 0: /* elsewhere */
		before = draw_place(random, draft, move.kind, move.tensor);
		remove_move(draft, at);
		struct draft_move *moved = before < op_count(draft) + (move.kind == MOVE_EVICT)
						   ? insert_move(draft, before)
						   : NULL;
		if (!moved)
			return;
		*moved = move;
		moved->before = before;
		moved->from = move.from > moved - draft->moves ? -1 : move.from;
		return;
	case 1:
		draft->moves[at].readers = draw_readers(
			random, draft_readers(draft->workload, move.tensor), move.before);
		return;
	case 2:
		if (move.stay.in_lx)
			draft->moves[at].stay = draw_stay(random, draft, move.tensor);
		return;
	default:
		draw_move_tiles(random, draft, &draft->moves[at]);
	}
}

static void mutate_bundle(struct random *random, struct plan_draft *draft)
{
	int at = (int)draw_below(random, op_count(draft) + draft->move_count);
	bool *begins = at < op_count(draft) ? &draft->ops[at].begins_bundle
					    : &draft->moves[at - op_count(draft)].begins_bundle;
	*begins = !*begins;
}

static void mutate_in_place(struct random *random, struct plan_draft *draft)
{
	int o = draw_op(random, draft);
	int reads = draft->workload->ops[o].read_count;
	draft->ops[o].in_place_of =
		draft->ops[o].in_place_of ? 0 : 1 + (int)draw_below(random, reads);
}

static void remove_run(struct plan_draft *draft, int at)
{
	draft->run_count--;
	for (int r = at; r < draft->run_count; r++)
		draft->runs[r] = draft->runs[r + 1];
}

/* Mappings of ops whose parts have changed begin again. */
static void divide_anew(
	struct random *random, struct plan_draft *draft, int first, int end, struct arena *arena)
{
	int model = first + (int)draw_below(random, end - first);
	for (int o = first; o < end; o++)
		draft->ops[o].mapping = mapping_make(draft->arch, &draft->workload->ops[o]);
	for (int k = 0; k < 3; k++)
		nudge(random, draft, part_of(draft, model, arena), &draft->ops[model].mapping,
			arena);
	few_tiles(random, draft, part_of(draft, model, arena), &draft->ops[model].mapping, arena);
	divide_alike(random, draft, first, end, model, arena);
}

/* All ops of a run are divided alike, by loops that they all have, over as many cores as there are. */
static void divide_evenly(
	struct random *random, struct plan_draft *draft, int first, int end, struct arena *arena)
{
	const struct workload *workload = draft->workload;
	const struct op *model = &workload->ops[first];
	const char *name = model->loops[draw_below(random, model->loop_count)].name;
	int64_t units = 0;
	int loops[DRAFT_OPS_MOST];
	for (int o = first; o < end; o++) {
		const struct op *op = &workload->ops[o];
		const struct tile_run run = {.loop_count = 1, .loops = {{name, 1}}};
		loops[o] = run_loop(op, &run, 0);
		if (loops[o] < 0) {
			divide_anew(random, draft, first, end, arena);
			return;
		}
		units = number_gcd(units, op_units(workload, part_of(draft, o, arena), loops[o]));
	}
	int64_t split = number_min(draft->cores, number_max(units, 1));
	while (units % split)
		split--;
	for (int o = first; o < end; o++) {
		struct mapping *mapping = &draft->ops[o].mapping;
		*mapping = mapping_make(draft->arch, &workload->ops[o]);
		mapping->rows[draft->arch->core].spatial[loops[o]] = (uint32_t)split;
		few_tiles(random, draft, part_of(draft, o, arena), mapping, arena);
	}
}

static bool has_reader_behind(const struct plan_draft *draft, int tensor, int end)
{
	return end < 32 && draft_readers(draft->workload, tensor) >> end;
}

/* Puts tensors that live inside into LX, and removes moves inside. */
static void settle_inside(struct random *random, struct plan_draft *draft, int first, int end)
{
	for (int m = draft->move_count - 1; m >= 0; m--)
		if (draft->moves[m].before > first && draft->moves[m].before < end)
			remove_move(draft, m);
	for (int o = first; o < end; o++) {
		int tensor = draft->workload->ops[o].writes[0].tensor;
		if (draft->workload->tensors[tensor].role == TENSOR_INTERMEDIATE &&
			!has_reader_behind(draft, tensor, end))
			draft->ops[o].stay =
				(struct draft_stay){.in_lx = true, .rule = VIEW_OF_OP, .op = o};
		else if (draw_chance(random, 2))
			draft->ops[o].stay = (struct draft_stay){0};
	}
}

/* Every op has the loops, and something to do in the first iteration. */
static bool has_parts(
	const struct plan_draft *draft, const struct tile_run *run, struct arena *arena)
{
	for (int o = run->first; o < run->end; o++) {
		const struct op *op = &draft->workload->ops[o];
		for (int k = 0; k < run->loop_count; k++) {
			int l = run_loop(op, run, k);
			if (l < 0 || run_part(draft->workload, op, run, 0, l).count < 1 ||
				run->loops[k].tiles > op_units(draft->workload, op, l))
				return false;
		}
		const struct op *part = run_op(arena, draft->workload, op, run, 0);
		for (int l = 0; l < part->loop_count; l++)
			if (op_units(draft->workload, part, l) < 1)
				return false;
	}
	return true;
}

static void mutate_run(struct random *random, struct plan_draft *draft, struct arena *arena)
{
	static const int64_t few[] = {2, 2, 2, 3, 4, 4, 5, 8, 16};
	int first = draw_op(random, draft);
	int end = first + 1 + (int)draw_below(random, op_count(draft) - first);
	for (int r = draft->run_count - 1; r >= 0; r--)
		if (draft->runs[r].first < end && first < draft->runs[r].end)
			remove_run(draft, r);
	const struct op *op = &draft->workload->ops[first];
	if (draft->run_count == DRAFT_RUNS_MOST || !op->loop_count)
		return;
	struct tile_run run = {.first = first, .end = end};
	int loops = 1 + draw_chance(random, 5), l = (int)draw_below(random, op->loop_count);
	for (int k = 0; k < loops && k < op->loop_count; k++, l = (l + 1) % op->loop_count) {
		int64_t units = op_units(draft->workload, op, l);
		struct divisors divisors = number_divisors(arena, units);
		int64_t tiles = draw_chance(random, 2)
					? divisors.at[draw_below(random, (int64_t)divisors.count)]
					: number_min(few[draw_below(random, 9)], units);
		run.loops[run.loop_count++] = (struct run_loop){op->loops[l].name, tiles};
	}
	int at = 0;
	while (at < draft->run_count && draft->runs[at].first < first)
		at++;
	for (int r = draft->run_count++; r > at; r--)
		draft->runs[r] = draft->runs[r - 1];
	draft->runs[at] = run;
	if (!has_parts(draft, &run, arena)) {
		remove_run(draft, at);
		return;
	}
	settle_inside(random, draft, first, end);
	if (draw_chance(random, 2))
		divide_anew(random, draft, first, end, arena);
	else
		divide_evenly(random, draft, first, end, arena);
}

static void mutate_no_run(struct random *random, struct plan_draft *draft, struct arena *arena)
{
	if (!draft->run_count)
		return;
	int r = (int)draw_below(random, draft->run_count);
	int first = draft->runs[r].first, end = draft->runs[r].end;
	remove_run(draft, r);
	divide_anew(random, draft, first, end, arena);
}

enum mutation draft_mutate(
	struct random *random, struct plan_draft *draft, bool relayouts, struct arena *arena)
{
	enum mutation mutation = (enum mutation)draw_below(random, MUTATIONS);
	if (mutation == MUTATE_RELAYOUT && !relayouts)
		mutation = MUTATE_MOVE_IN;
	int o = draw_op(random, draft);
	switch (mutation) {
	case MUTATE_DIVISION:
		mutate_division(random, draft, o, arena);
		break;
	case MUTATE_ALIKE:
		mutate_division(random, draft, o, arena);
		divide_alike(random, draft, 0, op_count(draft), o, arena);
		break;
	case MUTATE_TILES:
		if (op_is_tiled(&draft->workload->ops[o]))
			few_tiles(random, draft, part_of(draft, o, arena), &draft->ops[o].mapping,
				arena);
		break;
	case MUTATE_BUNDLE:
		mutate_bundle(random, draft);
		break;
	case MUTATE_STAY:
		mutate_stay(random, draft);
		break;
	case MUTATE_IN_PLACE:
		mutate_in_place(random, draft);
		break;
	case MUTATE_MOVE_IN:
		mutate_move_in(random, draft);
		break;
	case MUTATE_MOVE_OUT:
		mutate_move_out(random, draft);
		break;
	case MUTATE_RELAYOUT:
		mutate_relayout(random, draft);
		break;
	case MUTATE_MOVE:
		mutate_move(random, draft);
		break;
	case MUTATE_NO_MOVE:
		if (draft->move_count)
			remove_move(draft, (int)draw_below(random, draft->move_count));
		break;
	case MUTATE_RUN:
		mutate_run(random, draft, arena);
		break;
	default:
		mutate_no_run(random, draft, arena);
	}
	return mutation;
}

/* --- shrinking */

typedef bool draft_holds(const struct plan_draft *draft, void *context);

static bool take_back_op(const struct plan_draft *from, struct plan_draft *to, int o,
	draft_holds *holds, void *context)
{
	struct plan_draft tried = *to;
	bool taken = false;
	tried.ops[o] = from->ops[o];
	if (memcmp(&tried.ops[o], &to->ops[o], sizeof tried.ops[o]) && holds(&tried, context)) {
		*to = tried;
		return true;
	}
	for (int part = 0; part < 4; part++) {
		tried = *to;
		struct draft_op *op = &tried.ops[o];
		if (part == 0)
			op->mapping = from->ops[o].mapping;
		else if (part == 1)
			op->begins_bundle = from->ops[o].begins_bundle;
		else if (part == 2)
			op->in_place_of = 0;
		else
			op->stay = from->ops[o].stay;
		if (memcmp(op, &to->ops[o], sizeof *op) && holds(&tried, context)) {
			*to = tried;
			taken = true;
		}
	}
	return taken;
}

/* The fewest tiles of shared loops; what streams inside keeps its size. */
static bool take_back_tiles(
	struct plan_draft *to, int r, struct arena *arena, draft_holds *holds, void *context)
{
	for (int k = 0; k < to->runs[r].loop_count; k++) {
		int64_t tiles = to->runs[r].loops[k].tiles;
		struct divisors divisors = number_divisors(arena, tiles);
		for (size_t i = 1; i + 1 < divisors.count; i++) {
			struct plan_draft tried = *to;
			struct tile_run *run = &tried.runs[r];
			run->loops[k].tiles = divisors.at[i];
			for (int o = run->first; o < run->end; o++) {
				int l = run_loop(&tried.workload->ops[o], run, k);
				tried.ops[o].mapping.rows[tried.arch->lx].temporal[l] *=
					(uint32_t)(tiles / divisors.at[i]);
			}
			if (holds(&tried, context)) {
				*to = tried;
				return true;
			}
		}
	}
	return false;
}

static bool take_back_once(
	const struct plan_draft *from, struct plan_draft *to, draft_holds *holds, void *context)
{
	struct plan_draft tried;
	bool taken = false;
	for (int m = to->move_count - 1; m >= 0; m--) {
		tried = *to;
		remove_move(&tried, m);
		if (holds(&tried, context)) {
			*to = tried;
			taken = true;
		}
	}
	for (int r = to->run_count - 1; r >= 0; r--) {
		tried = *to;
		remove_run(&tried, r);
		if (holds(&tried, context)) {
			*to = tried;
			taken = true;
		}
	}
	for (int o = 0; o < (int)to->workload->op_count; o++)
		taken |= take_back_op(from, to, o, holds, context);
	struct arena *arena = arena_open();
	for (int r = 0; r < to->run_count; r++)
		taken |= take_back_tiles(to, r, arena, holds, context);
	arena_close(arena);
	return taken;
}

void draft_shrink(const struct plan_draft *from, struct plan_draft *to,
	bool (*holds)(const struct plan_draft *draft, void *context), void *context)
{
	for (int turn = 0; turn < 10 && take_back_once(from, to, holds, context);)
		turn++;
}

static bool has_move(const struct plan_draft *draft, const struct draft_move *move)
{
	for (int m = 0; m < draft->move_count; m++) {
		const struct draft_move *other = &draft->moves[m];
		if (other->kind == move->kind && other->tensor == move->tensor &&
			other->before == move->before && other->readers == move->readers &&
			other->stay.rule == move->stay.rule &&
			view_equal(&other->stay.view, &move->stay.view))
			return true;
	}
	return false;
}

static bool stays_equal(const struct draft_stay *a, const struct draft_stay *b)
{
	return a->in_lx == b->in_lx && (!a->in_lx || (a->rule == b->rule && a->op == b->op &&
							     view_equal(&a->view, &b->view)));
}

static void list_moves(const struct plan_draft *of, const struct plan_draft *other,
	const char *sign, struct text *text)
{
	for (int m = 0; m < of->move_count; m++) {
		const struct draft_move *move = &of->moves[m];
		bool is_last = move->before == op_count(of);
		if (!has_move(other, move))
			text_add(text, " %s%s of %s before %s (readers %x%s)", sign,
				move_names[move->kind], of->workload->tensors[move->tensor].name,
				is_last ? "the end" : of->workload->ops[move->before].name,
				move->readers, move->stay.rule == VIEW_WHOLE ? ", whole" : "");
	}
}

void draft_differences(
	const struct plan_draft *from, const struct plan_draft *to, struct text *text)
{
	list_moves(from, to, "-", text);
	list_moves(to, from, "+", text);
	for (int o = 0; o < (int)to->workload->op_count; o++) {
		const struct draft_op *a = &from->ops[o], *b = &to->ops[o];
		const char *name = to->workload->ops[o].name;
		const struct mapping_row *x = &a->mapping.rows[to->arch->core];
		const struct mapping_row *y = &b->mapping.rows[to->arch->core];
		if (memcmp(x->spatial, y->spatial, sizeof x->spatial))
			text_add(text, " division of %s", name);
		else if (!mapping_equal(&a->mapping, &b->mapping))
			text_add(text, " tiles or order of %s", name);
		if (a->begins_bundle != b->begins_bundle)
			text_add(text, " bundle at %s", name);
		if (a->in_place_of != b->in_place_of)
			text_add(text, " in place of %s", name);
		if (!stays_equal(&a->stay, &b->stay))
			text_add(text, " stay of %s", name);
	}
	if (to->run_count != from->run_count ||
		(to->run_count && memcmp(to->runs, from->runs, sizeof to->runs[0])))
		text_add(text, " runs");
}
