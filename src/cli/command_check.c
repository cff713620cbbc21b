#include "cli/command_check.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/kind.h"
#include "cli/listener.h"
#include "cli/nest_inputs.h"
#include "cli/settings.h"
#include "report/nest/check_report.h"
#include "report/run/folder.h"
#include "search/certificate/certificate.h"
#include "search/certificate/certificate_check.h"
#include "spec/field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		"Prints all errors at once, with file, line and column.  Then executes the plan\n"
		"(default: the one of default settings) with an identity in every stick of\n"
		"memory, which shows overlaps, stale and unwritten reads and missing dependences.\n"
		"\n"
		"A problem: prints if a mapping meets the constraints and fits; if none does, the\n"
		"limits that would do and a smallest set of constraints that contradict each\n"
		"other; the number of mappings; and each constraint that the given mapping\n"
		"breaks.  Exit status 1 if nothing fits or the mapping is not legal, 3 if that\n"
		"is not decided.\n"
		"\n"
		"A broadcast or an operation beside it: prints the codes of the rules that it\n"
		"breaks; if it breaks none, executes it.\n"
		"\n"
		"With --certificate, of the certificate.yaml in a results folder: checks that it\n"
		"is of these specs, that its points meet the constraints, fit and have the\n"
		"claimed costs and, by a plain search that shares nothing with the solvers, that\n"
		"no mapping of the whole space is better than claimed.  The counting is the\n"
		"certificate's.  Exit status 1 if it is rejected, with the reason; 3 if a limit\n"
		"ended the check first.  The check may take 30 times as long as the proof did,\n"
		"since it has none of the solver's bounds; --budget and --time-limit end it\n"
		"earlier.  A proof among factors that need not divide (--imperfect) has no\n"
		"certificate.\n"
		"\n"
		"With --certificate and a plan of a workload graph: checks that the plan obeys\n"
		"all rules and has the value that its proof states and, by a search that shares\n"
		"nothing with the solvers, that no plan of the space that the proof names is\n"
		"below its bound.\n",
	.reads_specs = true,
	.bit = OF_CHECK,
	.run = run,
};

/*
 * certificate.yaml, read in two parts: first what says which problem it is of, then, when that
 * is known to be the one at hand, what it claims.  Everything that is wrong is complained about.
 */
struct certificate_file {
	struct reading reading;
	struct reader reader; /* of the map `certificate:` */
	struct certificate_form {
		struct certificate certificate;
		int version, claim;
		const struct node *specs, *objectives, *points; /* lists, when it is read */
	} * form;
};

struct source_form {
	const char *path, *hash;
};

struct point_form {
	struct certificate_point point;
	const struct node *values;
};

/* The head and sources; false after complaining. */
static bool certificate_file_open(
	struct arena *arena, const char *path, struct diag *diag, struct certificate_file *out);

/* The rest, in the names of the problem; search->objectives are not looked at. */
static bool certificate_file_read(struct certificate_file *file, const struct nest_search *search);

static struct span claim_file_span(const struct reader *map, const char *key)
{
	const struct node *node = node_find(map->map, key);
	return node ? node->span : map->map->span;
}

/* To the last digit. */
static bool take_real(
	const struct reading *reading, const struct node *node, const char *what, double *out)
{
	char *end = NULL;
	double value = node->kind == NODE_SCALAR ? strtod(node->text, &end) : 0;
	if (!end || end == node->text || *end || !isfinite(value) || value < 0)
		return reading_refuse(
			reading, node, "%s is a number of 0 or more, as explore wrote it", what);
	*out = value;
	return true;
}

static void read_real(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	const struct node *node = read_node(map, field->key, REQUIRED);
	if (node)
		take_real(map->reading, node, reader_place(map, field->key),
			field_place(field, whole));
}

static void read_hash(
	struct reader *map, const struct field *field, void *whole, const void *context)
{
	const char *text = NULL;
	struct source_form *form = whole;
	if (!read_text(map, field->key, REQUIRED, &text))
		return;
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		reading_refuse(map->reading, node_find(map->map, field->key),
			"%s is a hash of 16 hexadecimal digits", reader_place(map, field->key));
	form->hash = text;
}

static bool has_bound(const void *form)
{
	return ((const struct certificate_form *)form)->claim;
}

static bool is_second(const void *form)
{
	return ((const struct certificate_form *)form)->version == 2;
}

static const char *const claims[] = {"optimal", "bound", NULL};

#define MUST .required = true
#define HEAD(member) INTO(struct certificate_form, member)
#define LISTS(member) .shape = SHAPE_LIST, MUST, KEEP(struct certificate_form, member)
#define POINT(member) MUST, INTO(struct point_form, point.member)

static const struct field source_fields[] = {
	{"path", FIELD_TEXT, MUST, INTO(struct source_form, path)},
	{"fnv1a", FIELD_TEXT, MUST, .read = read_hash, INTO(struct source_form, hash)},
	{0},
};
static const struct noun source_noun = {.name = "source", .fields = source_fields};

static const struct field point_fields[] = {
	{"cycles", FIELD_WHOLE, .most = INT64_MAX, POINT(cycles)},
	{"energy_pj", FIELD_NUMBER, .read = read_real, POINT(energy_pj)},
	{"mapping", FIELD_TEXT, POINT(mapping)},
	{"values", FIELD_NUMBER, .shape = SHAPE_LIST, MUST, KEEP(struct point_form, values)},
	{0},
};
static const struct noun point_noun = {.name = "point", .fields = point_fields};

static const struct field certificate_fields[] = {
	{"version", FIELD_WHOLE, MUST, .least = 2, .most = 3, HEAD(version)},
	{"program", FIELD_TEXT, MUST, HEAD(certificate.program)},
	{"layer", .type = FIELD_TEXT, HEAD(certificate.layer)},
	{"counting", FIELD_CHOICE, MUST, .words = counting_names, HEAD(certificate.counting)},
	{"claim", FIELD_CHOICE, MUST, .words = claims, HEAD(claim)},
	{"epsilon", FIELD_NUMBER, MUST, .read = read_real, HEAD(certificate.epsilon)},
	{"bound", FIELD_NUMBER, MUST, .has = has_bound, .read = read_real, HEAD(certificate.bound)},
	{"gap", FIELD_NUMBER, MUST, .has = has_bound, .read = read_real, HEAD(certificate.gap)},
	{"specs", FIELD_MAP, LISTS(specs)},
	{"objectives", FIELD_TEXT, LISTS(objectives)},
	{"points", FIELD_MAP, LISTS(points)},
	/* of version 2: a hash of the problem and counters of the solver, which no check needs */
	{"problem", FIELD_ANY, .has = is_second, .read = field_skip},
	{"choices", FIELD_ANY, .has = is_second, .read = field_skip},
	{"residency", FIELD_ANY, .has = is_second, .read = field_skip},
	{"cells", FIELD_ANY, .has = is_second, .read = field_skip},
	{0},
};
static const struct noun certificate_noun = {.name = "certificate", .fields = certificate_fields};

struct file_form {
	const struct node *certificate;
};

static const struct field file_fields[] = {
	{"certificate", FIELD_MAP, MUST, .noun = &certificate_noun,
		KEEP(struct file_form, certificate)},
	{0},
};
static const struct noun file_noun = {.name = "certificate_file", .fields = file_fields};

static void read_sources(struct certificate_file *file)
{
	const struct node *list = file->form->specs;
	struct array(struct certificate_source) sources = {0};
	for (size_t i = 0; list && i < list->count; i++) {
		struct source_form form = {0};
		struct reader map;
		if (!noun_open(&map, &file->reading, list->items[i], "spec", &source_noun))
			continue;
		fields_read(&map, &source_noun, &form, NULL);
		reader_done(&map);
		*array_add(file->reading.arena, &sources) =
			(struct certificate_source){.path = form.path,
				.hash = form.hash ? strtoull(form.hash, NULL, 16) : 0,
				.span = list->items[i]->span};
	}
	file->form->certificate.sources = sources.at;
	file->form->certificate.source_count = sources.count;
}

/* Energies of the first version lack the reads of sums that drain: one sentence, not as many as
 * numbers. */
static bool certificate_file_check_version(struct certificate_file *file, const struct node *map)
{
	const struct node *node = node_find(map, "version");
	return !node || node->kind != NODE_SCALAR || !text_equal(node->text, "1") ||
	       reading_refuse(&file->reading, node,
		       "a certificate of version 1 leaves out the reads of sums that drain: "
		       "explore again, which writes one of version 3");
}

static bool certificate_file_open(
	struct arena *arena, const char *path, struct diag *diag, struct certificate_file *out)
{
	const struct node *root = node_read_file(arena, path, diag);
	struct reader file;
	*out = (struct certificate_file){.reading = {.arena = arena, .diag = diag},
		.form = arena_new(arena, struct certificate_form)};
	struct file_form form = {0};
	if (!root || !noun_open(&file, &out->reading, root, "file", &file_noun))
		return false;
	fields_read(&file, &file_noun, &form, NULL);
	reader_done(&file);
	const struct node *map = form.certificate;
	if (!map ||
		!noun_open(&out->reader, &out->reading, map, "certificate", &certificate_noun) ||
		!certificate_file_check_version(out, map))
		return false;
	fields_read(&out->reader, &certificate_noun, out->form, NULL);
	read_sources(out);
	struct certificate *certificate = &out->form->certificate;
	certificate->claim = out->form->claim ? PROOF_BOUND : PROOF_OPTIMAL;
	certificate->counting_span = claim_file_span(&out->reader, "counting");
	certificate->claim_span = claim_file_span(&out->reader, "claim");
	certificate->bound_span = claim_file_span(&out->reader, "bound");
	certificate->gap_span = claim_file_span(&out->reader, "gap");
	return !diag_failed(diag);
}

static void read_objectives(struct certificate_file *file, const struct nest_search *search)
{
	struct certificate *certificate = &file->form->certificate;
	struct objective_scope scope = {
		file->reading.arena, file->reading.diag, SUBJECT_PROBLEM, search->hierarchy};
	const struct node *list = file->form->objectives;
	for (size_t i = 0; list && i < list->count; i++) {
		const char *name;
		if (node_text(&file->reading, list->items[i], "an objective", &name))
			objectives_add(
				&certificate->objectives, name, list->items[i]->span, &scope);
	}
	for (size_t k = 0; k < certificate->objectives.count; k++)
		if (!nest_objective(certificate->objectives.at[k]))
			reading_refuse(&file->reading, list, "a problem has no objective '%s'",
				objective_names[certificate->objectives.at[k]]);
	if (list && !list->count)
		reading_refuse(&file->reading, list, "the list of objectives is empty");
}

static const double *certificate_file_read_values(struct certificate_file *file,
	const struct node *list, const struct certificate *certificate)
{
	size_t count = certificate->objectives.count;
	double *values = arena_array(file->reading.arena, double, count);
	if (list && list->count != count)
		reading_refuse(&file->reading, list, "there are %zu values of %zu objectives",
			list->count, count);
	for (size_t k = 0; list && k < list->count && k < count; k++)
		take_real(&file->reading, list->items[k], "a value", &values[k]);
	return values;
}

static void read_points(struct certificate_file *file)
{
	struct certificate *certificate = &file->form->certificate;
	const struct node *list = file->form->points;
	struct array(struct certificate_point) points = {0};
	for (size_t i = 0; list && i < list->count; i++) {
		struct point_form form = {{.mapping = "", .span = list->items[i]->span}, NULL};
		struct reader map;
		if (!noun_open(&map, &file->reading, list->items[i], "point", &point_noun))
			continue;
		fields_read(&map, &point_noun, &form, NULL);
		form.point.values = certificate_file_read_values(file, form.values, certificate);
		reader_done(&map);
		*array_add(file->reading.arena, &points) = form.point;
	}
	certificate->points = points.at;
	certificate->point_count = points.count;
	certificate->points_span = claim_file_span(&file->reader, "points");
}

static bool certificate_file_read(struct certificate_file *file, const struct nest_search *search)
{
	read_objectives(file, search);
	read_points(file);
	reader_done(&file->reader);
	return !diag_failed(file->reading.diag);
}

/* The options, with the counting of the certificate where none is given. */
static struct arguments with_counting(
	struct arena *arena, const struct arguments *arguments, enum counting counting)
{
	struct arguments with = *arguments;
	struct array(struct option_value) values = {0};
	if (option_find(arguments, "counting"))
		return with;
	for (size_t i = 0; i < arguments->option_count; i++)
		*array_add(arena, &values) = arguments->options[i];
	struct option *setting = arena_new(arena, struct option);
	*setting = *settings_find("counting", OF_CHECK);
	setting->kinds =
		NULL; /* kinds without a counting have no certificates, which is reported below */
	*array_add(arena, &values) =
		(struct option_value){.option = setting, .text = counting_names[counting]};
	with.options = values.at;
	with.option_count = values.count;
	return with;
}

static const struct certificate_source *find_source(
	const struct certificate *certificate, uint64_t hash)
{
	for (size_t i = 0; i < certificate->source_count; i++)
		if (certificate->sources[i].hash == hash)
			return &certificate->sources[i];
	return NULL;
}

/* The files given are those that were explored, wherever they lie. */
static void check_sources(
	const struct certificate *certificate, const struct inputs *inputs, struct diag *diag)
{
	for (size_t i = 0; i < inputs->source_count; i++)
		if (!find_source(certificate, inputs->sources[i].hash))
			diag_error(diag, certificate->counting_span,
				"rejected: the certificate is not of the file %s as it is now: "
				"fnv1a %016" PRIx64,
				inputs->sources[i].path, inputs->sources[i].hash);
	for (size_t k = 0; k < certificate->source_count; k++) {
		bool given = false;
		for (size_t i = 0; i < inputs->source_count; i++)
			given |= inputs->sources[i].hash == certificate->sources[k].hash;
		if (!given)
			diag_error(diag, certificate->sources[k].span,
				"rejected: none of the given files is the %s that was explored",
				certificate->sources[k].path);
	}
}

static void check_identity(const struct certificate *certificate, const struct inputs *inputs,
	const struct nest_search *search, struct diag *diag)
{
	if (search->counting != certificate->counting)
		diag_error(diag, certificate->counting_span,
			"rejected: the certificate is in %s counting",
			counting_names[certificate->counting]);
	check_sources(certificate, inputs, diag);
	if (!certificate_covers(search))
		diag_error(diag, certificate->counting_span,
			"rejected: with '--imperfect' there are mappings that no certificate covers: "
			"their factors need not divide");
}

static void show_progress(void *listener, uint64_t done, uint64_t choices)
{
	listener_progress(listener,
		&(struct progress){
			.round = 1, .done = (size_t)done, .tasks = (size_t)choices, .count = done});
}

static int certificate_print_result(const struct certificate_result *result,
	const struct nest_search *search, const struct certificate *certificate, enum format format,
	struct arena *arena, struct diag *diag)
{
	if (result->answer == VERDICT_NO)
		diag_error(diag, result->span, "rejected: %s", result->why);
	diag_print(diag, stderr);
	json_t *tree = certificate_report_json(arena, search, certificate, result);
	command_print(format == FORMAT_TEXT ? certificate_report_text(arena, tree)
					    : command_value(arena, format, json_incref(tree)));
	json_decref(tree);
	return listener_status(result->answer);
}

static int check_files(struct arena *arena, const struct arguments *arguments,
	struct certificate_file *file, const struct inputs *inputs, const struct nest_inputs *nest,
	struct diag *diag)
{
	struct nest_search search;
	int64_t budget = 0, seconds = 0;
	enum format format = FORMAT_TEXT;
	if (!option_integer(arguments, "budget", 0, diag, &budget) ||
		!option_integer(arguments, "time-limit", 0, diag, &seconds) ||
		!command_format(arguments, diag, &format))
		return command_refuse(diag);
	bool good = request_search(arena, nest, &inputs->wishes, diag, &search);
	if (good)
		check_identity(&file->form->certificate, inputs, &search, diag);
	if (!good || diag_failed(diag)) {
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	if (!certificate_file_read(file, &search))
		return command_refuse(diag);
	struct listener listener = listener_open(seconds, false, "choices");
	search.wishes.objectives = file->form->certificate.objectives;
	struct certificate_checking checking = {.certificate = &file->form->certificate,
		.search = &search,
		.budget = (uint64_t)budget,
		.stopper = {&listener, listener_stop},
		.progress = show_progress};
	struct certificate_result result = certificate_check(&checking, arena);
	listener_clear(&listener);
	return certificate_print_result(
		&result, &search, &file->form->certificate, format, arena, diag);
}

/* The specs with the plan behind them: what it says of itself. */
static int arguments_check_plan(struct arena *arena, const struct arguments *arguments,
	const struct option_value *path, struct diag *diag)
{
	struct arguments with = *arguments;
	const char **at = arena_array(arena, const char *, arguments->count + 1);
	struct span *spans = arena_array(arena, struct span, arguments->count + 1);
	struct inputs inputs;
	int64_t budget = 0, seconds = 0;
	for (size_t i = 0; i < arguments->count; i++) {
		at[i] = arguments->at[i];
		spans[i] = arguments->spans[i];
	}
	at[arguments->count] = path->text;
	spans[arguments->count] = path->span;
	with.at = at;
	with.spans = spans;
	with.count++;
	enum format format = FORMAT_TEXT;
	if (!inputs_read(arena, &with, diag, &inputs) ||
		!option_integer(arguments, "budget", 0, diag, &budget) ||
		!option_integer(arguments, "time-limit", 0, diag, &seconds) ||
		!command_format(arguments, diag, &format))
		return command_refuse(diag);
	if (inputs.kind->check_claim && inputs.kind->has_plan(&inputs))
		return inputs.kind->check_claim(&inputs, (uint64_t)budget, seconds, format);
	if (!diag_failed(diag))
		diag_error(diag, path->span, "no plan of %s claims a proof", inputs.kind->noun);
	return command_refuse(diag);
}

/* True if the file is a plan: its proof is in it. */
static bool is_plan(struct arena *arena, const char *path)
{
	const struct node *root = node_read_file(arena, path, diag_open(arena));
	return root && root->kind == NODE_MAP && node_find(root, "plan");
}

int certificate_check_command(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const struct option_value *path = option_find(arguments, "certificate");
	const struct nest_inputs *nest = NULL;
	struct certificate_file file;
	struct inputs inputs;
	if (is_plan(arena, path->text))
		return arguments_check_plan(arena, arguments, path, diag);
	if (!certificate_file_open(arena, path->text, diag, &file)) {
		if (access(path->text, F_OK) != 0)
			diag_note(diag, path->span,
				"explore writes one when map=exact or map=linear proved something "
				"and all factors divide: with '--imperfect' there is a proof, but "
				"no certificate of it");
		return command_refuse(diag);
	}
	struct arguments with = with_counting(arena, arguments, file.form->certificate.counting);
	if (!inputs_read(arena, &with, diag, &inputs))
		return command_refuse(diag);
	if (inputs.kind->certified)
		nest = inputs.kind->certified(&inputs, file.form->certificate.layer, path->span);
	else
		diag_error(diag, path->span, "certificates are of problems; this is %s",
			inputs.kind->noun);
	return nest ? check_files(arena, arguments, &file, &inputs, nest, diag)
		    : command_refuse(diag);
}

/* The lists of a certificate. */
static void write_lists(
	struct text *text, const struct nest_search *search, const struct certificate *certificate)
{
	struct arena *arena = text->arena;
	const struct objectives *objectives = &certificate->objectives;
	text_add(text, "\n  specs:\n");
	for (size_t i = 0; i < certificate->source_count; i++) {
		const struct certificate_source *source = &certificate->sources[i];
		struct source_form form = {
			source->path, arena_format(arena, "%016" PRIx64, source->hash)};
		text_add(text, "  - {");
		fields_write(text, &source_noun, &form, ", ");
		text_add(text, "}\n");
	}
	text_add(text, "  objectives: [");
	for (size_t k = 0; k < objectives->count; k++) {
		text_add(text, "%s", k ? ", " : "");
		quote_yaml(text, nest_objective_text(arena, objectives->at[k], search->hierarchy));
	}
	text_add(text, "]\n  points:%s\n", certificate->point_count ? "" : " []");
	for (size_t i = 0; i < certificate->point_count; i++) {
		text_add(text, "  - {");
		fields_write(text, &point_noun, &(struct point_form){certificate->points[i], NULL},
			", ");
		for (size_t k = 0; k < objectives->count; k++)
			text_add(text, "%s%s", k ? ", " : ", values: [",
				real_text(arena, certificate->points[i].values[k]));
		text_add(text, "]}\n");
	}
}

static const char *certificate_text(struct arena *arena, const struct nest_search *search,
	const struct certificate *certificate)
{
	struct text text = text_open(arena);
	struct certificate_form form = {.certificate = *certificate,
		.version = 3,
		.claim = certificate->claim == PROOF_BOUND};
	text_add(&text, "certificate:\n  ");
	fields_write(&text, &certificate_noun, &form, "\n  ");
	write_lists(&text, search, certificate);
	return text_read(&text);
}

bool certificate_write(struct arena *arena, struct folder *folder, const char *name,
	const char *layer, const struct run_record *record, const struct nest_search *search,
	const struct explored *explored)
{
	struct certificate *certificate = certificate_make(arena, search, explored);
	if (!certificate)
		return false;
	struct certificate_source *sources =
		arena_array(arena, struct certificate_source, record->source_count);
	for (size_t i = 0; i < record->source_count; i++)
		sources[i] = (struct certificate_source){
			.path = record->sources[i].path, .hash = record->sources[i].hash};
	certificate->program = arena_format(arena, "lxplore %s", record->version);
	certificate->sources = sources;
	certificate->source_count = record->source_count;
	certificate->layer = layer;
	folder_add(folder, name, certificate_text(arena, search, certificate));
	return true;
}
