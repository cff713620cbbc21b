#include "base/arena.h"
#include "base/array.h"
#include "lower/lower.h"
#include "tests/support/draws.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * Laws of lowered programs.  The instructions are carried out one by one in
 * memories that hold names instead of data; `happens before` is the naive closure of
 * dependences and queues.
 */
enum { CORES = 6, GRANULE = STICK_BYTES, INSTRUCTIONS_MOST = 1500 };

/* What a granule of memory holds. */
struct content {
	int tensor; /* -1: nothing; an accumulator's is that of its output */
	bool partial;
	int64_t stick;
};

struct granule {
	struct content content;
	int64_t writer;                /* instruction; -1 */
	struct array(int64_t) readers; /* since then */
};

struct memory {
	int64_t granules;
	struct granule *at;
};

struct touch {
	int space; /* core, or CORES for HBM */
	int64_t granule;
	bool write;
};

struct world {
	struct arena *arena;
	const struct plan *plan;
	const struct program *program;
	struct memory memories[CORES + 1];
	size_t words;
	uint64_t **before; /* by instruction, a bit for each that happens before it */
	struct array(struct touch) * touches;
	int64_t **made, **sent; /* by tensor and stick */
	uint8_t **computed;     /* by op and iteration */
};

static bool is_before(const struct world *world, int64_t a, int64_t b)
{
	return world->before[b][a / 64] >> (a % 64) & 1;
}

static void add_before(struct world *world, uint64_t *set, int64_t other)
{
	for (size_t w = 0; w < world->words; w++)
		set[w] |= world->before[other][w];
	set[other / 64] |= UINT64_C(1) << (other % 64);
}

/* The instruction before i in the engine's queue on a core; -1. */
static int64_t queue_before(const struct program *program, int64_t i, int core)
{
	const struct instruction *list = program->instructions;
	for (int64_t j = i - 1; j >= 0; j--) {
		if (list[j].engine == list[i].engine && list[j].mask >> core & 1)
			return j;
	}
	return -1;
}

static void close_order(struct world *world)
{
	const struct program *program = world->program;
	world->words = program->instruction_count / 64 + 1;
	world->before = arena_array(world->arena, uint64_t *, program->instruction_count);
	for (int64_t i = 0; i < (int64_t)program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		uint64_t *set = world->before[i] =
			arena_array(world->arena, uint64_t, world->words);
		for (size_t d = 0; d < instruction->dependence_count; d++) {
			assert_true(instruction->dependences[d] < i);
			add_before(world, set, instruction->dependences[d]);
		}
		for (int c = 0; c < CORES; c++) {
			int64_t other =
				instruction->mask >> c & 1 ? queue_before(program, i, c) : -1;
			if (other >= 0)
				add_before(world, set, other);
		}
	}
}

/* Is the dependence there in the closure of all others? */
static bool is_implied(const struct world *world, int64_t i, uint32_t dependence)
{
	const struct instruction *instruction = &world->program->instructions[i];
	for (size_t d = 0; d < instruction->dependence_count; d++) {
		uint32_t other = instruction->dependences[d];
		if (other != dependence && is_before(world, dependence, other))
			return true;
	}
	for (int c = 0; c < CORES; c++) {
		int64_t other =
			instruction->mask >> c & 1 ? queue_before(world->program, i, c) : -1;
		if (other >= 0 && (other == dependence || is_before(world, dependence, other)))
			return true;
	}
	return false;
}

static bool may_use(const struct world *world, int step, int core, int tensor, int64_t address)
{
	const struct program *program = world->program;
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		if ((allotment->tensor == -1 || allotment->tensor == tensor) &&
			allotment->cores >> core & 1 && allotment->from <= step &&
			step < allotment->to && address >= allotment->address &&
			address + GRANULE <= allotment->address + allotment->size)
			return true;
	}
	return false;
}

/* One granule is read or written: everything that it conflicts with came before. */
static void touch(struct world *world, int64_t i, int space, int64_t address, bool write,
	struct content content)
{
	struct memory *memory = &world->memories[space];
	assert_int_equal(address % GRANULE, 0);
	assert_in_range(address / GRANULE, 0, memory->granules - 1);
	struct granule *granule = &memory->at[address / GRANULE];
	if (space < CORES)
		assert_true(may_use(world, world->program->instructions[i].step, space,
			content.tensor, address));
	if (granule->writer >= 0 && granule->writer != i)
		assert_true(is_before(world, granule->writer, i));
	if (write) {
		for (size_t r = 0; r < granule->readers.count; r++)
			assert_true(granule->readers.at[r] == i ||
				    is_before(world, granule->readers.at[r], i));
		granule->readers.count = 0;
		granule->writer = i;
		granule->content = content;
	} else {
		assert_int_equal(granule->content.tensor, content.tensor);
		assert_int_equal(granule->content.stick, content.stick);
		assert_int_equal(granule->content.partial, content.partial);
		*array_add(world->arena, &granule->readers) = i;
	}
	*array_add(world->arena, &world->touches[i]) =
		(struct touch){space, address / GRANULE, write};
}

/* Goes to the next stick of a box. */
static bool next_stick(const struct region *box, int64_t *offset)
{
	for (int d = box->rank - 1; d >= 0; d--) {
		if (++offset[d] < box->count[d])
			return true;
		offset[d] = 0;
	}
	return false;
}

static int64_t stick_number(
	const struct world *world, const struct region *box, const int64_t *offset)
{
	const struct layout *layout = &world->plan->workload->tensors[box->tensor].layout;
	int64_t number = 0;
	for (int d = 0; d < box->rank; d++) {
		assert_in_range(box->first[d] + offset[d], 0, layout->size[d] - 1);
		number = number * layout->size[d] + box->first[d] + offset[d];
	}
	return number;
}

/* `counts`, if given, gets one more for every stick of the box. */
static void touch_box(struct world *world, int64_t i, int space, const struct region *box,
	const struct location *location, bool write, int tensor, bool partial, int64_t *counts)
{
	int64_t offset[REGION_RANK_MOST] = {0};
	int per_stick = world->plan->workload->tensors[tensor].layout.per_stick;
	int64_t unit = partial ? 4 * per_stick : GRANULE;
	do {
		int64_t address = location->address, number = stick_number(world, box, offset);
		for (int d = 0; d < box->rank; d++)
			address += offset[d] * location->stride[d];
		for (int64_t part = 0; part < unit; part += GRANULE)
			touch(world, i, space, address + part, write,
				(struct content){tensor, partial, number});
		if (counts)
			counts[number]++;
	} while (next_stick(box, offset));
}

/* Inputs, and what was never written, hold what they are. */
static void fill_hbm(struct world *world)
{
	for (size_t t = 0; t < world->plan->workload->tensor_count; t++) {
		const struct layout *layout = &world->plan->workload->tensors[t].layout;
		int64_t address = world->program->hbm[t];
		for (int64_t s = 0; address >= 0 && s < layout->sticks; s++) {
			struct granule *granule = &world->memories[CORES].at[address / GRANULE + s];
			assert_int_equal(granule->content.tensor, -1);
			granule->content = (struct content){(int)t, false, s};
		}
	}
}

/* Every element of the tile lies in the boxes, and is computed for the first time. */
static void visit_elements(struct world *world, const struct compute *compute)
{
	const struct op *op = &world->plan->workload->ops[compute->op];
	int64_t at[OP_LOOPS_MOST], total = op_computes(op);
	memcpy(at, compute->first, (size_t)op->loop_count * sizeof *at);
	for (bool more = true; more;) {
		int64_t number = 0;
		for (int l = 0; l < op->loop_count; l++)
			number = number * op->loops[l].extent + at[l];
		assert_in_range(number, 0, total - 1);
		assert_int_equal(world->computed[compute->op][number]++, 0);
		for (int i = 0; i < op_operands(op); i++) {
			const struct access *access = op_operand(op, i);
			const struct region *box = i < op->read_count ? &compute->reads[i]->region
								      : &compute->write->region;
			const struct layout *layout =
				&world->plan->workload->tensors[access->tensor].layout;
			assert_int_equal(box->tensor, access->tensor);
			for (int d = 0; d < box->rank; d++) {
				int h = layout->host_dim[d];
				int64_t x = h < 0 ? 0 : access->host[h].offset;
				for (int l = 0; h >= 0 && l < op->loop_count; l++)
					x += access->host[h].loop[l] * at[l];
				if (layout->part[d] == PART_STICK_OUTER)
					x /= layout->per_stick;
				assert_in_range(
					x, box->first[d], box->first[d] + box->count[d] - 1);
			}
		}
		more = false;
		for (int l = op->loop_count - 1; l >= 0 && !more; l--) {
			more = ++at[l] < compute->first[l] + compute->count[l];
			if (!more)
				at[l] = compute->first[l];
		}
	}
}

static void run_compute(struct world *world, int64_t i, int core)
{
	const struct compute *compute = world->program->instructions[i].compute;
	const struct op *op = &world->plan->workload->ops[compute->op];
	if (op->kind != OP_OPAQUE)
		visit_elements(world, compute);
	for (int r = 0; r < compute->read_count; r++) {
		const struct compute_operand *read = compute->reads[r];
		touch_box(world, i, core, &read->region, &read->lx, false, read->region.tensor,
			false, NULL);
	}
	if (!compute->write)
		return;
	const struct region *box = &compute->write->region;
	if (compute->accumulator_read)
		touch_box(
			world, i, core, box, &compute->accumulator, false, box->tensor, true, NULL);
	if (compute->accumulator_write)
		touch_box(
			world, i, core, box, &compute->accumulator, true, box->tensor, true, NULL);
	if (compute->finish)
		touch_box(world, i, core, box, &compute->write->lx, true, box->tensor, false,
			world->made[box->tensor]);
}

static void run_combine(struct world *world, int64_t i)
{
	const struct combine *combine = world->program->instructions[i].combine;
	const struct region *box = &combine->region;
	uint64_t mask = 0;
	for (int k = 0; k < combine->core_count; k++) {
		mask |= UINT64_C(1) << combine->cores[k];
		touch_box(world, i, combine->cores[k], box, &combine->accumulator, false,
			box->tensor, true, NULL);
	}
	assert_true(mask == world->program->instructions[i].mask);
	touch_box(world, i, combine->cores[combine->core_count - 1], box, &combine->output, true,
		box->tensor, false, world->made[box->tensor]);
}

static void run(struct world *world, int64_t i)
{
	const struct instruction *instruction = &world->program->instructions[i];
	const struct transfer *transfer = instruction->transfer;
	int core = __builtin_ctzll(instruction->mask);
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
		touch_box(world, i, CORES, &transfer->region, &transfer->hbm, false,
			transfer->region.tensor, false, NULL);
		for (int c = 0; c < CORES; c++) {
			if (instruction->mask >> c & 1)
				touch_box(world, i, c, &transfer->region, &transfer->lx, true,
					transfer->lx_tensor, false, NULL);
		}
		break;
	case ENGINE_DMA_OUT:
		assert_true(instruction->mask == UINT64_C(1) << core);
		touch_box(world, i, core, &transfer->region, &transfer->lx, false,
			transfer->lx_tensor, false, NULL);
		touch_box(world, i, CORES, &transfer->region, &transfer->hbm, true,
			transfer->region.tensor, false, world->sent[transfer->region.tensor]);
		break;
	case ENGINE_COMPUTE:
		assert_true(instruction->mask == UINT64_C(1) << core);
		run_compute(world, i, core);
		break;
	case ENGINE_RING:
		run_combine(world, i);
		break;
	default:
		break;
	}
}

static void open_memories(struct world *world)
{
	const struct program *program = world->program;
	for (int m = 0; m <= CORES; m++) {
		struct memory *memory = &world->memories[m];
		int64_t lx = program->arch->levels[program->arch->lx].capacity;
		memory->granules = (m < CORES ? lx : program->hbm_bytes) / GRANULE;
		memory->at = arena_array(world->arena, struct granule, memory->granules);
		for (int64_t g = 0; g < memory->granules; g++) {
			memory->at[g].content.tensor = -1;
			memory->at[g].writer = -1;
		}
	}
	fill_hbm(world);
}

static struct world *open_world(
	struct arena *arena, const struct plan *plan, const struct program *program)
{
	struct world *world = arena_new(arena, struct world);
	const struct workload *workload = plan->workload;
	*world = (struct world){
		.arena = arena,
		.plan = plan,
		.program = program,
		.touches = arena_alloc_array(
			arena, program->instruction_count, sizeof *world->touches),
		.made = arena_array(arena, int64_t *, workload->tensor_count),
		.sent = arena_array(arena, int64_t *, workload->tensor_count),
		.computed = arena_array(arena, uint8_t *, workload->op_count),
	};
	for (size_t t = 0; t < workload->tensor_count; t++) {
		world->made[t] = arena_array(arena, int64_t, workload->tensors[t].layout.sticks);
		world->sent[t] = arena_array(arena, int64_t, workload->tensors[t].layout.sticks);
	}
	for (size_t o = 0; o < workload->op_count; o++)
		world->computed[o] =
			arena_array(arena, uint8_t, op_computes(&workload->ops[o]) + 1);
	open_memories(world);
	close_order(world);
	return world;
}

/* Two instructions use one granule, and one of them writes it. */
static bool conflict(const struct world *world, int64_t a, int64_t b)
{
	for (size_t i = 0; i < world->touches[a].count; i++) {
		const struct touch *one = &world->touches[a].at[i];
		for (size_t j = 0; j < world->touches[b].count; j++) {
			const struct touch *other = &world->touches[b].at[j];
			if (one->space == other->space && one->granule == other->granule &&
				(one->write || other->write))
				return true;
		}
	}
	return false;
}

static void check_dependences(const struct world *world)
{
	const struct instruction *list = world->program->instructions;
	for (int64_t i = 0; i < (int64_t)world->program->instruction_count; i++) {
		for (size_t d = 0; d < list[i].dependence_count; d++) {
			uint32_t other = list[i].dependences[d];
			assert_false(is_implied(world, i, other));
			if (list[i].engine != ENGINE_SYNC && list[other].engine != ENGINE_SYNC)
				assert_true(conflict(world, other, i));
		}
	}
}

/* Cores that ask for one box in one tile share its transfer. */
static void check_sharing(const struct world *world)
{
	const struct instruction *list = world->program->instructions;
	for (size_t i = 0; i < world->program->instruction_count; i++) {
		if (list[i].engine != ENGINE_DMA_IN)
			continue;
		const struct transfer *one = list[i].transfer;
		for (size_t j = i + 1; j < world->program->instruction_count &&
				       list[j].step == list[i].step && list[j].tile == list[i].tile;
			j++) {
			const struct transfer *other = list[j].transfer;
			if (list[j].engine == ENGINE_DMA_IN && one->operand == other->operand)
				assert_memory_not_equal(
					&one->region, &other->region, sizeof one->region);
		}
	}
}

/* Phases do not overlap, and a SYNC stands between any two. */
static void check_phases(const struct world *world)
{
	const struct instruction *list = world->program->instructions;
	int64_t sync = -1, first = 0;
	for (int64_t i = 0; i < (int64_t)world->program->instruction_count; i++) {
		if (sync >= 0)
			assert_true(is_before(world, sync, i));
		if (list[i].engine != ENGINE_SYNC)
			continue;
		for (int64_t j = first; j < i; j++)
			assert_true(is_before(world, j, i));
		sync = i;
		first = i + 1;
	}
	int phases = 0, syncs = 0;
	for (int s = 0; s + 1 < world->plan->step_count; s++)
		phases += !plan_is_move(world->plan, s);
	for (size_t i = 0; i < world->program->instruction_count; i++)
		syncs += list[i].engine == ENGINE_SYNC;
	assert_int_equal(syncs, phases);
}

/* Every iteration was computed; what was made was made once and went where it had to. */
static void check_results(const struct world *world)
{
	const struct workload *workload = world->plan->workload;
	for (int s = 0; s < world->plan->step_count; s++) {
		const struct op *op = &workload->ops[world->plan->steps[s].op];
		if (plan_is_move(world->plan, s))
			continue;
		for (int64_t i = 0; op->kind != OP_OPAQUE && i < op_computes(op); i++)
			assert_int_equal(world->computed[world->plan->steps[s].op][i], 1);
		for (int w = 0; w < op->write_count; w++) {
			int t = op->writes[w].tensor;
			bool resident = plan_lx(world->plan, t, s);
			for (int64_t k = 0; k < workload->tensors[t].layout.sticks; k++) {
				assert_in_range(world->made[t][k], 0, 1);
				assert_int_equal(
					world->sent[t][k], resident ? 0 : world->made[t][k]);
			}
		}
	}
}

static void programs_obey_their_laws(void **state)
{
	struct random random = random_open(draws_seed(7), 0);
	long lowered = 0, refused = 0, large = 0;
	struct random_options options = {.elements_most = 20000, .legal = true, .opaque = true};
	for (long i = 0, count = draws(400); i < count; i++) {
		struct arena *arena = arena_open();
		const struct arch *arch = spyre_arch(arena, CORES);
		const struct workload *workload = random_workload(&random, &options, arena);
		const struct plan *plan =
			random_plan(&random, &options, arch, CORES, workload, arena);
		const char *why;
		bool small = lower_size(plan) <= INSTRUCTIONS_MOST;
		const struct program *program = small ? lower_plan(plan, arena, &why) : NULL;
		lowered += program != NULL;
		refused += small && !program;
		large += !small;
		if (small && !program && getenv("VERBOSE"))
			print_message("%s\n", why);
		if (program) {
			struct world *world = open_world(arena, plan, program);
			for (size_t k = 0; k < program->instruction_count; k++)
				run(world, (int64_t)k);
			check_dependences(world);
			check_sharing(world);
			check_phases(world);
			check_results(world);
		}
		arena_close(arena);
	}
	print_message("%ld lowered, %ld refused, %ld too large\n", lowered, refused, large);
	assert_true(lowered > (refused + large) / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_obey_their_laws),
	};
	return cmocka_run_group_tests_name("lower", tests, NULL, NULL);
}
