#include "cli/certificate.h"
#include "cli/kind.h"
#include "cli/settings.h"

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct inputs inputs;
	enum format format = FORMAT_TEXT;
	const struct option_value *budget = option_find(arguments, "budget");
	if (option_find(arguments, "certificate"))
		return certificate_check_command(arena, arguments, diag);
	if (budget)
		diag_error(diag, budget->span, "'--budget' is for '--certificate'");
	bool good = !budget && inputs_read(arena, arguments, diag, &inputs);
	if (good && !inputs.kind->check)
		diag_error(diag, (struct span){0}, "%s has nothing to check", inputs.kind->noun);
	if (!good || !command_format(arguments, diag, &format) || diag_failed(diag))
		return command_refuse(diag);
	return inputs.kind->check(&inputs, format);
}

const struct command command_check = {
	.name = "check",
	.usage = "SPEC... [PLAN] [--certificate FILE]",
	.summary = "tells everything that is wrong with specs, a plan or a proof",
	.manual =
		"All complaints at once, with file, line and column.  Then the plan, or the one that\n"
		"default settings make, is run with an identity in every stick of memory: an\n"
		"overlap, a stale or unwritten read, a missing dependence shows.\n"
		"\n"
		"A problem: whether any mapping meets the constraints and fits; if none does, what\n"
		"each limit would have to be, and a smallest set of constraints that cannot be met\n"
		"together; how many mappings there are; what stands against the mapping, if there is\n"
		"one.  Exit status 1 when nothing fits or the mapping cannot be, 3 when that was not\n"
		"decided.\n"
		"\n"
		"A broadcast or an operation beside it: which rules it breaks, by their codes; else\n"
		"it is executed.\n"
		"\n"
		"With --certificate, of the certificate.yaml in a results folder: that it is of these\n"
		"specs, that its points keep the constraints, fit and cost what is said, and, by a plain\n"
		"search that shares nothing with the solvers, that no mapping of the whole space is\n"
		"better than claimed.  The counting is the certificate's.  Exit status 1 when it is\n"
		"rejected, with the reason; 3 when the budget ended first.  A proof among factors that\n"
		"need not divide (--imperfect) has no certificate.\n"
		"\n"
		"With --certificate and a plan of a workload graph: that the plan keeps all rules and is\n"
		"worth what its proof says, and, by a search that shares nothing with the solvers, that\n"
		"no plan of the space that the proof names is below its bound.\n",
	.reads_specs = true,
	.bit = OF_CHECK,
	.run = run,
};
