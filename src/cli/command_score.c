#include "cli/kind.h"
#include "cli/listener.h"
#include "cli/settings.h"

void kind_listen(struct inputs *inputs, struct listener *listener)
{
	if (!inputs->kind->stops)
		return;
	*listener = listener_open(0, true, "steps");
	inputs->wishes.asker = (struct asker){.jobs = 1, .stopper = {listener, listener_stop}};
}

int kind_score(const struct inputs *inputs, enum format format, bool simulated)
{
	const struct input_kind *kind = inputs->kind;
	if (!kind->score)
		diag_error(inputs->diag, (struct span){0}, "%s has no score", kind->noun);
	else if (format == FORMAT_TIMELOOP && !kind->timeloop)
		diag_error(inputs->diag, (struct span){0},
			"'--format timeloop' is for problems, and this is %s", kind->noun);
	if (diag_failed(inputs->diag))
		return command_refuse(inputs->diag);
	return kind->score(inputs, format, simulated);
}

/* Everything up to the printing is the same for the model and the simulator. */
static int report(
	struct arena *arena, const struct arguments *arguments, struct diag *diag, bool simulated)
{
	struct inputs inputs;
	struct listener listener;
	enum format format = command_usual_format();
	bool good = inputs_read(arena, arguments, diag, &inputs);
	good &= command_format(arguments, diag, &format);
	if (!good)
		return command_refuse(diag);
	kind_listen(&inputs, &listener);
	return kind_score(&inputs, format, simulated);
}

static int score(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return report(arena, arguments, diag, false);
}

static int simulate(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	return report(arena, arguments, diag, true);
}

const struct command command_score = {
	.name = "score",
	.usage = "SPEC... [PLAN] [OPTION...]",
	.summary = "the analytical model of a plan",
	.manual =
		"Without a plan file, of the plan that the default settings make.  A problem: the\n"
		"counts, time and energy of its mapping.  Exit status 1 when it cannot be.\n",
	.reads_specs = true,
	.bit = OF_SCORE,
	.run = score,
};

const struct command command_simulate = {
	.name = "simulate",
	.usage = "SPEC... [PLAN] [OPTION...]",
	.summary = "executes a plan with real bytes and compares with the model",
	.manual =
		"Without a plan file, the plan that the default settings make.  The mapping of a\n"
		"problem is executed with real numbers, and compared with a plain reference, too.\n"
		"Exit status 1 when the run shows a fault, its counts are not the model's, or a\n"
		"result is off by more than its op may be (specs/README.md); 3 when it would be\n"
		"too long.\n",
	.reads_specs = true,
	.bit = OF_SIMULATE,
	.run = simulate,
};
