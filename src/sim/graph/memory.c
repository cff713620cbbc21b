#include "sim/graph/chip.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/random.h"
#include "base/text.h"
#include "model/graph/plan_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const sim_fault_names[] = {
	"overlap", "unwritten", "stale", "bounds", "dependence", "deadlock", "value", NULL};

static bool faults_is_known(
	const struct faults *faults, enum sim_fault_kind kind, uint32_t instruction)
{
	for (int i = 0; i < faults->count; i++) {
		if (faults->at[i].kind == kind && faults->at[i].instruction == (int)instruction)
			return true;
	}
	return false;
}

static const char *print_place(const struct faults *faults, const struct sim_fault *fault)
{
	struct text text = text_open(faults->arena);
	if (fault->op >= 0)
		text_add(&text, "op '%s' (step %d", faults->program->workload->ops[fault->op].name,
			fault->step);
	if (fault->instruction >= 0)
		text_add(&text, ", instruction %d", fault->instruction);
	if (fault->op >= 0)
		text_add(&text, "), ");
	if (faults->program->ranks > 1)
		text_add(&text, "rank %d, ", fault->rank);
	if (fault->core == FAULT_IN_HBM)
		text_add(&text, "HBM");
	else
		text_add(&text, "core %d", fault->core);
	text_add(&text, ", address %" PRId64 ", cycle %" PRId64, fault->address, fault->cycle);
	return text_read(&text);
}

static void add_fault(
	struct faults *faults, struct sim_fault fault, const char *format, va_list arguments)
{
	const struct program *program = faults->program;
	char message[512];
	if (faults_full(faults))
		return;
	fault.op = fault.step >= 0 && fault.step < program->step_count
			   ? program->step_ops[fault.step]
			   : -1;
	fault.cycle = faults->cycle;
	fault.rank = faults->rank;
	vsnprintf(message, sizeof message, format, arguments);
	fault.text = arena_format(faults->arena, "%s: %s", print_place(faults, &fault), message);
	faults->at[faults->count++] = fault;
}

void fault_add(struct faults *faults, enum sim_fault_kind kind, uint32_t instruction, int core,
	int64_t address, const char *format, ...)
{
	if (faults_is_known(faults, kind, instruction))
		return;
	struct sim_fault fault = {
		.kind = kind,
		.step = faults->program->instructions[instruction].step,
		.instruction = (int)instruction,
		.core = core,
		.address = address,
	};
	va_list arguments;
	va_start(arguments, format);
	add_fault(faults, fault, format, arguments);
	va_end(arguments);
}

void fault_add_step(struct faults *faults, enum sim_fault_kind kind, int step, int core,
	int64_t address, const char *format, ...)
{
	struct sim_fault fault = {
		.kind = kind,
		.step = step,
		.instruction = -1,
		.core = core,
		.address = address,
	};
	va_list arguments;
	va_start(arguments, format);
	add_fault(faults, fault, format, arguments);
	va_end(arguments);
}

static int clamp_step(const struct program *program, int step)
{
	return step < 0 ? 0 : step > program->step_count ? program->step_count : step;
}

static bool allotment_is_inside(const struct program *program, const struct allotment *allotment)
{
	const struct arch *arch = program->arch;
	int64_t capacity = arch->lx < 0 ? 0 : arch_lx(arch)->capacity;
	return allotment->size >= 0 && allotment->address >= 0 && allotment->size <= capacity &&
	       allotment->address <= capacity - allotment->size;
}

/* Counts, or with `at` lists, the allotments of every tensor and step; first[i + 1] is list i's
 * cursor. */
static void allotments_visit(struct allotment_index *index, const struct program *program)
{
	for (size_t a = 0; a < program->allotment_count; a++) {
		const struct allotment *allotment = &program->allotments[a];
		size_t list = (size_t)allotment->tensor, end = list + 1;
		if (!allotment_is_inside(program, allotment) ||
			allotment->tensor >= (int)index->tensor_count)
			continue;
		if (allotment->tensor < 0) {
			list = index->tensor_count + (size_t)clamp_step(program, allotment->from);
			end = index->tensor_count + (size_t)clamp_step(program, allotment->to);
		}
		for (; list < end; list++) {
			if (index->at)
				index->at[index->first[list + 1]++] = allotment;
			else
				index->first[list + 2]++;
		}
	}
}

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena)
{
	struct allotment_index index = {
		program->workload->tensor_count, (size_t)program->step_count, NULL, NULL};
	size_t lists = index.tensor_count + index.step_count;
	index.first = arena_array(arena, size_t, lists + 2);
	allotments_visit(&index, program);
	for (size_t i = 0; i < lists; i++)
		index.first[i + 2] += index.first[i + 1];
	index.at = arena_array(arena, const struct allotment *, index.first[lists + 1]);
	allotments_visit(&index, program);
	return index;
}

static const char *allotment_name(const struct program *program, const struct allotment *allotment)
{
	if (allotment->tensor < 0)
		return "tile buffers";
	return program->workload->tensors[allotment->tensor].name;
}

static bool takes_over(const struct allotment *child, const struct allotment *parent)
{
	return parent->tensor >= 0 && child->in_place_of == parent->tensor &&
	       child->address == parent->address && child->size <= parent->size &&
	       parent->to == child->from + 1;
}

static bool allotment_share(const struct allotment *a, const struct allotment *b)
{
	bool in_time = a->from < b->to && b->from < a->to;
	bool in_space = a->address - b->address < b->size && b->address - a->address < a->size;
	return (a->cores & b->cores) && in_time && in_space && !takes_over(a, b) &&
	       !takes_over(b, a);
}

static int by_start(const void *left, const void *right)
{
	const struct allotment *a = *(const struct allotment *const *)left;
	const struct allotment *b = *(const struct allotment *const *)right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a > b) - (a < b);
}

static void complain_share(
	struct faults *faults, const struct allotment *before, const struct allotment *after)
{
	bool in_order = before < after; /* as the program lists them */
	fault_add_step(faults, FAULT_OVERLAP, after->from,
		__builtin_ctzll(before->cores & after->cores),
		number_max(before->address, after->address),
		"'%s' and '%s' share bytes and live together",
		allotment_name(faults->program, in_order ? before : after),
		allotment_name(faults->program, in_order ? after : before));
}

/* By their starts: an allotment that begins while others live is compared with those. */
void allotment_check(const struct program *program, struct faults *faults, struct arena *arena)
{
	size_t count = 0;
	const struct allotment **order =
		arena_array(arena, const struct allotment *, program->allotment_count);
	for (size_t i = 0; i < program->allotment_count; i++) {
		const struct allotment *allotment = &program->allotments[i];
		if (allotment_is_inside(program, allotment))
			order[count++] = allotment;
		else
			fault_add_step(faults, FAULT_BOUNDS, allotment->from,
				allotment->cores ? __builtin_ctzll(allotment->cores) : 0,
				allotment->address, "the %" PRId64 " bytes of '%s' leave LX",
				allotment->size, allotment_name(program, allotment));
	}
	qsort(order, count, sizeof *order, by_start);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count && order[j]->from < order[i]->to; j++)
			if (allotment_share(order[i], order[j]))
				complain_share(faults, order[i], order[j]);
}

/* The first of a list that has the bytes then and there. */
static const struct allotment *find_in(const struct allotment_index *index, size_t list, int step,
	int core, int64_t low, int64_t high)
{
	for (size_t k = index->first[list]; k < index->first[list + 1]; k++) {
		const struct allotment *allotment = index->at[k];
		if (allotment->from <= step && step < allotment->to &&
			allotment->cores >> core & 1 && low >= allotment->address &&
			high - allotment->address <= allotment->size)
			return allotment;
	}
	return NULL;
}

const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high)
{
	bool known = tensor >= 0 && (size_t)tensor < index->tensor_count;
	const struct allotment *own =
		known ? find_in(index, (size_t)tensor, step, core, low, high) : NULL;
	const struct allotment *tiles =
		find_in(index, index->tensor_count + (size_t)step, step, core, low, high);
	return !own || (tiles && tiles < own) ? tiles : own;
}

int64_t box_accumulator_unit(const struct layout *layout)
{
	return (int64_t)layout->per_stick * FP32_BYTES;
}

static const char *check_region(const struct workload *workload, const struct region *region)
{
	if (region->tensor < 0 || (size_t)region->tensor >= workload->tensor_count)
		return "no such tensor";
	const struct layout *layout = &workload->tensors[region->tensor].layout;
	if (region->rank != layout->rank - 1)
		return "the box has another rank than its tensor";
	int64_t sticks = 1;
	for (int d = 0; d < region->rank; d++) {
		if (region->first[d] < 0 || region->count[d] < 1 ||
			region->count[d] > layout->size[d] ||
			region->first[d] > layout->size[d] - region->count[d])
			return "the box leaves its tensor";
		sticks *= region->count[d];
	}
	return sticks == region->sticks ? NULL : "the box has another number of sticks";
}

/* The bytes that the units span; false if no int64_t counts them. */
static bool find_span(
	const struct region *region, const struct location *location, int64_t unit, struct box *box)
{
	int64_t span;
	box->low = location->address;
	if (!number_add(location->address, unit, &box->high))
		return false;
	for (int d = 0; d < region->rank; d++) {
		int64_t *side = location->stride[d] < 0 ? &box->low : &box->high;
		if (!number_mul((int64_t)region->count[d] - 1, location->stride[d], &span) ||
			!number_add(*side, span, side))
			return false;
	}
	return true;
}

static bool is_aligned(const struct region *region, const struct location *location)
{
	bool aligned = location->address % STICK_BYTES == 0;
	for (int d = 0; d < region->rank; d++)
		aligned &= region->count[d] == 1 || location->stride[d] % STICK_BYTES == 0;
	return aligned;
}

const char *box_make(const struct workload *workload, const struct region *region,
	const struct location *location, int64_t unit, int64_t memory_size, struct box *out,
	int64_t *at)
{
	*at = location->address;
	const char *why = check_region(workload, region);
	if (why)
		return why;
	struct box box = {.tensor = region->tensor, .rank = region->rank, .unit = unit};
	if (!find_span(region, location, unit, &box))
		return "the box lies beyond all addresses";
	*at = box.low < 0 ? box.low : box.high;
	if (box.low < 0 || box.high > memory_size)
		return "the box leaves the memory";
	*at = location->address;
	if (!is_aligned(region, location))
		return "the box does not lie on sticks";
	int64_t step = 1;
	for (int d = region->rank - 1; d >= 0; d--) {
		box.first[d] = region->first[d];
		box.count[d] = region->count[d];
		box.stride[d] = region->count[d] == 1 ? 0 : location->stride[d];
		box.step[d] = step;
		box.stick += region->first[d] * step;
		step *= workload->tensors[region->tensor].layout.size[d];
	}
	box.address = location->address;
	*out = box;
	return NULL;
}

bool touch_loops(const struct op *op, const struct compute *compute)
{
	for (int l = 0; l < op->loop_count; l++) {
		int64_t extent = op->loops[l].extent;
		if (compute->first[l] < 0 || compute->count[l] < 1 || compute->count[l] > extent ||
			compute->first[l] > extent - compute->count[l])
			return false;
	}
	return true;
}

static bool find_host_box(
	const struct op *op, const struct compute *compute, int operand, struct touch *touch)
{
	const struct access *access = op_operand(op, operand);
	for (int h = 0; h < touch->layout->host_rank; h++) {
		const struct affine *index = &access->host[h];
		touch->low[h] = touch->high[h] = index->offset;
		for (int l = 0; l < op->loop_count; l++) {
			int64_t length = (compute->count[l] - 1) * index->coefficient[l];
			touch->low[h] +=
				compute->first[l] * index->coefficient[l] + number_min(length, 0);
			touch->high[h] +=
				compute->first[l] * index->coefficient[l] + number_max(length, 0);
		}
		touch->from[h] = touch->low[h];
		touch->to[h] = touch->high[h];
		access_clip(access, touch->layout->host_size[h], &touch->low[h], &touch->high[h]);
		if (touch->low[h] < 0 || touch->high[h] >= touch->layout->host_size[h])
			return false;
	}
	return true;
}

bool touch_make(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct touch *out)
{
	const struct layout *layout = &workload->tensors[op_operand(op, operand)->tensor].layout;
	out->layout = layout;
	if (!find_host_box(op, compute, operand, out))
		return false;
	for (int d = 0; d < layout->rank - 1; d++) {
		int h = layout->host_dim[d];
		out->first[d] = 0;
		out->count[d] = 1;
		if (layout->part[d] == PART_SYNTHETIC)
			continue;
		int64_t step = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		out->first[d] = out->low[h] / step;
		out->count[d] = out->high[h] / step - out->first[d] + 1;
	}
	return true;
}

bool touch_within(const struct touch *touch, const struct region *region)
{
	for (int d = 0; d < region->rank; d++) {
		if (touch->first[d] < region->first[d] ||
			touch->first[d] + touch->count[d] >
				(int64_t)region->first[d] + region->count[d])
			return false;
	}
	return true;
}

bool touch_equals(const struct touch *touch, const struct region *region)
{
	for (int d = 0; d < region->rank; d++) {
		if (touch->first[d] != region->first[d] || touch->count[d] != region->count[d])
			return false;
	}
	return true;
}

int64_t touch_stick_elements(const struct touch *touch)
{
	const struct layout *layout = touch->layout;
	int64_t elements = 1;
	for (int d = 0; d < layout->rank - 1; d++) {
		int64_t count = touch->count[d];
		if (layout->part[d] == PART_STICK_OUTER) {
			int64_t first = touch->first[d] * layout->per_stick;
			int64_t size = layout->host_size[layout->host_dim[d]];
			count = number_min(size - first, count * layout->per_stick);
		}
		elements *= count;
	}
	return elements;
}

int64_t touch_elements(const struct touch *touch)
{
	int64_t elements = 1;
	for (int h = 0; h < touch->layout->host_rank; h++)
		elements *= touch->high[h] - touch->low[h] + 1;
	return elements;
}

/* For one op: sums[l][i] is the sum of the numbers of loop l's indices below i. */
struct cover_table {
	bool known;
	uint64_t *sums[OP_LOOPS_MOST];
};

struct cover {
	const struct workload *workload;
	struct arena *arena;
	struct cover_table *tables;
};

struct cover *cover_open(const struct workload *workload, struct arena *arena)
{
	struct cover *cover = arena_new(arena, struct cover);
	cover->workload = workload;
	cover->arena = arena;
	cover->tables = arena_array(arena, struct cover_table, workload->op_count);
	return cover;
}

static const struct cover_table *cover_find_table(struct cover *cover, int number)
{
	const struct op *op = &cover->workload->ops[number];
	struct cover_table *table = &cover->tables[number];
	if (table->known)
		return table;
	table->known = true;
	for (int l = 0; l < op->loop_count; l++) {
		if (!op->loops[l].reduction)
			continue;
		struct random random = random_open((uint64_t)number, (uint64_t)l);
		uint64_t *sums = arena_array(cover->arena, uint64_t, op->loops[l].extent + 1);
		for (int64_t i = 0; i < op->loops[l].extent; i++)
			sums[i + 1] = sums[i] + (random_next(&random) | 1);
		table->sums[l] = sums;
	}
	return table;
}

uint64_t cover_part(struct cover *cover, const struct compute *compute)
{
	const struct op *op = &cover->workload->ops[compute->op];
	const struct cover_table *table = cover_find_table(cover, compute->op);
	uint64_t part = 1;
	for (int l = 0; l < op->loop_count; l++) {
		const uint64_t *sums = table->sums[l];
		if (sums)
			part *= sums[compute->first[l] + compute->count[l]] -
				sums[compute->first[l]];
	}
	return part;
}

uint64_t cover_whole(struct cover *cover, int number)
{
	const struct op *op = &cover->workload->ops[number];
	const struct cover_table *table = cover_find_table(cover, number);
	uint64_t whole = 1;
	for (int l = 0; l < op->loop_count; l++) {
		if (table->sums[l])
			whole *= table->sums[l][op->loops[l].extent];
	}
	return whole;
}

enum {
	PAGE_CELLS = 1024,
	UNWRITTEN = -1,
	HBM = PROGRAM_CORES_MOST, /* the memory behind those of the cores */
};

struct shadow_cell {
	struct content content;
	struct race_mark mark; /* without a writer: it was there before the program */
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
	int64_t lx = program->arch->lx < 0 ? 0 : arch_lx(program->arch)->capacity;
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

/* Reports an access that conflicts with an earlier one which is not ordered before it. */
static void complain_order(struct shadow *shadow, int core, int64_t address, uint32_t earlier,
	const char *what, const char *done)
{
	if (earlier == RACE_NONE)
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
			address, "it reads %s, which was never written", wanted);
		return;
	}
	print_content(shadow, found, other, sizeof other);
	fault_add(shadow->faults, FAULT_STALE, race_current(shadow->race), core, address,
		"it reads %s and finds %s", wanted, other);
}

/* Checks that an earlier step did not leave the content, even if it looks right, nor that it was in LX before an
 * opaque op, which may do anything there. */
static bool check_since(struct shadow *shadow, int core, int64_t address, int since,
	const struct content *expected, uint32_t writer)
{
	const struct instruction *instructions = shadow->program->instructions;
	int wiped = shadow->wiped[instructions[race_current(shadow->race)].step];
	if (core != FAULT_IN_HBM)
		since = number_max(since, wiped);
	if (writer == RACE_NONE || instructions[writer].step >= since)
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
	complain_order(
		shadow, core, address, race_read(shadow->race, &cell->mark), "reads", "writes");
	if (found->tensor == expected->tensor && found->piece == expected->piece &&
		found->stick == expected->stick)
		return check_since(
			shadow, core, address, since, expected, race_writer(&cell->mark));
	complain_content(shadow, core, address, expected, found);
	return false;
}

void shadow_write(struct shadow *shadow, int core, int64_t address, const struct content *content)
{
	struct shadow_cell *cell = find_cell(shadow, core, address);
	struct race_conflict found = race_write(shadow->race, &cell->mark);
	complain_order(shadow, core, address, found.writer, "overwrites", "writes");
	complain_order(shadow, core, address, found.reader, "overwrites", "reads");
	cell->content = *content;
}

/*
 * A sorted array with a gap where the latest piece was inserted or removed: rows that are written in order of
 * address move no other piece.
 */
struct pieces {
	struct arena *arena;
	struct written_piece *at;
	size_t count, capacity;
	size_t gap;    /* pieces before it; those behind it end at the capacity */
	size_t latest; /* index of the latest access */
};

struct pieces *pieces_open(struct arena *arena)
{
	struct pieces *pieces = arena_new(arena, struct pieces);
	pieces->arena = arena;
	return pieces;
}

void pieces_clear(struct pieces *pieces)
{
	pieces->count = pieces->gap = pieces->latest = 0;
}

static struct written_piece *piece_at(const struct pieces *pieces, size_t i)
{
	return &pieces->at[i < pieces->gap ? i : i + pieces->capacity - pieces->count];
}

static bool is_first_behind(const struct pieces *pieces, size_t i, int64_t address)
{
	return i < pieces->count && piece_at(pieces, i)->high > address &&
	       (i == 0 || piece_at(pieces, i - 1)->high <= address);
}

/* The index of the first piece that ends behind an address. */
static size_t find_piece(const struct pieces *pieces, int64_t address)
{
	size_t at;
	for (at = pieces->latest; at < pieces->latest + 2; at++)
		if (is_first_behind(pieces, at, address))
			return at;
	bisect(at, 0, pieces->count, piece_at(pieces, at)->high <= address);
	return at;
}

const struct written_piece *pieces_find(struct pieces *pieces, int64_t address)
{
	pieces->latest = find_piece(pieces, address);
	if (pieces->latest == pieces->count || piece_at(pieces, pieces->latest)->low > address)
		return NULL;
	return piece_at(pieces, pieces->latest);
}

static void move_gap(struct pieces *pieces, size_t to)
{
	size_t room = pieces->capacity - pieces->count, from = pieces->gap;
	struct written_piece *at = pieces->at;
	if (to < from)
		memmove(at + to + room, at + to, (from - to) * sizeof *at);
	else if (to > from)
		memmove(at + from, at + from + room, (to - from) * sizeof *at);
	pieces->gap = to;
}

static void insert_piece(struct pieces *pieces, size_t i, struct written_piece piece)
{
	if (pieces->count == pieces->capacity) {
		move_gap(pieces, pieces->count);
		pieces->at = array_grown(pieces->arena, pieces->at, pieces->count,
			&pieces->capacity, sizeof *pieces->at);
	}
	move_gap(pieces, i);
	pieces->at[pieces->gap++] = piece;
	pieces->count++;
}

static void remove_pieces(struct pieces *pieces, size_t from, size_t to)
{
	if (from == to)
		return;
	move_gap(pieces, from);
	pieces->count -= to - from;
}

static bool written_piece_continues(
	const struct written_piece *piece, const struct written_piece *next)
{
	return piece->high == next->low && piece->base == next->base &&
	       piece->tensor == next->tensor && piece->step == next->step &&
	       piece->part == next->part;
}

/* Ends the piece with index i where the other one begins; its rest behind that becomes a piece. */
static void cut_piece(struct pieces *pieces, size_t i, const struct written_piece *other)
{
	struct written_piece rest = *piece_at(pieces, i);
	piece_at(pieces, i)->high = other->low;
	rest.low = other->high;
	if (rest.low < rest.high)
		insert_piece(pieces, i + 1, rest);
}

void pieces_write(struct pieces *pieces, struct written_piece piece)
{
	if (piece.low >= piece.high)
		return;
	size_t from = find_piece(pieces, piece.low), to;
	if (from < pieces->count && piece_at(pieces, from)->low < piece.low)
		cut_piece(pieces, from++, &piece);
	for (to = from; to < pieces->count && piece_at(pieces, to)->high <= piece.high;)
		to++;
	if (to < pieces->count)
		piece_at(pieces, to)->low = number_max(piece_at(pieces, to)->low, piece.high);
	if (from > 0 && written_piece_continues(piece_at(pieces, from - 1), &piece))
		piece.low = piece_at(pieces, --from)->low;
	if (to < pieces->count && written_piece_continues(&piece, piece_at(pieces, to)))
		piece.high = piece_at(pieces, to++)->high;
	if (from == to) {
		insert_piece(pieces, from, piece);
	} else {
		*piece_at(pieces, from) = piece;
		remove_pieces(pieces, from + 1, to);
	}
	pieces->latest = from;
}
