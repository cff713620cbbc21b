#include "cli/certificate.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/certificate_file.h"
#include "cli/kind.h"
#include "cli/nest_request.h"
#include "cli/settings.h"
#include "report/nest/certificate_report.h"
#include "report/run/folder.h"
#include "search/certificate/certificate_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

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
		NULL; /* kinds without a counting have no certificates, which is told below */
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
				"rejected: no file that is given is the %s that was explored",
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

static int tell(const struct certificate_result *result, const struct nest_search *search,
	const struct certificate *certificate, enum format format, struct arena *arena,
	struct diag *diag)
{
	if (result->answer == VERDICT_NO)
		diag_error(diag, result->span, "rejected: %s", result->why);
	diag_print(diag, stderr);
	command_print(
		format == FORMAT_TEXT
			? certificate_report_text(arena, search, certificate, result)
			: command_value(arena, format,
				  certificate_report_json(arena, search, certificate, result)));
	return listener_status(result->answer);
}

static int check(struct arena *arena, const struct arguments *arguments,
	struct certificate_file *file, const struct inputs *inputs, const struct nest_inputs *nest,
	struct diag *diag)
{
	struct nest_search search;
	int64_t budget = 0;
	enum format format = FORMAT_TEXT;
	if (!option_integer(arguments, "budget", 0, diag, &budget) ||
		!command_format(arguments, diag, &format))
		return command_refuse(diag);
	bool good = request_search(arena, nest, &inputs->wishes, diag, &search);
	if (good)
		check_identity(file->certificate, inputs, &search, diag);
	if (!good || diag_failed(diag)) {
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	if (!certificate_file_read(file, &search))
		return command_refuse(diag);
	struct listener listener = listener_open(0, false, "choices");
	search.wishes.objectives = file->certificate->objectives;
	struct certificate_checking checking = {.certificate = file->certificate,
		.search = &search,
		.budget = (uint64_t)budget,
		.stopper = {&listener, listener_stop},
		.progress = show_progress};
	struct certificate_result result = certificate_check(&checking, arena);
	listener_clear(&listener);
	return tell(&result, &search, file->certificate, format, arena, diag);
}

/* The specs with the plan behind them: what it says of itself. */
static int check_plan(struct arena *arena, const struct arguments *arguments,
	const struct option_value *path, struct diag *diag)
{
	struct arguments with = *arguments;
	const char **at = arena_array(arena, const char *, arguments->count + 1);
	struct span *spans = arena_array(arena, struct span, arguments->count + 1);
	struct inputs inputs;
	int64_t budget = 0;
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
		!command_format(arguments, diag, &format))
		return command_refuse(diag);
	if (inputs.kind->check_claim && inputs.kind->has_plan(&inputs))
		return inputs.kind->check_claim(&inputs, (uint64_t)budget, format);
	if (!diag_failed(diag))
		diag_error(diag, path->span, "no plan of %s says that it is proven",
			inputs.kind->noun);
	return command_refuse(diag);
}

/* Whether the file is a plan: its proof is in it. */
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
		return check_plan(arena, arguments, path, diag);
	if (!certificate_file_open(arena, path->text, diag, &file)) {
		if (access(path->text, F_OK) != 0)
			diag_note(diag, path->span,
				"explore writes one when map=exact or map=linear proved something "
				"and all factors divide: with '--imperfect' there is a proof, but "
				"no certificate of it");
		return command_refuse(diag);
	}
	struct arguments with = with_counting(arena, arguments, file.certificate->counting);
	if (!inputs_read(arena, &with, diag, &inputs))
		return command_refuse(diag);
	if (inputs.kind->certified)
		nest = inputs.kind->certified(&inputs, file.certificate->layer, path->span);
	else
		diag_error(diag, path->span, "certificates are of problems; this is %s",
			inputs.kind->noun);
	return nest ? check(arena, arguments, &file, &inputs, nest, diag) : command_refuse(diag);
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
	folder_add(folder, name, certificate_yaml(arena, search, certificate));
	return true;
}
