#include "base/arena.h"
#include "lower/graph/lower.h"
#include "model/graph/run.h"
#include "sim/graph/reference.h"
#include "sim/graph/sim.h"
#include "tests/support/draws.h"
#include "tests/support/mutable_program.h"
#include "tests/support/naive_order.h"
#include "tests/support/plan_text.h"
#include "tests/support/program_text.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Right programs, broken in every way of a kind.  A mutant is caught, or it
 * does no harm: its results are the reference's.  Whether a change of order
 * does harm is decided by the transitive closure.
 */
static const struct row {
	const char *name;
	int cores;
	const char *workload;
	const char *mappings[6], *stays[5];
	struct tile_run run; /* without loops: none */
} rows[] = {
	{
		.name = "double buffers and a broadcast",
		.cores = 4,
		.workload = "{dimensions: {m: 16, n: 128}, ops: ['y[m,n] = x[m,n] - b[n]']}",
		.mappings = {"core: n2 m2 | LX: m4"},
	},
	{
		.name = "accumulators",
		.cores = 2,
		.workload = "{dimensions: {m: 8, n: 128, k: 256}, ops: ['c[m,n] = sum(k) a[m,k] * "
			    "b[k,n]']}",
		.mappings = {"core: n2 | LX: m2 k4"},
	},
	{
		.name = "a reduce ring",
		.cores = 4,
		.workload = "{dimensions: {m: 3, n: 128, k: 256}, ops: ['c[m,n] = sum(k) a[m,k] * "
			    "b[k,n]']}",
		.mappings = {"core: k2 n2 | LX: m3 k2"},
	},
	{
		.name = "a clone, a maximum over cores, in place",
		.cores = 2,
		.workload = "{dimensions: {m: 8, n: 64}, ops: ['c[m,n] = clone(x[m,n])', 't[n] = "
			    "max(m) c[m,n]', 's[m,n] = c[m,n] - t[n]', 'e[m,n] = exp(s[m,n])', "
			    "'y[m,n] = c[m,n] * e[m,n]']}",
		.mappings = {"core: m2 | LX: m4", "core: m2 | LX: m2", "core: m2",
			"core: m2 | LX: "
			"m2",
			"core: m2 | LX: m4"},
		.stays = {"c at 0 steps 0 5, cores 2: dim 1 / 2 by 1",
			"s at 512 steps 2 4, cores 2: dim 1 / 2 by 1",
			"e at 512 steps 3 5 in place of s, cores 2: dim 1 / 2 by 1"},
	},
	{
		.name = "a run of two iterations, whose parts have the same bytes",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 64}, ops: ['a[m,n] = neg(x[m,n])', 't[m] = "
			    "max(n) a[m,n]', 'y[m,n] = a[m,n] - t[m]']}",
		.mappings = {"core: m2", "core: m2", "core: m2"},
		.stays = {"a at 0 steps 0 3, cores 2: dim 1 / 2 by 1",
			"t at 128 steps 1 3, cores 2: dim 1 / 2 by 1"},
		.run = {0, 3, 1, {{"m", 2}}},
	},
	{
		.name = "an opaque op in between",
		.cores = 2,
		.workload = "{dimensions: {m: 8, n: 64}, ops: ['y[m,n] = neg(x[m,n])', {opaque: "
			    "topk, reads: [y], writes: ['z[m,n]']}, 'w[m,n] = neg(z[m,n])']}",
		.mappings = {"core: m2 | LX: m2", "", "core: m2"},
	},
};

enum { ROWS = sizeof rows / sizeof rows[0], SEED = 5 };

struct subject {
	const struct program *program;
	const struct naive_order *order;
	void **expected;
	long mutants, caught;
	struct arena *arena;
};

/* The steps share the loops of the row's run, and LX has parts. */
static void add_run(struct plan *plan, const struct row *row, struct arena *arena)
{
	if (!row->run.loop_count)
		return;
	plan->run_count = 1;
	plan->runs = arena_copy(arena, &row->run, sizeof row->run);
	for (int i = 0; i < plan->residency_count; i++) {
		struct residency *stay = &plan->residencies[i];
		struct layout part = plan_stay_layout(plan, stay);
		stay->size = view_bytes(&part, &stay->view);
	}
}

static struct subject open_subject(const struct row *row, struct arena *arena)
{
	const char *why;
	struct plan *plan = plan_text(arena, row->cores, row->workload, row->mappings, row->stays);
	add_run(plan, row, arena);
	struct subject subject = {.arena = arena, .program = lower_plan(plan, arena, &why)};
	if (!subject.program)
		fail_msg("%s: %s", row->name, why);
	subject.order = naive_order(arena, subject.program);
	subject.expected = arena_array(arena, void *, plan->workload->tensor_count);
	reference_inputs(plan->workload, SEED, true, arena, subject.expected);
	reference_run(plan->workload, arena, subject.expected);
	return subject;
}

static struct sim_result run(const struct program *program, enum sim_mode mode, struct arena *arena)
{
	struct sim_options options = {.mode = mode, .seed = SEED, .small_integers = true};
	return sim_run(program, &options, arena);
}

static bool results_are_right(const struct subject *subject, const struct sim_result *result)
{
	const struct workload *workload = subject->program->workload;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		if (result->outputs && result->outputs[t] &&
			reference_compare(
				&workload->tensors[t], subject->expected[t], result->outputs[t])
					.worst_ulps > 1)
			return false;
	}
	return result->outputs != NULL;
}

/* Data mode, which is slower, must agree on what is not caught, and on some of the rest. */
static bool is_caught(struct subject *subject, const struct program *mutant, struct arena *arena)
{
	struct sim_result identity = run(mutant, SIM_IDENTITY, arena);
	bool caught = identity.fault_count > 0;
	for (int i = 0; i < identity.fault_count; i++)
		assert_non_null(identity.faults[i].text);
	subject->caught += caught;
	if (subject->mutants++ % 16 && caught)
		return true;
	struct sim_result data = run(mutant, SIM_DATA, arena);
	assert_int_equal(caught, data.fault_count > 0);
	if (!caught && !results_are_right(subject, &data))
		fail_msg("a mutant goes wrong without a report:\n%s", program_text(arena, mutant));
	return caught;
}

/* In place of is_caught where nothing could make up for the change. */
static void must_catch(
	struct subject *subject, const struct mutable_program *mutant, uint32_t i, const char *what)
{
	if (!is_caught(subject, &mutant->program, subject->arena))
		fail_msg("instruction %u: %s: not caught\n%s", i, what,
			program_text(subject->arena, &mutant->program));
}

/* Calls `mutate` for k = 0, 1, .. on fresh copies, as long as it finds something to change. */
typedef bool mutate_function(struct mutable_program *mutant, uint32_t i, int k);

static void catch_all(struct subject *subject, mutate_function *mutate, const char *what)
{
	for (uint32_t i = 0; i < subject->program->instruction_count; i++) {
		for (int k = 0;; k++) {
			struct arena_mark mark = arena_mark(subject->arena);
			struct mutable_program *mutant =
				mutable_copy(subject->arena, subject->program);
			bool changed = mutate(mutant, i, k);
			if (changed)
				must_catch(subject, mutant, i, what);
			arena_release(subject->arena, mark);
			if (!changed)
				break;
		}
	}
}

enum { PLACES_MOST = 12 };

/* The locations that an instruction uses; the operands of an opaque op have no more than an address. */
static int find_locations(
	struct mutable_instruction *instruction, struct location *out[PLACES_MOST])
{
	struct compute *compute = instruction->compute;
	int count = 0;
	if (instruction->transfer) {
		out[count++] = &instruction->transfer->hbm;
		out[count++] = &instruction->transfer_box->lx;
	}
	for (int r = 0; compute && r < compute->read_count; r++)
		out[count++] = &instruction->reads[r]->lx;
	if (compute && compute->write && compute->finish)
		out[count++] = &instruction->write->lx;
	if (compute && (compute->accumulator_read || compute->accumulator_write))
		out[count++] = instruction->accumulator;
	if (instruction->combine) {
		out[count++] = &instruction->combine->accumulator;
		out[count++] = &instruction->combine->output;
	}
	return count;
}

static bool change_address(struct mutable_program *mutant, uint32_t i, int k)
{
	static const int64_t changes[] = {128, -128, 1, 64, 512, -1024, 1 << 20, -(1 << 20),
		INT64_C(1) << 40, INT64_MIN / 2, INT64_MAX / 2};
	enum { CHANGES = sizeof changes / sizeof changes[0] };
	struct location *locations[PLACES_MOST];
	struct mutable_instruction *instruction = &mutant->instructions[i];
	int count = find_locations(instruction, locations);
	if (instruction->whole) {
		const struct op *op = &mutant->program.workload->ops[instruction->compute->op];
		if (k >= op_operands(op) * CHANGES)
			return false;
		instruction->whole[k / CHANGES].address += changes[k % CHANGES];
		return true;
	}
	if (k >= count * CHANGES)
		return false;
	locations[k / CHANGES]->address += changes[k % CHANGES];
	return true;
}

static bool change_stride(struct mutable_program *mutant, uint32_t i, int k)
{
	static const int64_t changes[] = {128, -128, 3, INT64_MAX / 4};
	struct mutable_instruction *instruction = &mutant->instructions[i];
	struct location *locations[PLACES_MOST];
	int count = find_locations(instruction, locations);
	const struct region *region = instruction->transfer  ? &instruction->transfer->box->region
				      : instruction->combine ? &instruction->combine->region
				      : instruction->write   ? &instruction->write->region
							     : NULL;
	int d = region ? region->rank - 1 : 0;
	if (!region || region->count[d] == 1 || k >= 4)
		return false;
	locations[count - 1]->stride[d] += changes[k];
	return true;
}

static bool drop_core(struct mutable_program *mutant, uint32_t i, int k)
{
	struct mutable_instruction *instruction = &mutant->instructions[i];
	uint64_t mask = instruction->head->mask;
	if (instruction->head->engine == ENGINE_SYNC || k >= __builtin_popcountll(mask))
		return false;
	for (; k > 0; k--)
		mask &= mask - 1;
	instruction->head->mask &= ~(mask & -mask);
	return true;
}

static bool shift_box(struct mutable_program *mutant, uint32_t i, int k)
{
	struct mutable_instruction *instruction = &mutant->instructions[i];
	struct region *regions[OP_READS_MOST + 1];
	int count = 0;
	if (instruction->transfer)
		regions[count++] = &instruction->transfer_box->region;
	if (instruction->combine)
		regions[count++] = &instruction->combine->region;
	for (int r = 0; instruction->compute && r < instruction->compute->read_count; r++)
		regions[count++] = &instruction->reads[r]->region;
	if (instruction->write)
		regions[count++] = &instruction->write->region;
	for (int r = 0; r < count; k -= 2 * regions[r]->rank, r++) {
		if (k >= 2 * regions[r]->rank)
			continue;
		regions[r]->first[k / 2] += k % 2 ? 1 : -1;
		return true;
	}
	return false;
}

static bool shift_loop(struct mutable_program *mutant, uint32_t i, int k)
{
	const struct compute *compute = mutant->instructions[i].compute;
	if (!compute)
		return false;
	const struct op *op = &mutant->program.workload->ops[compute->op];
	int l = k / 4;
	if (l >= op->loop_count)
		return false;
	mutant->instructions[i].first[l] += (const int64_t[]){-1, 1, 0, 0}[k % 4];
	mutant->instructions[i].count[l] += (const int64_t[]){0, 0, -1, 1}[k % 4];
	return true;
}

/* Two tiles of one op on one core do each other's elements with their own operands. */
static bool exchange_loops(struct mutable_program *mutant, uint32_t i, int k)
{
	struct compute *a = mutant->instructions[i].compute;
	for (uint32_t j = i + 1; a && a->first && j < mutant->program.instruction_count; j++) {
		struct compute *b = mutant->instructions[j].compute;
		if (!b || b->op != a->op || k-- > 0)
			continue;
		const int64_t *first = a->first, *count = a->count;
		a->first = b->first;
		a->count = b->count;
		b->first = first;
		b->count = count;
		return true;
	}
	return false;
}

static void report(const struct row *row, const struct subject *subject)
{
	print_message("%s: %zu instructions, %ld mutants, %ld caught\n", row->name,
		subject->program->instruction_count, subject->mutants, subject->caught);
}

static void right_programs_have_no_fault(void **state)
{
	const struct row *row = *state;
	struct arena *arena = arena_open();
	struct subject subject = open_subject(row, arena);
	if (is_caught(&subject, subject.program, arena))
		fail_msg("%s: %s", row->name,
			run(subject.program, SIM_IDENTITY, arena).faults[0].text);
	arena_close(arena);
}

static void a_changed_address_is_caught(void **state)
{
	struct arena *arena = arena_open();
	struct subject subject = open_subject(*state, arena);
	catch_all(&subject, change_address, "address");
	catch_all(&subject, change_stride, "stride");
	report(*state, &subject);
	arena_close(arena);
}

static void a_core_missing_from_a_mask_is_caught(void **state)
{
	struct arena *arena = arena_open();
	struct subject subject = open_subject(*state, arena);
	catch_all(&subject, drop_core, "core dropped");
	report(*state, &subject);
	arena_close(arena);
}

static void a_shifted_box_is_caught(void **state)
{
	struct arena *arena = arena_open();
	struct subject subject = open_subject(*state, arena);
	catch_all(&subject, shift_box, "box");
	catch_all(&subject, shift_loop, "loops");
	catch_all(&subject, exchange_loops, "loops exchanged");
	report(*state, &subject);
	arena_close(arena);
}

/*
 * A change of order that lets two accesses race is caught; one that leaves all
 * conflicts in their order is not; one that turns some round may be harmless,
 * as where two passes add to one accumulator, or two transfers bring the same.
 */
static void check_order(struct subject *subject, const struct mutable_program *mutant,
	const uint32_t *origin, uint32_t i, uint32_t j)
{
	struct naive_order *order = naive_order(subject->arena, &mutant->program);
	enum order_change change = naive_order_compare(order, origin, subject->order);
	bool caught = is_caught(subject, &mutant->program, subject->arena);
	if (change != ORDER_REVERSED && caught != (change == ORDER_LOST))
		fail_msg("%u %u: %s\n%s", i, j,
			caught ? "does no harm, but is caught" : "not caught",
			program_text(subject->arena, &mutant->program));
}

static uint32_t *make_origin(const struct subject *subject)
{
	uint32_t *origin =
		arena_array(subject->arena, uint32_t, subject->program->instruction_count);
	for (uint32_t i = 0; i < subject->program->instruction_count; i++)
		origin[i] = i;
	return origin;
}

static void a_missing_dependence_is_caught(void **state)
{
	struct arena *arena = arena_open();
	struct subject subject = open_subject(*state, arena);
	uint32_t *origin = make_origin(&subject);
	for (uint32_t i = 0; i < subject.program->instruction_count; i++) {
		size_t count = subject.program->instructions[i].dependence_count;
		for (size_t k = 0; k < count; k++) {
			struct arena_mark mark = arena_mark(arena);
			struct mutable_program *mutant = mutable_copy(arena, subject.program);
			uint32_t *at = mutant->instructions[i].dependences;
			at[k] = at[count - 1];
			mutant->instructions[i].head->dependence_count--;
			check_order(&subject, mutant, origin, i, (uint32_t)k);
			arena_release(arena, mark);
		}
	}
	report(*state, &subject);
	assert_true(subject.caught > 0);
	arena_close(arena);
}

/* Back to the places that they were written for: what happens there is another's work. */
static void exchange_dependences(struct mutable_program *mutant, uint32_t i, uint32_t j)
{
	struct instruction *a = mutant->instructions[i].head, *b = mutant->instructions[j].head;
	size_t count = a->dependence_count;
	const uint32_t *dependences = a->dependences;
	a->dependence_count = b->dependence_count;
	a->dependences = b->dependences;
	b->dependence_count = count;
	b->dependences = dependences;
	for (size_t n = 0; n < mutant->program.instruction_count; n++) {
		struct mutable_instruction *instruction = &mutant->instructions[n];
		for (size_t k = 0; k < instruction->head->dependence_count; k++) {
			uint32_t *at = (uint32_t *)(uintptr_t)&instruction->head->dependences[k];
			if (*at == i || *at == j)
				*at = *at == i ? j : i;
		}
	}
}

static void instructions_swapped_in_a_queue_are_caught(void **state)
{
	struct arena *arena = arena_open();
	struct subject subject = open_subject(*state, arena);
	uint32_t *origin = make_origin(&subject);
	const struct instruction *list = subject.program->instructions;
	for (uint32_t i = 0; i < subject.program->instruction_count; i++) {
		for (uint32_t j = i + 1; j < subject.program->instruction_count; j++) {
			if (list[i].engine != list[j].engine || !(list[i].mask & list[j].mask))
				continue;
			struct arena_mark mark = arena_mark(arena);
			struct mutable_program *mutant = mutable_copy(arena, subject.program);
			mutable_swap(mutant, i, j);
			origin[i] = j;
			origin[j] = i;
			check_order(&subject, mutant, origin, i, j);
			if (list[i].mask == list[j].mask) {
				exchange_dependences(mutant, i, j);
				check_order(&subject, mutant, origin, i, j);
			}
			origin[i] = i;
			origin[j] = j;
			arena_release(arena, mark);
		}
	}
	report(*state, &subject);
	assert_true(subject.caught > 0);
	arena_close(arena);
}

static void a_moved_allotment_is_caught(void **state)
{
	struct arena *arena = arena_open();
	struct subject subject = open_subject(*state, arena);
	size_t count = subject.program->allotment_count;
	for (size_t a = 0; a < count; a++) {
		for (size_t b = 0; b <= count; b++) {
			struct arena_mark mark = arena_mark(arena);
			struct mutable_program *mutant = mutable_copy(arena, subject.program);
			int64_t *address = &mutant->allotments[a].address, old = *address;
			*address = b == count ? old + STICK_BYTES : mutant->allotments[b].address;
			if (*address != old)
				must_catch(&subject, mutant, (uint32_t)a, "allotment moved");
			arena_release(arena, mark);
		}
	}
	report(*state, &subject);
	arena_close(arena);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		CMUnitTestFunction run;
	} laws[] = {
		{"right_programs_have_no_fault", right_programs_have_no_fault},
		{"a_changed_address_is_caught", a_changed_address_is_caught},
		{"a_core_missing_from_a_mask_is_caught", a_core_missing_from_a_mask_is_caught},
		{"a_shifted_box_is_caught", a_shifted_box_is_caught},
		{"a_missing_dependence_is_caught", a_missing_dependence_is_caught},
		{"instructions_swapped_in_a_queue_are_caught",
			instructions_swapped_in_a_queue_are_caught},
		{"a_moved_allotment_is_caught", a_moved_allotment_is_caught},
	};
	enum { LAWS = sizeof laws / sizeof laws[0] };
	struct CMUnitTest tests[LAWS * ROWS] = {0};
	size_t count = 0;
	int apart = (int)draws_apart(1);
	for (int l = 0; l < LAWS; l++) {
		for (int r = l % apart % ROWS; r < ROWS; r += apart)
			tests[count++] = (struct CMUnitTest){.name = laws[l].name,
				.test_func = laws[l].run,
				.initial_state = (void *)(uintptr_t)&rows[r]};
	}
	return _cmocka_run_group_tests("mutated programs", tests, count, NULL, NULL);
}
