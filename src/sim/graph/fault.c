#include "sim/graph/fault.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *const sim_fault_names[] = {
	"overlap", "unwritten", "stale", "bounds", "dependence", "deadlock", "value", NULL};

static bool is_known(const struct faults *faults, enum sim_fault_kind kind, uint32_t instruction)
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

static void add(
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
	if (is_known(faults, kind, instruction))
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
	add(faults, fault, format, arguments);
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
	add(faults, fault, format, arguments);
	va_end(arguments);
}
