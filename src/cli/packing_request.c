#include "cli/packing_request.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/spec_files.h"
#include "search/drive/solver.h"
#include "search/engine/parallel.h"
#include "spec/file.h"
#include "spec/reader.h"

#include <string.h>

static bool has(const struct arguments *arguments, const char *name)
{
	return option_find(arguments, name) != NULL;
}

static const char *text_of(const struct arguments *arguments, const char *name)
{
	const struct option_value *value = option_find(arguments, name);
	return value ? value->text : NULL;
}

static void read_bytes(const struct reading *reading, const struct arguments *arguments,
	const char *name, int64_t least, int64_t *out)
{
	const struct option_value *value = option_find(arguments, name);
	if (value)
		node_size(reading, node_scalar(reading->arena, value->text, value->span),
			arena_format(reading->arena, "'--%s'", name), least, PACKING_BYTES_MOST,
			out);
}

/* FROM-TO, both with units. */
static bool read_range(
	const struct reading *reading, const struct option_value *value, struct byte_range *out)
{
	const char *dash = strchr(value->text, '-');
	if (!dash) {
		diag_error(reading->diag, value->span, "'--reserve' wants FROM-TO, not '%s'",
			value->text);
		return false;
	}
	const char *from =
		arena_format(reading->arena, "%.*s", (int)(dash - value->text), value->text);
	if (!node_size(reading, node_scalar(reading->arena, from, value->span),
		    "the begin of '--reserve'", 0, PACKING_BYTES_MOST, &out->from) ||
		!node_size(reading, node_scalar(reading->arena, dash + 1, value->span),
			"the end of '--reserve'", 0, PACKING_BYTES_MOST, &out->to))
		return false;
	if (out->from >= out->to)
		diag_error(reading->diag, value->span, "the range '%s' to reserve is empty",
			value->text);
	return out->from < out->to;
}

static void read_reserved(
	const struct reading *reading, const struct arguments *arguments, struct packing *packing)
{
	struct array(struct byte_range) ranges = {0};
	struct byte_range range;
	for (size_t i = 0; i < arguments->option_count; i++)
		if (text_equal(arguments->options[i].option->name, "reserve") &&
			read_range(reading, &arguments->options[i], &range))
			*array_add(reading->arena, &ranges) = range;
	packing->reserved = ranges.at;
	packing->reserved_count = ranges.count;
}

/* `place=exact` is accepted, as other commands write it. */
static void read_solver(
	const struct arguments *arguments, struct diag *diag, struct place_request *out)
{
	const struct option_value *value = option_find(arguments, "solver");
	if (!value)
		return;
	const char *name = value->text;
	if (strncmp(name, "place=", 6) == 0)
		name += 6;
	out->solver = inputs_solver(STAGE_PLACE, name, value->span, diag);
	for (size_t i = 0; i < arguments->option_count; i++)
		if (arguments->options[i].option == value->option &&
			!text_equal(arguments->options[i].text, value->text))
			diag_error(diag, value->span, "one solver places a table: '%s' or '%s'",
				arguments->options[i].text, value->text);
}

static bool excludes(
	const struct arguments *arguments, const char *a, const char *b, struct diag *diag)
{
	const struct option_value *second = option_find(arguments, b);
	if (!has(arguments, a) || !second)
		return true;
	diag_error(diag, second->span, "'--%s' and '--%s' exclude each other", a, b);
	return false;
}

static void check_options(const struct arguments *arguments, struct diag *diag)
{
	static const char *const pairs[][2] = {{"minimize", "spill"}, {"check", "minimize"},
		{"check", "spill"}, {"check", "solver"}, {"check", "budget"},
		{"check", "time-limit"}, {"check", "output"}, {"check", "check-certificate"},
		{"check", "certificate"}, {"certificate", "minimize"}, {"certificate", "spill"},
		{"certificate", "check-certificate"}, {"minimize", "check-certificate"},
		{"spill", "check-certificate"}, {"solver", "check-certificate"},
		{"output", "check-certificate"}, {"svg", "check-certificate"}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		excludes(arguments, pairs[i][0], pairs[i][1], diag);
	if (!has(arguments, "capacity") && !has(arguments, "minimize") && !has(arguments, "check"))
		diag_error(diag, (struct span){0},
			"place wants '--capacity N', or '--minimize' for the least that is enough");
	if (arguments->count != 1)
		diag_error(diag, arguments->count ? arguments->spans[1] : (struct span){0},
			"place wants one CSV of buffers, '-' for standard input");
}

bool place_request_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct place_request *out)
{
	struct reading reading = {.arena = arena, .diag = diag};
	int64_t budget = 0, seed = 1, alignment = 1, capacity = PACKING_BYTES_MOST;
	int64_t jobs = parallel_cores();
	struct packing wishes = {0};
	check_options(arguments, diag);
	read_bytes(&reading, arguments, "capacity", 0, &capacity);
	read_bytes(&reading, arguments, "alignment", 1, &alignment);
	read_reserved(&reading, arguments, &wishes);
	*out = (struct place_request){
		.format = FORMAT_CSV,
		.has_capacity = has(arguments, "capacity"),
		.check = has(arguments, "check"),
		.quiet = has(arguments, "quiet"),
		.output = text_of(arguments, "output"),
		.svg = text_of(arguments, "svg"),
		.certificate = text_of(arguments, "certificate"),
		.check_certificate = text_of(arguments, "check-certificate"),
	};
	option_integer(arguments, "jobs", 0, diag, &jobs);
	option_integer(arguments, "budget", 0, diag, &budget);
	option_integer(arguments, "time-limit", 0, diag, &out->seconds);
	option_integer(arguments, "seed", 0, diag, &seed);
	command_format(arguments, diag, &out->format);
	read_solver(arguments, diag, out);
	out->jobs = (int)jobs;
	out->budget = (uint64_t)budget;
	out->seed = (uint64_t)seed;
	if (diag_failed(diag))
		return false;
	const struct source *source =
		file_read_table(arena, spec_path(arena, arguments->at[0]), diag);
	if (!source || !packing_read(arena, source, alignment, out->check, diag, &out->file))
		return false;
	out->file.packing.capacity = capacity;
	out->file.packing.reserved = wishes.reserved;
	out->file.packing.reserved_count = wishes.reserved_count;
	out->file.packing.goal = has(arguments, "minimize") ? PACKING_PEAK
				 : has(arguments, "spill")  ? PACKING_SPILL
							    : PACKING_FIT;
	if (!out->solver)
		out->solver = solver_for(STAGE_PLACE,
			out->file.packing.count > PACKING_MANY ? FOR_LARGE_PACKINGS : FOR_PACKINGS);
	if (out->check && !out->file.has_offsets)
		diag_error(diag, (struct span){.source = source},
			"it has no column 'offset' to check");
	return !diag_failed(diag);
}
