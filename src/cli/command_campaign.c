#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"
#include "campaign/export.h"
#include "cli/campaign_run.h"
#include "cli/settings.h"
#include "cli/spec_files.h"

#include <stdio.h>

/* A call of `campaign ACTION`: the rest of its arguments. */
struct campaign_call {
	struct arena *arena;
	struct arguments arguments;
	struct diag *diag;
	enum format format;
	const char *folder; /* of --output, or the first argument */
};

/* The folder of the campaign: --output, else the first argument, which is then taken away. */
static bool take_folder(struct campaign_call *call)
{
	const struct option_value *output = option_find(&call->arguments, "output");
	struct arguments *rest = &call->arguments;
	if (output) {
		call->folder = output->text;
		return true;
	}
	if (!rest->count) {
		diag_error(call->diag, (struct span){0}, "no folder of a campaign is given");
		return false;
	}
	call->folder = rest->at[0];
	rest->at++;
	rest->spans++;
	rest->count--;
	return true;
}

static bool is_alone(const struct campaign_call *call)
{
	if (call->arguments.count)
		diag_error(call->diag, call->arguments.spans[0],
			"'%s' is one argument too many; a campaign is one folder",
			call->arguments.at[0]);
	return !call->arguments.count;
}

static struct store *open_store(const char *folder)
{
	struct store *store = NULL;
	fatal_if(store_open_read(folder, &store));
	return store;
}

static int status(struct campaign_call *call)
{
	const char *text = "";
	if (!take_folder(call) || !is_alone(call))
		return command_refuse(call->diag);
	struct store *store = open_store(call->folder);
	fatal_if(call->format == FORMAT_TEXT ? status_text(call->arena, store, &text)
					     : status_json(call->arena, store, &text));
	command_print(text);
	store_close(store);
	return EXIT_FOUND;
}

static int export(struct campaign_call *call)
{
	if (!take_folder(call) || !is_alone(call))
		return command_refuse(call->diag);
	struct store *store = open_store(call->folder);
	bool json = call->format == FORMAT_JSON || call->format == FORMAT_YAML;
	fatal_if(json ? export_json(call->arena, store, command_add)
		      : export_csv(call->arena, store, command_add));
	command_print("");
	store_close(store);
	return EXIT_FOUND;
}

static int diff(struct campaign_call *call)
{
	const char *text = "";
	struct campaign_diff counts;
	if (!take_folder(call))
		return command_refuse(call->diag);
	if (call->arguments.count != 1) {
		diag_error(call->diag, (struct span){0}, "campaign diff wants two folders");
		return command_refuse(call->diag);
	}
	struct store *a = open_store(call->folder), *b = open_store(call->arguments.at[0]);
	enum diff_form form = call->format == FORMAT_TEXT  ? DIFF_TEXT
			      : call->format == FORMAT_CSV ? DIFF_CSV
							   : DIFF_JSON;
	fatal_if(campaign_diff(call->arena, a, b, form, &counts, &text));
	command_print(text);
	store_close(a);
	store_close(b);
	return counts.changed + counts.only_a + counts.only_b ? EXIT_IMPOSSIBLE : EXIT_FOUND;
}

static int merge(struct campaign_call *call)
{
	size_t differ = 0;
	struct store *into = NULL;
	if (!take_folder(call))
		return command_refuse(call->diag);
	if (!call->arguments.count) {
		diag_error(call->diag, (struct span){0},
			"campaign merge wants the folder of the whole, then those of its parts");
		return command_refuse(call->diag);
	}
	fatal_if(store_open(call->folder, &into));
	for (size_t i = 0; i < call->arguments.count; i++) {
		struct store *from = open_store(call->arguments.at[i]);
		fatal_if(campaign_merge(call->arena, into, from, &differ));
		store_close(from);
	}
	store_close(into);
	if (differ)
		fprintf(stderr,
			"lxplore: %zu results are not the same in two stores; those of the newer "
			"version were kept\n",
			differ);
	return EXIT_FOUND;
}

static int run_action(struct campaign_call *call)
{
	spec_files(call->arena, &call->arguments, call->diag);
	if (diag_failed(call->diag))
		return command_refuse(call->diag);
	if (!call->arguments.count) {
		diag_error(call->diag, (struct span){0},
			"no spec file is given; try specs/sweeps/machine_sizes.yaml");
		return command_refuse(call->diag);
	}
	return campaign_run_command(call->arena, &call->arguments, call->diag);
}

static const struct action {
	const char *name;
	int (*run)(struct campaign_call *call);
	const char *const *options; /* NULL: all; else NULL ends them */
} actions[] = {
	{"run", run_action, NULL},
	{"status", status, (const char *const[]){"output", "format", NULL}},
	{"export", export, (const char *const[]){"output", "format", NULL}},
	{"diff", diff, (const char *const[]){"output", "format", NULL}},
	{"merge", merge, (const char *const[]){"output", "quiet", NULL}},
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const struct action *find_action(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const char *names[ACTIONS + 1] = {NULL};
	for (size_t i = 0; i < ACTIONS; i++) {
		names[i] = actions[i].name;
		if (arguments->count && text_equal(actions[i].name, arguments->at[0]))
			return &actions[i];
	}
	static const char all[] = "run, status, export, diff, merge";
	if (!arguments->count)
		diag_error(diag, (struct span){0}, "campaign wants one of: %s", all);
	else
		diag_error(diag, arguments->spans[0], "there is no 'campaign %s'%s",
			arguments->at[0],
			suggestion(arena, suggest(arguments->at[0], names),
				arena_format(arena, "; there are %s", all)));
	return NULL;
}

/* Options that mean nothing to an action. */
static bool check_options(
	const struct action *action, const struct arguments *arguments, struct diag *diag)
{
	for (size_t i = 0; i < arguments->option_count && action->options; i++) {
		const struct option_value *value = &arguments->options[i];
		bool known = false;
		for (size_t k = 0; action->options[k]; k++)
			known |= text_equal(action->options[k], value->option->name);
		if (!known)
			diag_error(diag, value->span, "'--%s' means nothing to 'campaign %s'",
				value->option->name, action->name);
	}
	return !diag_failed(diag);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct campaign_call call = {
		.arena = arena, .arguments = *arguments, .diag = diag, .format = FORMAT_TEXT};
	const struct action *action = find_action(arena, arguments, diag);
	if (!action || !check_options(action, arguments, diag) ||
		!command_format(arguments, diag, &call.format))
		return command_refuse(diag);
	call.arguments.at++;
	call.arguments.spans++;
	call.arguments.count--;
	return action->run(&call);
}

const struct command command_campaign = {
	.name = "campaign",
	.usage = "run|status|export|diff|merge SPEC...|DIR... [OPTION...]",
	.summary = "explores many points of a sweep; survives any end",
	.manual =
		"run SPEC... -o DIR    explores every point of the `sweep:` in the specs,\n"
		"                      several at a time; what is done is kept, and a restart\n"
		"                      goes on\n"
		"status DIR            how far it is\n"
		"export DIR            a row for each point of each frontier; as JSON with plans\n"
		"diff A B              points whose frontiers differ; exit status as diff has it\n"
		"merge DIR PART...     the stores of shards as one\n"
		"\n"
		"Points that are equal as specs are explored once.  The ends of ranges come\n"
		"first, then middles; among these what is cheap.  Several processes may run one\n"
		"campaign; --shard I/N is for machines that share no disk.  The first Ctrl-C\n"
		"gives back what has not ended.  See specs/campaigns.md.\n"
		"\n"
		"example: lxplore campaign run specs/sweeps/machine_sizes.yaml -o out\n",
	.bit = OF_CAMPAIGN,
	.run = run,
};
