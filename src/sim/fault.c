#include "sim/fault.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *const sim_fault_names[] = {
	"overlap", "unwritten", "stale", "bounds", "dependence", "deadlock", NULL};

static bool is_known(const struct faults *faults, enum sim_fault_kind kind, int64_t instruction)
{
	for (int i = 0; i < faults->count; i++) {
		if (faults->at[i].kind == kind && faults->at[i].instruction == instruction)
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
	else
		text_add(&text, "(step %d", fault->step);
	if (fault->instruction >= 0)
		text_add(&text, ", instruction %d", fault->instruction);
	text_add(&text, "), ");
	if (fault->core == FAULT_IN_HBM)
		text_add(&text, "HBM");
	else
		text_add(&text, "core %d", fault->core);
	text_add(&text, ", address %" PRId64 ", cycle %" PRId64, fault->address, fault->cycle);
	return text_read(&text);
}

void fault_add(struct faults *faults, enum sim_fault_kind kind, int64_t instruction, int core,
	int64_t address, const char *format, ...)
{
	const struct program *program = faults->program;
	if (faults_full(faults) || (instruction >= 0 && is_known(faults, kind, instruction)))
		return;
	struct sim_fault *fault = &faults->at[faults->count++];
	*fault = (struct sim_fault){
		.kind = kind,
		.step = instruction >= 0 ? program->instructions[instruction].step : -1,
		.op = -1,
		.instruction = (int)instruction,
		.core = core,
		.address = address,
		.cycle = faults->cycle,
	};
	if (fault->step >= 0 && fault->step < program->step_count)
		fault->op = program->step_ops[fault->step];
	char message[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	fault->text = arena_format(faults->arena, "%s: %s", print_place(faults, fault), message);
}
