#include "base/arena.h"
#include "base/random.h"
#include "lower/graph/lower.h"
#include "sim/graph/sim.h"
#include "tests/support/draws.h"
#include "tests/support/mutable_program.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include "tests/test.h"

/* Random programs with random numbers in them: the simulator ends and reports their faults. */

static int64_t wild(struct random *random, int64_t old)
{
	switch (random_below(random, 6)) {
	case 0:
		return (int64_t)random_next(random);
	case 1:
		return -old;
	case 2:
		return old + (int64_t)random_below(random, 5) - 2;
	case 3:
		return old + ((int64_t)random_below(random, 9) - 4) * STICK_BYTES;
	case 4:
		return (int64_t)(UINT64_C(1) << random_below(random, 64));
	default:
		return (int64_t)random_below(random, 1 << 21);
	}
}

static void break_number(struct random *random, int64_t *number)
{
	*number = wild(random, *number);
}

static void break_coordinate(struct random *random, int32_t *coordinate)
{
	*coordinate = (int32_t)wild(random, *coordinate);
}

static void break_region(struct random *random, struct region *region)
{
	switch (random_below(random, 5)) {
	case 0:
		break_coordinate(random, &region->first[random_below(random, REGION_RANK_MOST)]);
		break;
	case 1:
		break_coordinate(random, &region->count[random_below(random, REGION_RANK_MOST)]);
		break;
	case 2:
		break_number(random, &region->sticks);
		break;
	case 3:
		region->rank = (int)random_below(random, REGION_RANK_MOST + 1);
		break;
	default:
		break;
	}
}

static void break_location(struct random *random, struct location *location)
{
	if (random_below(random, 2))
		break_number(random, &location->address);
	else
		break_number(random, &location->stride[random_below(random, REGION_RANK_MOST)]);
}

static void break_transfer(struct random *random, struct mutable_instruction *instruction)
{
	struct transfer *transfer = instruction->transfer;
	if (random_below(random, 8) == 0)
		transfer->lx_tensor = (int)wild(random, transfer->lx_tensor);
	else if (random_below(random, 2))
		break_region(random, &instruction->transfer_box->region);
	else
		break_location(random,
			random_below(random, 2) ? &transfer->hbm : &instruction->transfer_box->lx);
}

static void break_operand(struct random *random, struct operand_box *operand)
{
	if (!operand)
		return;
	if (random_below(random, 2))
		break_region(random, &operand->region);
	else
		break_location(random, &operand->lx);
}

static void break_compute(
	struct random *random, const struct op *op, struct mutable_instruction *instruction)
{
	struct compute *compute = instruction->compute;
	uint64_t loop = random_below(random, (uint64_t)op->loop_count + 1);
	bool loops = instruction->first && (int)loop < op->loop_count;
	switch (random_below(random, 6)) {
	case 0:
		if (loops)
			break_number(random, &instruction->first[loop]);
		break;
	case 1:
		if (loops)
			break_number(random, &instruction->count[loop]);
		break;
	case 2:
		if (instruction->whole)
			break_number(random, &instruction->whole[0].address);
		break_operand(random, instruction->write);
		break;
	case 3:
		if (instruction->accumulator)
			break_location(random, instruction->accumulator);
		break;
	case 4:
		if (compute->write) {
			compute->accumulator_read ^= random_below(random, 2);
			compute->accumulator_write ^= random_below(random, 2);
			compute->finish ^= random_below(random, 2);
		}
		break;
	default:
		if (compute->read_count)
			break_operand(random, instruction->reads[random_below(
						      random, (uint64_t)compute->read_count)]);
	}
}

static void break_combine(struct random *random, struct combine *combine)
{
	switch (random_below(random, 4)) {
	case 0:
		break_region(random, &combine->region);
		break;
	case 1:
		break_location(random, &combine->accumulator);
		break;
	case 2:
		break_location(random, &combine->output);
		break;
	default:
		combine->cores[0] = (int)wild(random, combine->cores[0]);
	}
}

static void break_instruction(
	struct random *random, struct mutable_program *mutant, struct mutable_instruction *at)
{
	if (random_below(random, 4) == 0) {
		at->head->mask ^= UINT64_C(1) << random_below(random, PROGRAM_CORES_MOST);
	} else if (random_below(random, 4) == 0 && at->head->dependence_count) {
		at->dependences[random_below(random, at->head->dependence_count)] =
			(uint32_t)wild(random, 0);
	} else if (at->transfer) {
		break_transfer(random, at);
	} else if (at->compute) {
		break_compute(random, &mutant->program.workload->ops[at->compute->op], at);
	} else if (at->combine) {
		break_combine(random, at->combine);
	}
}

static void break_program(struct random *random, struct mutable_program *mutant)
{
	for (uint64_t i = random_below(random, 3) + 1; i > 0; i--) {
		uint64_t at = random_below(random, mutant->program.instruction_count);
		uint64_t a = random_below(random, mutant->program.allotment_count + 1);
		if (a < mutant->program.allotment_count && random_below(random, 8) == 0)
			break_number(random, random_below(random, 2)
						     ? &mutant->allotments[a].address
						     : &mutant->allotments[a].size);
		else
			break_instruction(random, mutant, &mutant->instructions[at]);
	}
}

BARE_TEST(broken_programs_end)
{
	static const struct random_options options = {
		.elements_most = 2000, .legal = true, .opaque = true};
	uint64_t seed = draws_seed(21);
	long count = draws(1000), faults = 0, run = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *why;
		const struct plan *plan =
			random_plan(&random, &options, spyre_arch(arena, 4), 4, arena);
		const struct program *program = lower_plan(plan, arena, &why);
		if (program && program->instruction_count > 0) {
			struct mutable_program *mutant = mutable_copy(arena, program);
			break_program(&random, mutant);
			for (enum sim_mode mode = SIM_COUNT; mode <= SIM_DATA; mode++) {
				struct sim_options how = {.mode = mode, .small_integers = true};
				struct sim_result result = sim_run(&mutant->program, &how, arena);
				faults += result.fault_count > 0;
				run++;
			}
		}
		arena_close(arena);
	}
	print_message("%ld runs, %ld with faults\n", run, faults);
	assert_true(faults >= run / 3);
}
