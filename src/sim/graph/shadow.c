#include "sim/graph/shadow.h"

#include "base/arena.h"
#include "base/array.h"
#include "model/graph/plan_check.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	PAGE_CELLS = 1024,
	UNWRITTEN = -1,
	HBM = PROGRAM_CORES_MOST, /* the memory behind those of the cores */
};

struct shadow_cell {
	struct content content;
	uint32_t writer;  /* RACE_NOBODY: it was there before the program */
	uint32_t readers; /* since then */
};

struct shadow {
	const struct program *program;
	struct race *race;
	struct faults *faults;
	struct arena *arena;
	struct shadow_cell **pages[PROGRAM_CORES_MOST + 1]; /* NULL: never touched */
	int64_t sizes[PROGRAM_CORES_MOST + 1];              /* in pages */
	int *wiped; /* by step: the last opaque op's before it; -1 */
	size_t input_count;
	int *inputs; /* graph inputs by address in HBM */
};

static void find_inputs(struct shadow *shadow, int rank)
{
	const struct program *program = shadow->program;
	const struct workload *workload = program->workload;
	struct users users = users_make(shadow->arena, workload);
	shadow->inputs = arena_array(shadow->arena, int, workload->tensor_count);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		int root = users_root(workload, &users, (int)t);
		if (workload->tensors[t].producer >= 0 || program->hbm[t] < 0 ||
			(root >= 0 && root != rank))
			continue;
		size_t i = shadow->input_count++;
		for (; i > 0 && program->hbm[shadow->inputs[i - 1]] > program->hbm[t]; i--)
			shadow->inputs[i] = shadow->inputs[i - 1];
		shadow->inputs[i] = (int)t;
	}
}

static int *find_wiped(const struct program *program, struct arena *arena)
{
	int *wiped = arena_array(arena, int, program->step_count + 1), last = -1;
	for (int s = 0; s < program->step_count; s++) {
		const struct op *op = &program->workload->ops[program->step_ops[s]];
		wiped[s] = last;
		if (op->primitive->kind == OP_OPAQUE)
			last = s;
	}
	return wiped;
}

struct shadow *shadow_open(const struct program *program, int rank, struct race *race,
	struct faults *faults, struct arena *arena)
{
	struct shadow *shadow = arena_new(arena, struct shadow);
	int64_t lx = program->arch->lx < 0 ? 0 : program->arch->levels[program->arch->lx].capacity;
	shadow->program = program;
	shadow->race = race;
	shadow->faults = faults;
	shadow->arena = arena;
	for (int m = 0; m <= HBM; m++) {
		int64_t bytes = m == HBM ? program->hbm_bytes : lx;
		shadow->sizes[m] = number_ceil_div(bytes, PAGE_CELLS * STICK_BYTES);
	}
	shadow->wiped = find_wiped(program, arena);
	find_inputs(shadow, rank);
	return shadow;
}

/* The graph input that lies at an address of HBM, if any. */
static struct content find_input(const struct shadow *shadow, int64_t address)
{
	const struct program *program = shadow->program;
	size_t behind;
	bisect(behind, 0, shadow->input_count, program->hbm[shadow->inputs[behind]] <= address);
	if (behind == 0)
		return (struct content){.tensor = UNWRITTEN};
	int tensor = shadow->inputs[behind - 1];
	int64_t stick = (address - program->hbm[tensor]) / STICK_BYTES;
	if (stick >= program->workload->tensors[tensor].layout.sticks)
		return (struct content){.tensor = UNWRITTEN};
	return (struct content){.tensor = tensor, .stick = stick};
}

static struct shadow_cell *open_page(struct shadow *shadow, int memory, int64_t page)
{
	struct shadow_cell *cells = arena_array(shadow->arena, struct shadow_cell, PAGE_CELLS);
	for (int64_t i = 0; i < PAGE_CELLS; i++) {
		int64_t address = (page * PAGE_CELLS + i) * STICK_BYTES;
		cells[i].writer = RACE_NOBODY;
		cells[i].content.tensor = UNWRITTEN;
		if (memory == HBM)
			cells[i].content = find_input(shadow, address);
	}
	return cells;
}

static struct shadow_cell *find_cell(struct shadow *shadow, int core, int64_t address)
{
	int memory = core == FAULT_IN_HBM ? HBM : core;
	int64_t page = address / (PAGE_CELLS * STICK_BYTES);
	if (!shadow->pages[memory])
		shadow->pages[memory] =
			arena_array(shadow->arena, struct shadow_cell *, shadow->sizes[memory]);
	struct shadow_cell **at = &shadow->pages[memory][page];
	if (!*at)
		*at = open_page(shadow, memory, page);
	return &(*at)[address / STICK_BYTES % PAGE_CELLS];
}

struct content shadow_find(struct shadow *shadow, int core, int64_t address)
{
	return find_cell(shadow, core, address)->content;
}

static void print_content(
	const struct shadow *shadow, const struct content *content, char *out, size_t size)
{
	const char *name = shadow->program->workload->tensors[content->tensor].name;
	if (content->piece)
		snprintf(out, size, "the accumulator of stick %" PRId64 " of '%s'", content->stick,
			name);
	else
		snprintf(out, size, "stick %" PRId64 " of '%s'", content->stick, name);
}

/* An access that conflicts with an earlier one must be ordered after it. */
static void check_order(struct shadow *shadow, int core, int64_t address, uint32_t earlier,
	const char *what, const char *done)
{
	if (earlier == RACE_NOBODY || race_ordered(shadow->race, earlier))
		return;
	fault_add(shadow->faults, FAULT_DEPENDENCE, race_current(shadow->race), core, address,
		"it %s what instruction %u %s, and nothing makes the one wait for the other", what,
		earlier, done);
}

static void complain_content(struct shadow *shadow, int core, int64_t address,
	const struct content *expected, const struct content *found)
{
	char wanted[160], other[160];
	print_content(shadow, expected, wanted, sizeof wanted);
	if (found->tensor == UNWRITTEN) {
		fault_add(shadow->faults, FAULT_UNWRITTEN, race_current(shadow->race), core,
			address, "it reads %s where nobody wrote", wanted);
		return;
	}
	print_content(shadow, found, other, sizeof other);
	fault_add(shadow->faults, FAULT_STALE, race_current(shadow->race), core, address,
		"it reads %s and finds %s", wanted, other);
}

/* What an earlier step left behind is not this step's, even if it looks like it; nor is anything in LX after an
 * opaque op, of which nobody knows what it does there. */
static bool check_since(struct shadow *shadow, int core, int64_t address, int since,
	const struct content *expected, uint32_t writer)
{
	const struct instruction *instructions = shadow->program->instructions;
	int wiped = shadow->wiped[instructions[race_current(shadow->race)].step];
	if (core != FAULT_IN_HBM)
		since = number_max(since, wiped);
	if (writer == RACE_NOBODY || instructions[writer].step >= since)
		return true;
	char wanted[160];
	print_content(shadow, expected, wanted, sizeof wanted);
	fault_add(shadow->faults, FAULT_STALE, race_current(shadow->race), core, address,
		"it reads %s and finds what instruction %u left there in step %d%s", wanted, writer,
		instructions[writer].step,
		since == wiped ? ", before an opaque op that may have changed it" : "");
	return false;
}

bool shadow_read(struct shadow *shadow, int core, int64_t address, int since,
	const struct content *expected, uint64_t *part)
{
	struct shadow_cell *cell = find_cell(shadow, core, address);
	const struct content *found = &cell->content;
	*part = found->part;
	check_order(shadow, core, address, cell->writer, "reads", "writes");
	cell->readers = race_add_reader(shadow->race, cell->readers);
	if (found->tensor == expected->tensor && found->piece == expected->piece &&
		found->stick == expected->stick)
		return check_since(shadow, core, address, since, expected, cell->writer);
	complain_content(shadow, core, address, expected, found);
	return false;
}

void shadow_write(struct shadow *shadow, int core, int64_t address, const struct content *content)
{
	struct shadow_cell *cell = find_cell(shadow, core, address);
	check_order(shadow, core, address, cell->writer, "overwrites", "writes");
	check_order(shadow, core, address, race_find_unordered(shadow->race, cell->readers),
		"overwrites", "reads");
	race_clear_readers(shadow->race, cell->readers);
	cell->readers = 0;
	cell->writer = race_current(shadow->race);
	cell->content = *content;
}
