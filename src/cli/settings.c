#include "cli/settings.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/kind.h"
#include "model/graph/planning.h"
#include "model/machine/score.h"
#include "model/nest/nest_score.h"
#include "search/drive/drive.h"
#include "search/nest/nest_search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const as_names[] = {"graph", "network", NULL};

#define COUNT(from, to) .type = OPTION_COUNT, .least = (from), .most = (to)
#define YAML_IS_JSON "; yaml: JSON, which is YAML"
#define WORD(names) .type = OPTION_WORD, .words = (names)

/* In the order of --help.  What stands alone has a key and no option. */
static const struct option settings[] = {
	{"output", 'o', "DIR", "the results folder (default results/NAME, after the input)",
		.type = OPTION_FOLDER, .commands = OF_EXPLORE},
	{"force", 0, NULL, "write over plans that were edited since the run before",
		.commands = OF_EXPLORE},
	{"output", 'o', "DIR",
		"the folder of the campaign (run: default results/NAME of the sweep)",
		.type = OPTION_FOLDER, .commands = OF_CAMPAIGN},
	{"shard", 0, "I/N", "run: the tasks of shard I of N alone, for machines that share no disk",
		.commands = OF_CAMPAIGN},
	{"retry", 0, NULL, "run: try points again that took the program down",
		.commands = OF_CAMPAIGN},
	{"objective", 0, "A,B,..", "objectives of the frontier (lxplore list objectives)", true,
		.key = "objectives", .words = objective_names, .commands = OF_EXPLORATIONS},
	{"cores", 'c', "N",
		"use at most N cores; explore then tries no other number (also SENCORES)",
		.key = "cores", .type = OPTION_COUNT, .least = 1, .kinds = "graph",
		.commands = OF_SPECS},
	{"solver", 0, "STAGE=NAME",
		"only this solver of a stage; may be repeated (lxplore list solvers)", true,
		.key = "solver", .commands = OF_SPECS},
	{"mode", 0, "strict|compatible",
		"strict (default): a span that cannot be met is an error; compatible: a warning, as "
		"published",
		.key = "mode", WORD(planning_modes), .kinds = "graph", .commands = OF_SPECS},
	{"tiles", 0, "price|published",
		"streaming tiles by what they cost (default), or by the published rule: fewest HBM "
		"bytes first",
		.key = "tiles", WORD(planning_tiles), .kinds = "graph", .commands = OF_SPECS},
	{"write-lp", 0, "FILE",
		"the joint search as an integer program without relayouts, in the LP format, for CBC, "
		"SCIP and others",
		.kinds = "graph", .type = OPTION_FILE, .commands = OF_EXPLORE},
	{"price", 0, "bound|estimate",
		"time behind latency and edp: an estimate of the execution (default), or the "
		"lower bound of it",
		.key = "price", WORD(price_names), .kinds = "graph", .commands = OF_SPECS},
	{"counting", 0, "exact|timeloop",
		"how accesses are counted: exactly (default), or as Timeloop does",
		.key = "counting", WORD(counting_names), .kinds = "problem network",
		.commands = OF_SPECS},
	{"imperfect", 0, "all|DIM,..",
		"dimensions whose factors need not divide: the last round of a loop ends early",
		.key = "imperfect", .kinds = "problem network", .commands = OF_SPECS},
	{"epsilon", 0, "E",
		"largest part by which a proven point may be worse than the best (default 0)",
		.key = "epsilon", .kinds = "problem network", .commands = OF_SPECS},
	{"dim", 0, "NAME=N,..", "extents of the symbolic dimensions of a model", .many = true,
		.commands = OF_SPECS | OF_IMPORT},
	{"as", 0, "graph|network",
		"a model or network as a graph of ops (default of models, and of networks with "
		"`from`), or its convolutions and products as single layers",
		WORD(as_names), .commands = OF_SPECS | OF_IMPORT},
	{"strict", 0, NULL, "an op of a model that is not known is an error, not opaque",
		.commands = OF_SPECS | OF_IMPORT},
	{"seed", 's', "S", "random seed (default 1)", .key = "seed", COUNT(0, INT64_MAX),
		.commands = OF_SPECS | OF_PLACE},
	{"jobs", 'j', "N", "threads; no influence on the results (default: all cores)",
		COUNT(1, 1024), .commands = OF_EXPLORATIONS},
	{"budget", 0, "N", "at most N candidates; for a network, mappings of each layer",
		.key = "budget", COUNT(1, INT64_MAX), .commands = OF_EXPLORATIONS},
	{"labels", 0, "N",
		"at most N labels of each search for a whole plan (default 10000000); 0: none",
		.key = "labels", COUNT(0, INT64_MAX), .kinds = "graph", .commands = OF_SPECS},
	{"without", 0, "KIND,..",
		"decisions that whole plans leave out: evict, reload, clone, few_cores, reduction, "
		"many_loops, orders, fusion, fused_loops, relay, owners, early_moves, "
		"small_runs, narrow_runs, nothing (default relay)",
		.key = "without", .kinds = "graph", .commands = OF_SPECS},
	{"latency-budget", 0, "CYCLES|TIME",
		"the point of each layer's frontier that gives the least energy within this many "
		"cycles, or a time such as 2ms",
		.key = "latency_budget", .kinds = "network", .commands = OF_EXPLORATIONS},
	{"energy-budget", 0, "PJ", "likewise the least latency within an energy, bare in pJ",
		.key = "energy_budget", .kinds = "network", .commands = OF_EXPLORATIONS},
	{"time-limit", 0, "S",
		"stop the search after S seconds and write the best so far; "
		"executing it may take S/2 more",
		COUNT(1, INT32_MAX), .commands = OF_EXPLORATIONS},
	{"simulate", 0, "all|frontier|none", "which candidates are executed (default all)",
		WORD(simulate_names), .commands = OF_EXPLORATIONS},
	{"simulate-budget", 0, "N", "events of one execution (default 1000000)",
		COUNT(1, INT64_MAX), .kinds = "graph problem network broadcast",
		.commands = OF_EXPLORATIONS},
	{"format", 0, "text|csv|json|yaml", "output format (default text)" YAML_IS_JSON,
		WORD(format_names), .commands = OF_EXPLORE | OF_DIFF},
	{"format", 0, "text|csv|json|yaml|timeloop",
		"output format (default: text on a terminal, else json); of a problem also "
		"the text of Timeloop's statistics" YAML_IS_JSON,
		WORD(score_format_names), .commands = OF_SCORE | OF_SIMULATE},
	{"format", 0, "text|csv|json|yaml", "output format (default text)" YAML_IS_JSON,
		WORD(format_names), .commands = OF_CHECK | OF_LIST},
	{"format", 0, "text|csv|json|yaml",
		"output format (default text; of export csv)" YAML_IS_JSON, WORD(format_names),
		.commands = OF_CAMPAIGN},
	{"quiet", 'q', NULL, "no progress and no closing line",
		.commands = OF_EXPLORATIONS | OF_PLACE},
	{"explain", 0, NULL,
		"how each count comes about, instead of the counts; of a graph, what bounds each "
		"phase, why tensors are not in LX, and what each kind of decision is worth",
		.kinds = "problem graph", .commands = OF_SCORE | OF_REPORT},
	{"code", 0, "FILE", "the transformed loops, as C that computes the recurrence",
		.type = OPTION_FILE, .kinds = "recurrence", .commands = OF_SCORE},
	{"trace", 't', "FILE",
		"when everything ran, for Perfetto or chrome://tracing: a graph by cores and "
		"engines (with -v each core apart), a broadcast by ranks, queues and links, a problem by levels, a recurrence "
		"by PEs",
		.type = OPTION_FILE, .kinds = "graph broadcast problem recurrence",
		.commands = OF_SIMULATE},
	{"inputs", 0, "FILE",
		"numbers of input tensors, 'name: 1 2.5 ..' a line in row-major order; others are "
		"drawn",
		.type = OPTION_FILE, .kinds = "graph", .commands = OF_SIMULATE},
	{"outputs", 0, "FILE", "the numbers that the run leaves in the outputs, likewise",
		.type = OPTION_FILE, .kinds = "graph", .commands = OF_SIMULATE},
	{"simulate-budget", 0, "N", "at most N steps x multipliers (default 100000000)",
		COUNT(1, INT64_MAX), .kinds = "problem", .commands = OF_SIMULATE},
	{"certificate", 0, "FILE",
		"checks a proof again: the certificate.yaml of a results folder or of a layer, "
		"or a graph's plan",
		.type = OPTION_FILE, .commands = OF_CHECK},
	{"budget", 0, "N",
		"at most N bounds and mappings, or states, to check a certificate (default: any "
		"number; 2000000 states)",
		COUNT(1, INT64_MAX), .commands = OF_CHECK},
	{"time-limit", 0, "S", "stop checking a certificate after S seconds", COUNT(1, INT32_MAX),
		.commands = OF_CHECK},
	{"format", 0, "text|csv|json|yaml|timeloop",
		"output format: a listing (default), pareto.csv, run.json, or of a point of a "
		"problem the text of Timeloop's statistics" YAML_IS_JSON,
		WORD(score_format_names), .commands = OF_REPORT},
	{"point", 0, "N", "point of the frontier, for --explain and --format timeloop (default 1)",
		COUNT(1, INT32_MAX), .commands = OF_REPORT},
	{"html", 0, NULL,
		"one HTML file with the frontier, plans, maps and timelines, that opens "
		"without a network: DIR/report.html, or -o FILE",
		.commands = OF_REPORT},
	{"output", 'o', "FILE", "file of the page (default DIR/report.html)", .type = OPTION_FILE,
		.commands = OF_REPORT},
	{"svg", 0, "FOLDER",
		"drawings for papers: the frontier, and of each point the map of LX and the loop "
		"nests",
		.type = OPTION_FOLDER, .commands = OF_REPORT},
	{"axes", 0, "X,Y", "the columns that the frontier is drawn over; an unknown one lists all",
		.commands = OF_REPORT},
	{"colour", 0, "COLUMN",
		"the column that colours of the drawn frontier are for (default: the "
		"workload of a campaign, else cores)",
		.commands = OF_REPORT},
	{"check", 0, NULL, "fit nothing: the errors of the machine as it is",
		.commands = OF_CALIBRATE},
	{"output", 'o', "FILE", "where the fitted architecture goes, instead of standard output",
		.type = OPTION_FILE, .commands = OF_CALIBRATE},
	{"svg", 0, "FILE", "with --check: a picture, predicted against measured times",
		.type = OPTION_FILE, .commands = OF_CALIBRATE},
	{"leave-out", 0, "OP,..", "rows of these ops bend no attribute: no mechanism explains them",
		.commands = OF_CALIBRATE},
	{"cross-validate", 0, "K",
		"the errors of rows that a fit did not see: K fits, each without every Kth shape",
		COUNT(2, 64), .commands = OF_CALIBRATE},
	{"markdown", 0, NULL, "with --check or --cross-validate: the table as Markdown",
		.commands = OF_CALIBRATE},
	{"format", 0, "text|csv",
		"with --check or --cross-validate: the table, or every row (default text)",
		WORD(format_names), .commands = OF_CALIBRATE},
	{"verbose", 'v', NULL, "show every note on what was read", .commands = OF_SPECS},
	{"all", 'a', NULL, "show what is equal, too", .commands = OF_DIFF},
	{"schema", 0, NULL, "the JSON schema of spec files, for editors", .commands = OF_LIST},
	{"markdown", 0, NULL, "of attributes: the table of specs/attributes.md",
		.commands = OF_LIST},

	{"capacity", 0, "N",
		"capacity in bytes: 1048576, 1MiB; for a capture also 50% of all its bytes",
		.commands = OF_PLACE},
	{"alignment", 0, "A",
		"of addresses, where the table says nothing else (default 1, of a capture 128)",
		.commands = OF_PLACE},
	{"case", 0, "NAME", "of the cases of a capture, this one; may be repeated", true,
		.commands = OF_PLACE},
	{"minimize", 0, NULL, "the least capacity that all fit into, with a proof or a bound",
		.commands = OF_PLACE},
	{"spill", 0, NULL,
		"keep what saves most; the rest gets no offset, what is kept in parts FROM-TO@OFFSET "
		"for each",
		.commands = OF_PLACE},
	{"check", 0, NULL,
		"whether the offsets of the table are right; names the two that share bytes",
		.commands = OF_PLACE},
	{"solver", 0, "NAME", "exact, or boxes for more than 5000 buffers (lxplore list solvers)",
		.commands = OF_PLACE},
	{"reserve", 0, "FROM-TO", "bytes that no buffer may touch; may be repeated", true,
		.commands = OF_PLACE},
	{"jobs", 'j', "N", "threads; no influence on the results of a budget (default: all cores)",
		COUNT(1, 1024), .commands = OF_PLACE},
	{"budget", 0, "N", "at most N nodes of the search; of a certificate, forks of its proof",
		COUNT(1, INT64_MAX), .commands = OF_PLACE},
	{"time-limit", 0, "S", "stop after S seconds", COUNT(1, INT32_MAX), .commands = OF_PLACE},
	{"output", 'o', "FILE", "where the workload goes (default: standard output)",
		.type = OPTION_FILE, .commands = OF_IMPORT},
	{"output", 'o', "FILE", "instead of standard output", .type = OPTION_FILE,
		.commands = OF_PLACE},
	{"svg", 0, "FILE", "a picture: addresses against time, the load, what is spilled",
		.type = OPTION_FILE, .commands = OF_PLACE},
	{"certificate", 0, "FILE", "if they do not fit: a proof that can be checked",
		.type = OPTION_FILE, .commands = OF_PLACE},
	{"check-certificate", 0, "FILE", "whether such a proof holds for this table and capacity",
		.type = OPTION_FILE, .commands = OF_PLACE},
	{"format", 0, "csv|text|json|yaml",
		"output format (default csv; of a capture text)" YAML_IS_JSON, WORD(format_names),
		.commands = OF_PLACE},

	{"k_fast", 0, "BOOL", "reductions of products split over neighbouring cores (default true)",
		.key = "k_fast", .kinds = "graph"},
	{"lx_planning", 0, "BOOL", "false keeps every tensor in HBM (also LX_PLANNING)",
		.key = "lx_planning", .kinds = "graph"},
	{"co_optimize", 0, "BOOL",
		"score and simulate search splits and placement together (also "
		"CO_OPTIMIZING_LX_PLANNING)",
		.key = "co_optimize", .kinds = "graph"},
	{"clone_split", 0, "readers|none|off",
		"clones of inputs: divided like their readers (default), undivided, or not made",
		.key = "clone_split", .kinds = "graph"},
	{"lx_reserve", 0, "FRACTION|BYTES",
		"what planners leave to streaming tiles (also DXP_LX_FRAC_AVAIL)",
		.key = "lx_reserve", .kinds = "graph"},
	{"span_limit", 0, "BYTES", "of a core's part of a tensor (default: the machine's)",
		.key = "span_limit", .kinds = "graph"},
	{"staging", 0, "BYTES", "of LX for the tiles of one broadcast, at most", .key = "staging",
		.kinds = "graph"},
	{"staging_tiles", 0, "1|2|3", "tiles of one broadcast (default: any number of them)",
		.key = "staging_tiles", .kinds = "graph"},
	{"eligible", 0, "NAME|[OP,..]",
		"op types whose outputs may live in LX: published, extended, all (default), or a list",
		.key = "eligible", .kinds = "graph"},
	{"in_place", 0, "NAME|[OP,..]", "map types that may take the place of what they read",
		.key = "in_place", .kinds = "graph"},
	{"victory", 0, "N", "map=random ends after N mappings in a row that fit and are no better",
		.key = "victory", COUNT(0, INT64_MAX), .kinds = "problem network"},
	{"timeout", 0, "N", "map=random ends after N mappings in a row that do not fit",
		.key = "timeout", COUNT(0, INT64_MAX), .kinds = "problem network"},
	{"sequences", 0, "N", "sequences of draws, each with its part of the budget",
		.key = "sequences", COUNT(0, NEST_SEQUENCES_MOST), .kinds = "problem network"},
};
enum { ROWS = sizeof settings / sizeof *settings };

const struct option *settings_at(size_t i)
{
	if (i < ROWS)
		return &settings[i];
	i -= ROWS;
	for (size_t k = 0; input_kinds[k]; k++)
		for (const struct option *own = input_kinds[k]->settings; own && own->name; own++)
			if (i-- == 0)
				return own;
	return NULL;
}

const struct option *settings_find(const char *name, unsigned commands)
{
	const struct option *at;
	for (size_t i = 0; (at = settings_at(i)); i++)
		if (at->commands & commands && text_equal(at->name, name))
			return at;
	return NULL;
}

const struct option *settings_find_key(const char *key)
{
	const struct option *at;
	for (size_t i = 0; (at = settings_at(i)); i++)
		if (at->key && text_equal(at->key, key))
			return at;
	return NULL;
}

const struct option *settings_of(struct arena *arena, unsigned command)
{
	struct array(struct option) options = {0};
	const struct option *at;
	for (size_t i = 0; (at = settings_at(i)); i++)
		if (at->commands & command)
			*array_add(arena, &options) = *at;
	*array_add(arena, &options) = (struct option){0};
	return options.at;
}

const char *settings_kinds(struct arena *arena, const struct option *setting)
{
	struct text text = text_open(arena);
	int count = 0, all = 0;
	for (size_t k = 0; setting->kinds && input_kinds[k]; k++)
		all += kind_takes(input_kinds[k], setting);
	for (size_t k = 0; setting->kinds && input_kinds[k]; k++)
		if (kind_takes(input_kinds[k], setting))
			text_add(&text, "%s%s",
				!count++       ? ""
				: count == all ? " and "
					       : ", ",
				input_kinds[k]->plural);
	return count ? text_read(&text) : NULL;
}

/* Words from column FROM on, none beyond column 80 if it can be helped. */
static void add_wrapped(struct text *text, const char *words)
{
	enum { FROM = 33, MOST = 80 };
	int column = FROM;
	while (*words) {
		int length = (int)strcspn(words, " ");
		if (column > FROM && column + 1 + length > MOST) {
			text_add(text, "\n%*s", FROM, "");
			column = FROM;
		} else if (column > FROM) {
			text_add(text, " ");
			column++;
		}
		text_add(text, "%.*s", length, words);
		column += length;
		words += length + (words[length] == ' ');
	}
	text_add(text, "\n");
}

const char *settings_help(struct arena *arena, unsigned command)
{
	struct text text = text_open(arena);
	const struct option *at;
	for (size_t i = 0; (at = settings_at(i)); i++) {
		if (!(at->commands & command))
			continue;
		const char *kinds = settings_kinds(arena, at), *usage = option_usage(arena, at);
		text_add(&text, "  %-30s ", usage);
		if (strlen(usage) > 30)
			text_add(&text, "\n%33s", "");
		add_wrapped(
			&text, kinds ? arena_format(arena, "%s [%s]", at->help, kinds) : at->help);
	}
	return text_read(&text);
}

struct parse {
	struct arena *arena;
	const struct option *table;
	struct diag *diag;
	struct array(struct option_value) options;
	struct array(const char *) rest;
	struct array(struct span) spans;
};

static struct span argument_span(struct arena *arena, int number, const char *text)
{
	struct source *source = arena_new(arena, struct source);
	source->name = arena_format(arena, "argument %d", number);
	source->bytes = text;
	source->length = strlen(text);
	return (struct span){source, 1, 1, 1, (int)source->length + 1};
}

static const struct option *setting_find(
	const struct option *table, const char *name, size_t length)
{
	for (const struct option *option = table; option->name; option++)
		if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
			return option;
	return NULL;
}

static void parse_complain_unknown(
	struct parse *parse, struct span span, const char *name, size_t length)
{
	size_t count = 0;
	while (parse->table[count].name)
		count++;
	const char **names = arena_array(parse->arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		names[i] = parse->table[i].name;
	const char *word = arena_format(parse->arena, "%.*s", (int)length, name);
	const char *near = suggest(word, names);
	if (near)
		diag_error(parse->diag, span, "unknown option '--%s'; did you mean '--%s'?", word,
			near);
	else
		diag_error(parse->diag, span, "unknown option '--%s'; --help lists them", word);
}

static void setting_take(
	struct parse *parse, const struct option *option, const char *text, struct span span)
{
	*array_add(parse->arena, &parse->options) = (struct option_value){option, text, span};
}

/* Both forms end here; answers how many further arguments were used. */
static int take_with(struct parse *parse, const struct option *option, const char *inside,
	const char *next, struct span span, int number)
{
	if (!option->argument) {
		if (inside)
			diag_error(parse->diag, span, "option '--%s' takes no value", option->name);
		setting_take(parse, option, "", span);
		return 0;
	}
	if (inside) {
		setting_take(parse, option, inside, span);
		return 0;
	}
	if (!next) {
		diag_error(parse->diag, span, "option '--%s' needs a value: %s", option->name,
			option->argument);
		return 0;
	}
	setting_take(parse, option, next, argument_span(parse->arena, number + 1, next));
	return 1;
}

static int parse_long(struct parse *parse, const char *text, const char *next, int number)
{
	struct span span = argument_span(parse->arena, number, text);
	const char *name = text + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct option *option = setting_find(parse->table, name, length);
	if (!option) {
		parse_complain_unknown(parse, span, name, length);
		return 0;
	}
	return take_with(parse, option, equals ? equals + 1 : NULL, next, span, number);
}

static int parse_short(struct parse *parse, const char *text, const char *next, int number)
{
	struct span span = argument_span(parse->arena, number, text);
	const struct option *option = parse->table;
	while (option->name && option->letter != text[1])
		option++;
	if (!option->name) {
		diag_error(parse->diag, span, "unknown option '-%c'; --help lists them", text[1]);
		return 0;
	}
	return take_with(parse, option, text[2] ? text + 2 : NULL, next, span, number);
}

bool option_parse(struct arena *arena, const struct option *table, int argc, char *const *argv,
	struct diag *diag, struct arguments *out)
{
	struct parse parse = {.arena = arena, .table = table, .diag = diag};
	size_t errors = diag_errors(diag);
	bool ended = false;
	for (int i = 0; i < argc; i++) {
		const char *text = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
		if (!ended && strcmp(text, "--") == 0) {
			ended = true;
		} else if (!ended && strncmp(text, "--", 2) == 0) {
			i += parse_long(&parse, text, next, i + 1);
		} else if (!ended && text[0] == '-' && text[1]) {
			i += parse_short(&parse, text, next, i + 1);
		} else {
			*array_add(arena, &parse.rest) = text;
			*array_add(arena, &parse.spans) = argument_span(arena, i + 1, text);
		}
	}
	*out = (struct arguments){
		.option_count = parse.options.count,
		.count = parse.rest.count,
		.options = parse.options.at,
		.at = parse.rest.at,
		.spans = parse.spans.at,
	};
	return diag_errors(diag) == errors;
}

const struct option_value *option_find(const struct arguments *arguments, const char *name)
{
	for (size_t i = arguments->option_count; i-- > 0;)
		if (text_equal(arguments->options[i].option->name, name))
			return &arguments->options[i];
	return NULL;
}

bool option_integer(const struct arguments *arguments, const char *name, int64_t most,
	struct diag *diag, int64_t *out)
{
	const struct option_value *value = option_find(arguments, name);
	if (!value)
		return true;
	int64_t least = value->option->least;
	if (!most)
		most = value->option->most ? value->option->most : INT64_MAX;
	char *end;
	errno = 0;
	long long number = strtoll(value->text, &end, 10);
	if (end == value->text || *end || errno || number < least || number > most) {
		if (most == INT64_MAX && errno != ERANGE)
			diag_error(diag, value->span,
				"'--%s' needs a whole number of at least %" PRId64 ", not '%s'",
				name, least, value->text);
		else
			diag_error(diag, value->span,
				"'--%s' needs a whole number from %" PRId64 " to %" PRId64
				", not '%s'",
				name, least, most, value->text);
		return false;
	}
	*out = number;
	return true;
}

bool option_word(const struct arguments *arguments, const char *name, struct diag *diag, int *out)
{
	const struct option_value *value = option_find(arguments, name);
	if (!value)
		return true;
	const char *const *words = value->option->words;
	for (int i = 0; words[i]; i++)
		if (text_equal(words[i], value->text)) {
			*out = i;
			return true;
		}
	const char *near = suggest(value->text, words);
	diag_error(diag, value->span, "'--%s' cannot be '%s'%s%s%s", name, value->text,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	for (int i = 0; words[i]; i++)
		diag_note(diag, (struct span){0}, "it can be '%s'", words[i]);
	return false;
}

const char *option_usage(struct arena *arena, const struct option *option)
{
	return arena_format(arena, "%s--%s%s%s",
		option->letter ? arena_format(arena, "-%c, ", option->letter) : "    ",
		option->name, option->argument ? " " : "",
		option->argument ? option->argument : "");
}
