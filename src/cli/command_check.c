#include "cli/certificate.h"
#include "cli/kind.h"
#include "cli/listener.h"
#include "cli/settings.h"

int kind_check(const struct inputs *inputs, enum format format)
{
	if (!inputs->kind->check)
		diag_error(inputs->diag, (struct span){0}, "%s has nothing to check",
			inputs->kind->noun);
	return diag_failed(inputs->diag) ? command_refuse(inputs->diag)
					 : inputs->kind->check(inputs, format);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct inputs inputs;
	struct listener listener;
	enum format format = FORMAT_TEXT;
	static const char *const limits[] = {"budget", "time-limit"};
	bool limited = false;
	if (option_find(arguments, "certificate"))
		return certificate_check_command(arena, arguments, diag);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		const struct option_value *limit = option_find(arguments, limits[i]);
		if (limit)
			diag_error(diag, limit->span, "'--%s' is for '--certificate'", limits[i]);
		limited |= limit != NULL;
	}
	if (limited || !inputs_read(arena, arguments, diag, &inputs) ||
		!command_format(arguments, diag, &format))
		return command_refuse(diag);
	kind_listen(&inputs, &listener);
	return kind_check(&inputs, format);
}

const struct command command_check = {
	.name = "check",
	.usage = "SPEC... [PLAN] [--certificate FILE]",
	.summary = "tells everything that is wrong with specs, a plan or a proof",
	.manual =
		"All complaints at once, with file, line and column.  Then the plan, or the one\n"
		"that default settings make, is run with an identity in every stick of memory: an\n"
		"overlap, a stale or unwritten read, a missing dependence shows.\n"
		"\n"
		"A problem: whether any mapping meets the constraints and fits; if none does,\n"
		"what each limit would have to be, and a smallest set of constraints that cannot\n"
		"be met together; how many mappings there are; what stands against the mapping,\n"
		"if there is one.  Exit status 1 when nothing fits or the mapping cannot be, 3\n"
		"when that was not decided.\n"
		"\n"
		"A broadcast or an operation beside it: which rules it breaks, by their codes;\n"
		"else it is executed.\n"
		"\n"
		"With --certificate, of the certificate.yaml in a results folder: that it is of\n"
		"these specs, that its points keep the constraints, fit and cost what is said,\n"
		"and, by a plain search that shares nothing with the solvers, that no mapping of\n"
		"the whole space is better than claimed.  The counting is the certificate's.\n"
		"Exit status 1 when it is rejected, with the reason; 3 when a limit ended it\n"
		"first.  It may take 30 times as long as finding the proof did, since it has\n"
		"none of the solver's bounds; --budget and --time-limit end it earlier.  A\n"
		"proof among factors that need not divide (--imperfect) has no certificate.\n"
		"\n"
		"With --certificate and a plan of a workload graph: that the plan keeps all rules\n"
		"and is worth what its proof says, and, by a search that shares nothing with the\n"
		"solvers, that no plan of the space that the proof names is below its bound.\n",
	.reads_specs = true,
	.bit = OF_CHECK,
	.run = run,
};
