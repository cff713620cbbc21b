#include "tests/support/program_text.h"

#include "base/text.h"

#include <inttypes.h>

/* "0-3,5" */
static void print_cores(struct text *text, uint64_t mask)
{
	const char *comma = "";
	for (int c = 0; c < PROGRAM_CORES_MOST; c++) {
		if (!(mask >> c & 1))
			continue;
		int last = c;
		while (last + 1 < PROGRAM_CORES_MOST && mask >> (last + 1) & 1)
			last++;
		text_add(text, "%s%d", comma, c);
		if (last > c)
			text_add(text, "-%d", last);
		comma = ",";
		c = last;
	}
}

static void print_region(
	struct text *text, const struct program *program, const struct region *region)
{
	text_add(text, " %s[", program->workload->tensors[region->tensor].name);
	for (int d = 0; d < region->rank; d++)
		text_add(text, "%s%" PRId32 "+%" PRId32, d ? " " : "", region->first[d],
			region->count[d]);
	text_add(text, "]");
}

static void print_transfer(
	struct text *text, const struct program *program, const struct instruction *instruction)
{
	const struct transfer *transfer = instruction->transfer;
	int64_t hbm = transfer->hbm.address, lx = transfer->box->lx.address;
	bool in = instruction->engine == ENGINE_DMA_IN;
	print_region(text, program, &transfer->box->region);
	text_add(text, " %" PRId64 " > ", in ? hbm : lx);
	if (!in && program_broadcast(program, instruction))
		text_add(text, "rank %d ", transfer->rank);
	text_add(text, "%" PRId64, in ? lx : hbm);
}

static void print_compute(
	struct text *text, const struct program *program, const struct compute *compute)
{
	const struct op *op = &program->workload->ops[compute->op];
	for (int l = 0; l < op->loop_count; l++)
		text_add(text, " %s%" PRId64 "+%" PRId64, op->loops[l].name, compute->first[l],
			compute->count[l]);
	for (int i = 0; compute->whole && i < op_operands(op); i++)
		text_add(text, "%s %s@%" PRId64, i == op->read_count ? " ->" : "",
			program->workload->tensors[compute->whole[i].tensor].name,
			compute->whole[i].address);
	for (int i = 0; i < compute->read_count; i++) {
		print_region(text, program, &compute->reads[i]->region);
		text_add(text, "@%" PRId64, compute->reads[i]->lx.address);
	}
	if (!compute->write)
		return;
	text_add(text, " ->");
	print_region(text, program, &compute->write->region);
	if (compute->finish)
		text_add(text, "@%" PRId64, compute->write->lx.address);
	if (compute->accumulator_read || compute->accumulator_write)
		text_add(text, " acc@%" PRId64 "%s%s", compute->accumulator->address,
			compute->accumulator_read ? "r" : "",
			compute->accumulator_write ? "w" : "");
}

static void print_combine(
	struct text *text, const struct program *program, const struct combine *combine)
{
	print_region(text, program, &combine->region);
	text_add(text, "@%" PRId64 " -> @%" PRId64, combine->accumulator.address,
		combine->output.address);
}

static void print_send(struct text *text, const struct program *program, const struct send *send)
{
	if (!send->from) {
		text_add(text, " %" PRId64 " runs of %" PRId64 " parts", send->runs, send->parts);
		return;
	}
	print_region(text, program, &send->from->region);
	text_add(text, "@%" PRId64 " -> ", send->from->lx.address);
	print_cores(text, send->receivers);
	text_add(text, "@%" PRId64, send->to->lx.address);
}

static void print_instruction(
	struct text *text, const struct program *program, const struct instruction *instruction)
{
	text_add(text, "%s ", engine_names[instruction->engine]);
	if (instruction->engine == ENGINE_RING) {
		const struct combine *combine = instruction->combine;
		for (int i = 0; i < combine->core_count; i++)
			text_add(text, "%s%d", i ? "," : "", combine->cores[i]);
	} else {
		print_cores(text, instruction->mask);
	}
	if (instruction->engine != ENGINE_SYNC)
		text_add(text, ":");
	switch (instruction->engine) {
	case ENGINE_DMA_IN:
	case ENGINE_DMA_OUT:
		print_transfer(text, program, instruction);
		break;
	case ENGINE_COMPUTE:
		print_compute(text, program, instruction->compute);
		break;
	case ENGINE_RING:
		print_combine(text, program, instruction->combine);
		break;
	case ENGINE_UP:
	case ENGINE_DOWN:
		print_send(text, program, instruction->send);
		break;
	case ENGINE_SYNC:
	case ENGINE_COUNT:
		break;
	}
	for (size_t i = 0; i < instruction->dependence_count; i++)
		text_add(text, "%s %" PRIu32, i ? "" : " after", instruction->dependences[i]);
}

const char *program_text(struct arena *arena, const struct program *program)
{
	struct text text = text_open(arena);
	for (size_t i = 0; i < program->instruction_count; i++) {
		text_add(&text, "%zu ", i);
		print_instruction(&text, program, &program->instructions[i]);
		text_add(&text, "\n");
	}
	return text_read(&text);
}
