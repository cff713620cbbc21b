#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/command_explore.h"
#include "cli/model_file.h"
#include "cli/place_captures.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "lib/library.h"
#include "report/packing/capture_report.h"
#include "report/run/folder.h"
#include "search/engine/parallel.h"
#include "spec/file.h"
#include "spec/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One check or exploration: what the command line would have parsed, and who listens. */
struct library_work {
	struct lxplore *run;
	struct arena *arena;
	struct diag *diag;
	struct arguments arguments;
	struct inputs inputs;
	FILE *people;
};

/* --- what is asked, as the command line has it */

/* Options of a command that say what is searched, and not what is printed or written where. */
static const struct option *settings_here(struct arena *arena, unsigned command)
{
	static const char *const others[] = {"format", "quiet", "verbose", NULL};
	const struct option *all = settings_of(arena, command);
	struct array(struct option) options = {0};
	for (; all->name; all++) {
		bool other = all->type == OPTION_FILE || all->type == OPTION_FOLDER;
		for (size_t k = 0; others[k]; k++)
			other |= text_equal(others[k], all->name);
		if (!other)
			*array_add(arena, &options) = *all;
	}
	*array_add(arena, &options) = (struct option){0};
	return options.at;
}

static bool read_settings(struct library_work *work, unsigned command)
{
	struct array(char *) words = {0};
	for (const struct library_item *at = work->run->settings.first; at; at = at->next)
		*array_add(work->arena, &words) = arena_format(work->arena, "--%s%s%s", at->name,
			at->text ? "=" : "", at->text ? at->text : "");
	return option_parse(work->arena, settings_here(work->arena, command), (int)words.count,
		words.at, work->diag, &work->arguments);
}

/* Paths with the files that they stand for, and texts, in the order given. */
static const struct node *const *read_specs(struct library_work *work)
{
	struct arena *arena = work->arena;
	struct array(const char *) names = {0};
	struct array(struct span) spans = {0};
	struct array(const struct node *) files = {0};
	static const char *const folders[] = {".", NULL};
	for (const struct library_item *at = work->run->specs.first; at; at = at->next) {
		const char *name = at->name;
		struct span nowhere = {0};
		struct arguments meant = {.count = 1, .at = &name, .spans = &nowhere};
		if (!at->text)
			spec_files(arena, &meant, work->diag);
		for (size_t i = 0; i < meant.count; i++) {
			*array_add(arena, &names) = meant.at[i];
			*array_add(arena, &spans) = nowhere;
			*array_add(arena, &files) =
				at->text ? node_read_text(arena, meant.at[i], at->text, at->length,
						   work->diag)
					 : model_or_spec(arena, &work->arguments, meant.at[i],
						   folders, work->diag);
		}
	}
	work->arguments.count = names.count;
	work->arguments.at = names.at;
	work->arguments.spans = spans.at;
	return files.at;
}

static bool read_inputs(struct library_work *work)
{
	bool good = read_settings(work, OF_EXPLORE);
	const struct node *const *files = read_specs(work);
	return good &&
	       inputs_read_files(work->arena, &work->arguments, files, work->diag, &work->inputs);
}

/* --- what is said */

static void keep_complaints(struct library_work *work)
{
	struct lxplore *run = work->run;
	size_t count = diag_count(work->diag);
	struct lxplore_complaint *complaints =
		arena_array(work->arena, struct lxplore_complaint, count);
	for (size_t i = 0; i < count; i++) {
		struct diag_message message = diag_message(work->diag, i);
		complaints[i] = (struct lxplore_complaint){
			.severity = (enum lxplore_severity)message.severity,
			.file = message.at.source ? message.at.source->name : NULL,
			.line = message.at.line,
			.column = message.at.column,
			.end_line = message.at.end_line,
			.end_column = message.at.end_column,
			.text = message.text};
	}
	run->complaint_count = count;
	run->complaints = complaints;
}

/* A stream into memory. */
struct library_stream {
	FILE *file;
	char *bytes;
	size_t length;
};

static FILE *open_stream(struct library_stream *stream)
{
	stream->file = open_memstream(&stream->bytes, &stream->length);
	if (!stream->file)
		fatal("out of memory: %s", strerror(errno));
	return stream->file;
}

static const char *close_stream(struct library_stream *stream, struct arena *arena)
{
	fclose(stream->file);
	const char *text = arena_text(arena, stream->bytes);
	free(stream->bytes);
	return text;
}

/* Does the work of a task with what it prints kept. */
static enum lxplore_status with_streams(struct lxplore *run, const struct library_task *task)
{
	struct library_stream data = {0}, people = {0};
	struct arena *arena = library_renew(run);
	struct library_work work = {.run = run, .arena = arena, .diag = diag_open(arena)};
	work.people = open_stream(&people);
	command_redirect(open_stream(&data), work.people);
	diag_fold_remarks(work.diag);
	enum lxplore_status status = task->work(&work);
	command_redirect(NULL, NULL);
	run->output = close_stream(&data, arena);
	run->message = close_stream(&people, arena);
	keep_complaints(&work);
	return status;
}

static enum lxplore_status call(
	struct lxplore *run, enum lxplore_status (*work)(struct library_work *work))
{
	return library_call(run, (struct library_task){with_streams, work, NULL});
}

/* Says what is wrong. */
static enum lxplore_status refuse(struct library_work *work)
{
	return (enum lxplore_status)command_refuse(work->diag);
}

/* --- what needs no search */

static enum lxplore_status check(struct library_work *work)
{
	return read_inputs(work) ? (enum lxplore_status)kind_check(&work->inputs, FORMAT_JSON)
				 : refuse(work);
}

enum lxplore_status lxplore_check(struct lxplore *run)
{
	return call(run, check);
}

static enum lxplore_status score_by(struct library_work *work, bool simulated)
{
	return read_inputs(work)
		       ? (enum lxplore_status)kind_score(&work->inputs, FORMAT_JSON, simulated)
		       : refuse(work);
}

static enum lxplore_status score(struct library_work *work)
{
	return score_by(work, false);
}

enum lxplore_status lxplore_score(struct lxplore *run)
{
	return call(run, score);
}

static enum lxplore_status simulate(struct library_work *work)
{
	return score_by(work, true);
}

enum lxplore_status lxplore_simulate(struct lxplore *run)
{
	return call(run, simulate);
}

/* --- explore */

static bool host_stop(void *context)
{
	struct lxplore *run = context;
	return atomic_load(&run->stopped);
}

static void host_progress(void *context, double seconds, const struct progress *progress)
{
	const struct lxplore *run = context;
	struct lxplore_progress told = {.seconds = seconds,
		.round = progress->round,
		.done = progress->done,
		.tasks = progress->tasks,
		.count = progress->count,
		.best = progress->best,
		.bound = progress->bound};
	if (run->tell && !library_failure())
		run->tell(run->context, &told);
}

/* What the numbers of points mean is in the files; a stop is told apart from its result. */
static enum lxplore_status search(struct library_work *work, struct exploring *exploring)
{
	struct lxplore *run = work->run;
	int status = exploration_prepare(exploring);
	if (status != EXIT_FOUND)
		return (enum lxplore_status)status;
	exploring->folder = folder_gather(work->arena);
	exploration_run(exploring);
	struct result_texts texts = exploration_gather(exploring);
	run->files = exploring->folder;
	run->points = library_read_table(work->arena, texts.pareto);
	status = exploration_end(exploring);
	return host_stop(run) ? LXPLORE_STOPPED : (enum lxplore_status)status;
}

static enum lxplore_status explore(struct library_work *work)
{
	int64_t jobs = parallel_cores(), seconds = 0;
	bool good = read_inputs(work);
	good &= option_integer(&work->arguments, "jobs", 0, work->diag, &jobs);
	good &= option_integer(&work->arguments, "time-limit", 0, work->diag, &seconds);
	if (!good)
		return refuse(work);
	struct listener_host host = {work->run, host_stop, host_progress};
	struct listener listener = listener_hosted(seconds, &host);
	struct exploring exploring = exploration_open(&work->inputs, &listener, work->people);
	exploring.wishes.asker =
		listener_asker(&exploring.listener, parallel_apart_jobs((int)jobs));
	return search(work, &exploring);
}

enum lxplore_status lxplore_explore(struct lxplore *run)
{
	return call(run, explore);
}

/* --- place */

static const char *stop_of(const void *context)
{
	return listener_limit(context);
}

/* The one capture that was added: its path, or its text in memory. */
static bool read_capture(struct library_work *work, struct captures_request *request)
{
	const struct library_item *item = work->run->specs.first;
	const struct source *source = NULL;
	struct span nowhere = {0};
	if (!read_settings(work, OF_PLACE))
		return false;
	if (!item || item->next) {
		diag_error(
			work->diag, nowhere, "place works on one capture; add it by lxplore_add");
		return false;
	}
	if (item->text) {
		source =
			file_of_text(work->arena, item->name, item->text, item->length, work->diag);
		if (!source)
			return false;
	}
	const char *name = arena_text(work->arena, item->name);
	work->arguments.count = 1;
	work->arguments.at = arena_copy(work->arena, &name, sizeof name);
	work->arguments.spans = arena_copy(work->arena, &nowhere, sizeof nowhere);
	return captures_request_read(work->arena, &work->arguments, source, work->diag, request);
}

static enum lxplore_status place(struct library_work *work)
{
	struct captures_request request;
	if (!read_capture(work, &request))
		return refuse(work);
	diag_print(work->diag, work->people);
	struct listener_host host = {work->run, host_stop, host_progress};
	struct listener listener = listener_hosted(request.seconds, &host);
	struct asker asker = listener_asker(&listener, 1);
	const struct capture_row *rows =
		captures_answer(work->arena, &request, &asker, stop_of, &listener);
	command_print(
		capture_report_json(work->arena, request.source, rows, request.captures.count));
	return host_stop(work->run) ? LXPLORE_STOPPED : LXPLORE_FOUND;
}

enum lxplore_status lxplore_place(struct lxplore *run)
{
	return call(run, place);
}

/* --- write */

static enum lxplore_status write_files(struct lxplore *run, const struct library_task *task)
{
	struct arena *arena = arena_open();
	struct folder *folder = NULL;
	const char *text, *why = "there are no results to write";
	if (run->files)
		why = folder_open(arena, task->folder, &folder);
	for (size_t i = 0; !why && i < folder_count(run->files); i++) {
		const char *name = folder_file(run->files, i, &text);
		folder_add(folder, name, text);
	}
	if (!why)
		why = folder_close(folder);
	free(run->write_message);
	run->write_message = NULL;
	if (why && asprintf(&run->write_message, "lxplore: %s\n", why) < 0)
		run->write_message = NULL;
	arena_close(arena);
	return why ? LXPLORE_FAILED : LXPLORE_FOUND;
}

enum lxplore_status lxplore_write(struct lxplore *run, const char *folder)
{
	return library_call(run, (struct library_task){write_files, NULL, folder});
}
