#include "cli/inputs_broadcast.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/inputs_network.h"
#include "cli/inputs_objectives.h"
#include "model/machine/arch_read.h"
#include "search/drive/solver.h"
#include "search/transfer/broadcast_outcome.h"

#include <string.h>

struct draft {
	const struct reading *reading;
	struct broadcast_inputs *inputs;
	struct exploration *exploration;
	struct objective_scope scope;
};

/* The solvers of the operation; false after complaining: it has none. */
static bool find_stage(struct draft *draft, struct span span, enum stage *out)
{
	const struct broadcast *broadcast = draft->inputs->broadcast;
	*out = STAGE_BROADCAST;
	if (!broadcast || broadcast_stage(broadcast, out))
		return true;
	diag_error(draft->reading->diag, span, "a %s has no algorithms: one rank sends to another",
		operation_names[broadcast->operation]);
	return false;
}

static void take_solver(
	struct draft *draft, const char *name_of_stage, const char *name, struct span span)
{
	enum stage stage;
	if (!find_stage(draft, span, &stage))
		return;
	if (!text_equal(name_of_stage, stage_names[stage])) {
		diag_error(draft->reading->diag, span, "a %s has the one stage '%s', not '%s'",
			draft->inputs->broadcast
				? operation_names[draft->inputs->broadcast->operation]
				: "broadcast",
			stage_names[stage], name_of_stage);
		return;
	}
	draft->inputs->solver = inputs_solver(stage, name, span, draft->reading->diag);
}

static void read_search(struct draft *draft, const struct node *node)
{
	struct reader search;
	int64_t budget = 0, seed = (int64_t)draft->exploration->wishes.seed;
	if (!node || !reader_open(&search, draft->reading, node, "search"))
		return;
	objectives_read(&search, &draft->exploration->wishes.objectives, &draft->scope);
	const struct node *solver = read_map(&search, "solver", OPTIONAL);
	for (size_t i = 0; solver && i < solver->count; i++) {
		const struct node_entry *entry = &solver->entries[i];
		const char *name;
		if (node_text(draft->reading, entry->value, "a solver", &name))
			take_solver(draft, entry->key, name, entry->value->span);
	}
	if (read_integer(&search, "budget", OPTIONAL, 1, INT64_MAX, &budget))
		draft->exploration->wishes.budget = (uint64_t)budget;
	if (read_integer(&search, "seed", OPTIONAL, 0, INT64_MAX, &seed))
		draft->exploration->wishes.seed = (uint64_t)seed;
	reader_done(&search);
}

static void take_options(struct draft *draft, const struct arguments *arguments)
{
	static const char *const others[] = {
		"cores", "mode", "counting", "imperfect", "epsilon", "explain", NULL};
	struct exploration *exploration = draft->exploration;
	struct diag *diag = draft->reading->diag;
	int64_t seed = (int64_t)exploration->wishes.seed,
		budget = (int64_t)exploration->wishes.budget;
	int64_t steps = (int64_t)exploration->wishes.simulate_budget;
	int simulate = SIMULATE_ALL;
	for (size_t i = 0; others[i]; i++)
		if (option_find(arguments, others[i]))
			diag_error(diag, option_find(arguments, others[i])->span,
				"'--%s' says nothing about a broadcast", others[i]);
	network_limits_refuse(arguments, "a broadcast", diag);
	option_integer(arguments, "seed", 0, INT64_MAX, diag, &seed);
	option_integer(arguments, "budget", 1, INT64_MAX, diag, &budget);
	option_integer(arguments, "simulate-budget", 1, INT64_MAX, diag, &steps);
	option_word(arguments, "simulate", simulate_names, diag, &simulate);
	exploration->wishes.seed = (uint64_t)seed;
	exploration->wishes.budget = (uint64_t)budget;
	exploration->wishes.simulate_budget = (uint64_t)steps;
	exploration->wishes.simulate = (enum simulate)simulate;
	objectives_take(arguments, &exploration->wishes.objectives, &draft->scope);
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct option_value *value = &arguments->options[i];
		const char *equals = strchr(value->text, '=');
		if (!text_equal(value->option->name, "solver"))
			continue;
		if (equals)
			take_solver(draft,
				arena_format(draft->reading->arena, "%.*s",
					(int)(equals - value->text), value->text),
				equals + 1, value->span);
		else
			diag_error(diag, value->span,
				"'--solver' wants STAGE=NAME, such as broadcast=chain");
	}
}

/* The algorithm of the broadcast itself must be one. */
static void check_algorithm(struct draft *draft, const struct node *node)
{
	const struct broadcast *broadcast = draft->inputs->broadcast;
	enum stage stage;
	if (broadcast && broadcast->algorithm &&
		find_stage(draft, node_find(node, "algorithm")->span, &stage))
		inputs_solver(stage, broadcast->algorithm, node_find(node, "algorithm")->span,
			draft->reading->diag);
}

const struct broadcast_inputs *broadcast_inputs_read(struct sheet *sheet,
	const struct reading *reading, const struct arguments *arguments,
	struct exploration *exploration)
{
	struct broadcast_inputs *inputs = arena_new(reading->arena, struct broadcast_inputs);
	struct draft draft = {.reading = reading,
		.inputs = inputs,
		.exploration = exploration,
		.scope = {.arena = reading->arena,
			.diag = reading->diag,
			.subject = SUBJECT_BROADCAST}};
	const struct node *node = sheet_find(sheet, "broadcast");
	const struct node *machine = sheet_find(sheet, "architecture");
	const struct node *search = sheet_find(sheet, "search");
	sheet_done(sheet);
	const struct arch *arch = machine ? arch_read(reading, machine) : NULL;
	if (machine && !arch)
		return NULL;
	inputs->clock_hz = arch ? arch->clock_hz : (struct ratio){1000000000, 1};
	inputs->broadcast = broadcast_read(reading, node, arch);
	exploration->wishes.objectives = (struct objectives){
		3, {OBJECTIVE_LATENCY, OBJECTIVE_BUFFER_BYTES, OBJECTIVE_LINK_BYTES}};
	read_search(&draft, search);
	take_options(&draft, arguments);
	check_algorithm(&draft, node);
	return inputs->broadcast && !diag_failed(reading->diag) ? inputs : NULL;
}
