#include "cli/place_captures.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/listener.h"
#include "cli/spec_files.h"
#include "report/packing/place_report.h"
#include "search/engine/parallel.h"
#include "spec/file.h"
#include "spec/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 128 }; /* of the compiler whose captures these are */

bool place_is_capture(const struct arguments *arguments)
{
	size_t length = arguments->count == 1 ? strlen(arguments->at[0]) : 0;
	return length > 5 && text_equal(arguments->at[0] + length - 5, ".json");
}

static bool is_option(const struct option_value *value, const char *const *names)
{
	for (; *names; names++)
		if (text_equal(value->option->name, *names))
			return true;
	return false;
}

static void check_options(const struct arguments *arguments, struct diag *diag)
{
	static const char *const taken[] = {"capacity", "alignment", "case", "check", "budget",
		"time-limit", "jobs", "seed", "format", "output", "quiet", NULL};
	for (size_t i = 0; i < arguments->option_count; i++)
		if (!is_option(&arguments->options[i], taken))
			diag_error(diag, arguments->options[i].span,
				"'--%s' is for tables of buffers; this file is a capture",
				arguments->options[i].option->name);
	if (!option_find(arguments, "capacity"))
		diag_error(diag, (struct span){0},
			"place needs '--capacity N', or '--capacity 50%%' of all bytes of a graph");
}

/* Bytes, or a share of the footprint. */
static void read_capacity(const struct reading *reading, const struct arguments *arguments,
	struct captures_request *out)
{
	const struct option_value *value = option_find(arguments, "capacity");
	if (!value)
		return;
	size_t length = strlen(value->text);
	if (!length || value->text[length - 1] != '%') {
		node_size(reading, node_scalar(reading->arena, value->text, value->span),
			"'--capacity'", 0, PACKING_BYTES_MOST, &out->capacity);
		return;
	}
	char *end;
	out->share = strtod(value->text, &end) / 100;
	if (end != value->text + length - 1 || !(out->share > 0 && out->share <= 1))
		diag_error(reading->diag, value->span,
			"'--capacity' as a share is from 1%% to 100%%, not '%s'", value->text);
	out->capacity = -1;
}

static void read_file(const struct reading *reading, const struct arguments *arguments,
	struct captures_request *out)
{
	if (!out->source)
		out->source = file_read_table(
			reading->arena, spec_path(reading->arena, arguments->at[0]), reading->diag);
	const struct node *root =
		out->source ? node_read_source(reading->arena, out->source, reading->diag) : NULL;
	if (!root || !captures_read(reading, root, &out->captures))
		return;
	if (!out->captures.count)
		diag_error(reading->diag, (struct span){.source = out->source},
			"the file has no case: {\"NAME\": [{\"inputs\": [..]}]} is expected");
	unread_note(reading->arena, reading->unread, reading->diag);
}

/* Leaves the cases that `--case` names. */
static void choose_cases(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct captures *all)
{
	if (!option_find(arguments, "case"))
		return;
	struct capture *chosen = arena_array(arena, struct capture, all->count + 1);
	const char **names = arena_array(arena, const char *, all->count + 1);
	bool *taken = arena_array(arena, bool, all->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < all->count; i++)
		names[i] = all->at[i].name;
	for (size_t o = 0; o < arguments->option_count; o++) {
		const struct option_value *value = &arguments->options[o];
		bool found = !text_equal(value->option->name, "case");
		for (size_t i = 0; i < all->count && !found; i++)
			if (text_equal(value->text, names[i]))
				taken[i] = found = true;
		if (!found)
			diag_error(diag, value->span, "unknown case '%s'%s", value->text,
				suggestion(arena, suggest(value->text, names), ""));
	}
	for (size_t i = 0; i < all->count; i++)
		if (taken[i])
			chosen[count++] = all->at[i];
	*all = (struct captures){count, chosen};
}

bool captures_request_read(struct arena *arena, const struct arguments *arguments,
	const struct source *source, struct diag *diag, struct captures_request *out)
{
	struct unread unread = {0};
	struct reading reading = {.arena = arena, .diag = diag, .unread = &unread};
	const struct option_value *alignment = option_find(arguments, "alignment"),
				  *output = option_find(arguments, "output");
	*out = (struct captures_request){.source = source,
		.alignment = ALIGNMENT,
		.is_check = option_find(arguments, "check"),
		.is_quiet = option_find(arguments, "quiet"),
		.output = output ? output->text : NULL,
		.format = output ? FORMAT_JSON : FORMAT_TEXT};
	check_options(arguments, diag);
	read_capacity(&reading, arguments, out);
	if (alignment)
		node_size(&reading, node_scalar(arena, alignment->text, alignment->span),
			"'--alignment'", 1, PACKING_BYTES_MOST, &out->alignment);
	option_integer(arguments, "budget", 0, diag, &out->budget);
	option_integer(arguments, "time-limit", 0, diag, &out->seconds);
	if (command_format(arguments, diag, &out->format) && out->format == FORMAT_CSV)
		diag_error(diag, option_find(arguments, "format")->span,
			"answers to a capture have no CSV; use text or json");
	read_file(&reading, arguments, out);
	if (!diag_failed(diag))
		choose_cases(arena, arguments, diag, &out->captures);
	return !diag_failed(diag);
}

static void check_published(struct arena *arena, struct capture_row *row)
{
	const struct capture *capture = row->question.capture;
	if (!capture->published)
		return;
	row->published = capture_cost(capture, capture->published);
	row->published_fault = capture_check(arena, &row->question, capture->published);
}

struct capture_row *captures_answer(struct arena *arena, const struct captures_request *request,
	const struct asker *asker, const char *(*limit)(const void *context), const void *context)
{
	struct capture_row *rows = arena_array(arena, struct capture_row, request->captures.count);
	for (size_t i = 0; i < request->captures.count; i++) {
		const struct capture *capture = &request->captures.at[i];
		double share = request->share * (double)capture_footprint(capture);
		rows[i].question = (struct capture_question){.capture = capture,
			.capacity = request->capacity >= 0 ? request->capacity : (int64_t)share,
			.alignment = request->alignment};
		check_published(arena, &rows[i]);
		if (request->is_check)
			continue;
		rows[i].found =
			capture_explore(asker, &rows[i].question, (uint64_t)request->budget, arena);
		if (rows[i].found.is_stopped && !rows[i].found.reason)
			rows[i].found.reason = limit(context) ? limit(context) : "budget";
	}
	return rows;
}

static void write_rows(
	struct arena *arena, const struct captures_request *request, const struct capture_row *rows)
{
	size_t count = request->captures.count;
	const char *text = request->format == FORMAT_TEXT || request->is_check
				   ? capture_report_text(arena, rows, count)
				   : capture_report_json(arena, request->source, rows, count);
	if (request->output)
		command_write(arena, request->output, text);
	else
		command_print(text);
	if (request->output && !request->is_quiet)
		fputs(capture_report_text(arena, rows, count), command_people());
}

static const char *limit_of(const void *context)
{
	return listener_limit(context);
}

int place_captures(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct captures_request request;
	if (!captures_request_read(arena, arguments, NULL, diag, &request))
		return command_refuse(diag);
	diag_print(diag, command_people());
	struct listener listener = listener_open(request.seconds, request.is_quiet, "divisions");
	struct asker asker = listener_asker(&listener, 1);
	asker.stopper.stop = listener_wait;
	const struct capture_row *rows =
		captures_answer(arena, &request, &asker, limit_of, &listener);
	enum verdict verdict = VERDICT_YES;
	for (size_t i = 0; i < request.captures.count; i++)
		if (request.is_check && rows[i].published_fault)
			verdict = VERDICT_NO;
	listener_clear(&listener);
	write_rows(arena, &request, rows);
	return listener_interrupted() ? EXIT_INTERRUPTED : listener_status(verdict);
}
