#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "model/machine/arch_read.h"
#include "model/transfer/broadcast.h"
#include "report/transfer/broadcast_report.h"
#include "search/transfer/broadcast_search.h"

#include <inttypes.h>
#include <stdio.h>

/* A `broadcast:`, and what may come with it: `architecture`, `search`. */
struct broadcast_inputs {
	const struct broadcast *broadcast;
	struct ratio clock_hz;    /* of the architecture; 1 GHz without */
	struct portfolio solvers; /* of --solver broadcast=NAME; none: the usual ones */
};

/* True if the operation has such a solver's stage; complains. */
static bool has_stage(const struct inputs *inputs, const struct broadcast *broadcast,
	enum stage wanted, struct span span)
{
	enum stage stage;
	const char *name = operation_names[broadcast->operation];
	if (!broadcast_stage(broadcast, &stage))
		diag_error(inputs->diag, span, "a %s has no algorithms: one rank sends to another",
			name);
	else if (wanted != STAGE_COUNT && stage != wanted)
		diag_error(inputs->diag, span, "a %s has the one stage '%s', not '%s'", name,
			stage_names[stage], stage_names[wanted]);
	return !diag_failed(inputs->diag);
}

/* The algorithm of the broadcast itself must be one, and so must those that are asked for. */
static void check_algorithms(
	struct inputs *inputs, struct broadcast_inputs *own, const struct node *node)
{
	const struct broadcast *broadcast = own->broadcast;
	enum stage stage;
	for (size_t i = 0; i < inputs->choice_count; i++) {
		const struct choice *choice = &inputs->choices[i];
		if (choice->line && (!i || !choice[-1].line))
			own->solvers.count =
				0; /* the command line's stand in place of the specs' */
		if (has_stage(inputs, broadcast, choice->solver->stage, choice->span))
			portfolio_add(&own->solvers, choice->solver);
	}
	if (!broadcast->algorithm)
		return;
	struct span span = node_find(node, "algorithm")->span;
	if (has_stage(inputs, broadcast, STAGE_COUNT, span) && broadcast_stage(broadcast, &stage))
		inputs_solver(stage, broadcast->algorithm, span, inputs->diag);
}

static bool is_timed(const struct inputs *inputs)
{
	const struct broadcast_inputs *own = inputs->own;
	return copying_takes_time(&own->broadcast->copying);
}

/* If no copy takes time, latency is not an objective unless it is asked for. */
static void leave_time_out(struct inputs *inputs, const struct node *node)
{
	if (is_timed(inputs))
		return;
	inputs->wishes.objectives =
		(struct objectives){2, {OBJECTIVE_BUFFER_BYTES, OBJECTIVE_LINK_BYTES}};
	diag_warning(inputs->diag, node->span,
		"no copy takes time here, so latencies are unknown; add an architecture with rates of "
		"copies and links (specs/arch/a2a3.yaml is one)");
}

static bool read(struct inputs *inputs, struct sheet *sheet)
{
	struct broadcast_inputs *own = arena_new(inputs->arena, struct broadcast_inputs);
	const struct node *node = sheet_find(sheet, "broadcast");
	const struct node *machine = sheet_find(sheet, "architecture");
	sheet_done(sheet);
	const struct arch *arch = machine ? arch_read(&inputs->reading, machine) : NULL;
	if (machine && !arch)
		return false;
	own->clock_hz = arch ? arch->clock_hz : (struct ratio){1000000000, 1};
	own->broadcast = broadcast_read(&inputs->reading, node, arch);
	inputs->own = own;
	if (own->broadcast)
		leave_time_out(inputs, node);
	inputs_settings(inputs, NULL);
	inputs_settings_done(inputs);
	if (!own->broadcast)
		return false;
	inputs->name = own->broadcast->name;
	check_algorithms(inputs, own, node);
	return true;
}

static double clock_ns(const struct inputs *inputs)
{
	const struct broadcast_inputs *own = inputs->own;
	return 1e9 / ratio_double(own->clock_hz);
}

/* The exit status after a stop, with its line. */
static int tell_stop(void)
{
	fputs("lxplore: not executed: it was stopped\n", command_people());
	return EXIT_NOTHING;
}

/* EXIT_IMPOSSIBLE after telling why it cannot be: rules that it breaks, or what is too large. */
static int broadcast_inputs_price(const struct inputs *inputs, struct broadcast_outcome *out)
{
	const struct broadcast_inputs *own = inputs->own;
	const struct broadcast *broadcast = own->broadcast;
	const char *why = NULL;
	if (broadcast_legal(broadcast, inputs->arena, inputs->diag))
		why = broadcast_price(broadcast, &inputs->wishes.asker, inputs->arena, out);
	if (why && stopper_stops(&inputs->wishes.asker.stopper))
		return tell_stop();
	if (why)
		diag_error(inputs->diag, broadcast->spans.all, "this %s cannot be: %s",
			operation_names[broadcast->operation], why);
	diag_print(inputs->diag, command_people());
	return diag_failed(inputs->diag) ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

static int score(const struct inputs *inputs, enum format format, bool simulated)
{
	struct arena *arena = inputs->arena;
	struct broadcast_outcome outcome;
	struct broadcast_trace times;
	const struct option_value *trace = option_find(inputs->arguments, "trace");
	double clock = clock_ns(inputs);
	int status = broadcast_inputs_price(inputs, &outcome);
	if (status != EXIT_FOUND)
		return status;
	if (simulated)
		broadcast_execute(&outcome, EXECUTION_BYTES_MOST, inputs->wishes.seed,
			trace ? &times : NULL, &inputs->wishes.asker.stopper, arena);
	if (simulated && !outcome.execution.finished && !outcome.execution.fault)
		return tell_stop();
	if (trace && outcome.execution.finished)
		command_write(
			arena, trace->text, broadcast_trace_json(arena, &outcome, &times, clock));
	json_t *tree = broadcast_json(arena, &outcome, clock, simulated);
	command_print(format == FORMAT_TEXT ? broadcast_text(arena, tree)
					    : command_value(arena, format, json_incref(tree)));
	json_decref(tree);
	return simulated && !outcome.execution.agrees ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

/* Which rules it breaks, or what it is; it is executed. */
static int check(const struct inputs *inputs, enum format format)
{
	return score(inputs, format, true);
}

/* --- explore */

static int prepare(struct exploring *exploring)
{
	const struct inputs *inputs = exploring->inputs;
	const struct broadcast_inputs *own = inputs->own;
	if (broadcast_legal(own->broadcast, exploring->arena, inputs->diag))
		return EXIT_FOUND;
	diag_print(inputs->diag, exploring->people);
	return EXIT_IMPOSSIBLE;
}

static struct explored run_search(struct exploring *exploring)
{
	const struct broadcast_inputs *own = exploring->inputs->own;
	struct broadcast_search search = {exploring->wishes, own->broadcast, own->solvers};
	return broadcast_explore(&search, exploring->arena);
}

static const char *plan(const struct exploring *exploring, size_t i)
{
	return broadcast_plan_yaml(exploring->arena, &exploring->explored.frontier.points[i]);
}

static struct result_texts texts(const struct exploring *exploring)
{
	const struct explored *explored = &exploring->explored;
	struct arena *arena = exploring->arena;
	double clock = clock_ns(exploring->inputs);
	return (struct result_texts){
		.run = broadcast_run_json(arena, &exploring->record, explored),
		.pareto = broadcast_pareto_csv(arena, explored, clock),
		.table = broadcast_table(arena, explored, clock),
		.work = arena_format(arena, "%" PRIu64 " ways", explored->effort.evaluated),
	};
}

const struct input_kind broadcast_kind = {
	.name = "broadcast",
	.noun = "a broadcast",
	.plural = "broadcasts",
	.summary =
		"broadcast: one operation between ranks (gather, scatter, reduce, put, get, too)",
	.key = "broadcast",
	.rank = 3,
	.subject = SUBJECT_BROADCAST,
	.objectives = {3, {OBJECTIVE_LATENCY, OBJECTIVE_BUFFER_BYTES, OBJECTIVE_LINK_BYTES}},
	.stages = 1 << STAGE_BROADCAST | 1 << STAGE_SCATTER,
	.read = read,
	.explore = {.counted = "ways",
		.found = "way to carry it out",
		.prepare = prepare,
		.run = run_search,
		.plan = plan,
		.texts = texts},
	.score = score,
	.stops = true,
	.check = check,
};
