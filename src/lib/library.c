#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/place_captures.h"
#include "cli/settings.h"
#include "cli/spec_files.h"
#include "lib/lxplore.h"
#include "report/packing/place_report.h"
#include "report/run/folder.h"
#include "report/run/pareto.h"
#include "search/engine/parallel.h"
#include "spec/file.h"
#include "spec/node.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The library: handles, the thread that works for them, the work itself, and reading of results.  The requests of a
 * handle are on the heap of C, its results in an arena.
 */

/* A path, a name with the text of a spec in memory, or a setting with its value. */
struct library_item {
	struct library_item *next;
	const char *name;
	size_t length;    /* of the text */
	const char *text; /* or NULL */
	char bytes[];     /* of both */
};

struct library_list {
	struct library_item *first, **end;
};

struct library_table {
	size_t row_count;
	struct csv_cells columns, cells; /* row by row */
};

struct lxplore {
	atomic_flag busy;
	atomic_bool working, stopped; /* stopped: while it was working */
	struct library_list specs, settings;
	void (*tell)(void *context, const struct lxplore_progress *progress);
	void *context;

	struct arena *arena;
	const char *output, *message;
	size_t complaint_count;
	const struct lxplore_complaint *complaints;
	struct library_table points;
	const struct folder *files;
	char *write_message; /* of the last lxplore_write that failed; NULL */
};

/* Work of a handle on a thread of its own. */
struct library_work;
struct library_task {
	enum lxplore_status (*run)(struct lxplore *run, const struct library_task *task);
	enum lxplore_status (*work)(
		struct library_work *work); /* with what is printed kept; NULL */
	const char *folder;                 /* to write to; NULL */
};

/* Guards what follows, and the ends of calls. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static char failure[1024]; /* "": none */

struct library_thread {
	struct lxplore *run;
	struct library_task task;
	enum lxplore_status status;
	bool done;
};

/* The thread that cannot go on stays where it is; who waits for any work goes on without it. */
static void library_fail(const char *text)
{
	pthread_mutex_lock(&gate);
	if (!failure[0])
		snprintf(failure, sizeof failure, "lxplore: %s\n", text);
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&gate);
	for (;;)
		pause();
}

/* Why no work is possible in this process any more; NULL: it is. */
static const char *library_failure(void)
{
	pthread_mutex_lock(&gate);
	bool failed = failure[0];
	pthread_mutex_unlock(&gate);
	return failed ? failure : NULL; /* it is written once */
}

static void *run_call(void *context)
{
	struct library_thread *call = context;
	call->status = call->task.run(call->run, &call->task);
	pthread_mutex_lock(&gate);
	call->done = true;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&gate);
	return NULL;
}

/* True if it came to its end. */
static bool wait_for(const struct library_thread *call)
{
	pthread_mutex_lock(&gate);
	while (!call->done && !failure[0])
		pthread_cond_wait(&ended, &gate);
	bool done = call->done;
	pthread_mutex_unlock(&gate);
	return done;
}

/* Runs a task on a thread of its own.  Work that still runs after a failure keeps its call. */
static enum lxplore_status call_apart(struct lxplore *run, struct library_task task)
{
	pthread_t thread;
	enum lxplore_status status = LXPLORE_FAILED;
	struct library_thread *call = calloc(1, sizeof *call);
	if (!call)
		return LXPLORE_FAILED;
	*call = (struct library_thread){.run = run, .task = task};
	fatal_tell(library_fail);
	if (parallel_apart(&thread, run_call, call) == 0) {
		if (!wait_for(call)) {
			pthread_detach(thread);
			return LXPLORE_FAILED;
		}
		pthread_join(thread, NULL);
		status = call->status;
	}
	free(call);
	return status;
}

/* Runs a task apart, and waits for its end or that of all work in this process. */
static enum lxplore_status library_call(struct lxplore *run, struct library_task task)
{
	if (library_failure())
		return LXPLORE_FAILED;
	if (atomic_flag_test_and_set(&run->busy))
		return LXPLORE_BUSY;
	atomic_store(&run->stopped, false);
	atomic_store(&run->working, true);
	enum lxplore_status status = call_apart(run, task);
	atomic_store(&run->working, false);
	atomic_flag_clear(&run->busy);
	return status;
}

/* Frees the results of the last work and returns the arena for the next ones. */
static struct arena *library_renew(struct lxplore *run)
{
	arena_close(run->arena);
	free(run->write_message);
	run->write_message = NULL;
	run->arena = arena_open();
	run->output = run->message = "";
	run->complaint_count = 0;
	run->points = (struct library_table){0};
	run->files = NULL;
	return run->arena;
}

/* --- handles */

const char *lxplore_version(void)
{
	return LXPLORE_VERSION;
}

struct lxplore *lxplore_open(void)
{
	struct lxplore *run = calloc(1, sizeof *run);
	if (!run)
		return NULL;
	atomic_flag_clear(&run->busy);
	run->specs.end = &run->specs.first;
	run->settings.end = &run->settings.first;
	run->output = run->message = "";
	return run;
}

static void free_items(struct library_item *item)
{
	while (item) {
		struct library_item *next = item->next;
		free(item);
		item = next;
	}
}

void lxplore_close(struct lxplore *run)
{
	if (!run || library_failure())
		return; /* threads that stay where they are may know it */
	free_items(run->specs.first);
	free_items(run->settings.first);
	free(run->write_message);
	arena_close(run->arena);
	free(run);
}

/* --- what is asked */

/* An item of two texts, each with a NUL behind it; `length` is that of the second. */
static struct library_item *make_item(
	const char *name, size_t name_length, const char *text, size_t length)
{
	if (length > SIZE_MAX / 4 || name_length > SIZE_MAX / 4)
		return NULL;
	struct library_item *item = malloc(sizeof *item + name_length + 1 + length + 1);
	if (!item)
		return NULL;
	*item = (struct library_item){.name = item->bytes,
		.length = length,
		.text = text ? item->bytes + name_length + 1 : NULL};
	memcpy(item->bytes, name, name_length);
	item->bytes[name_length] = '\0';
	if (text)
		memcpy(item->bytes + name_length + 1, text, length);
	item->bytes[name_length + 1 + length] = '\0';
	return item;
}

static enum lxplore_status library_list_add(
	struct lxplore *run, struct library_list *list, struct library_item *item)
{
	if (!item)
		return LXPLORE_FAILED;
	if (atomic_flag_test_and_set(&run->busy)) {
		free(item);
		return LXPLORE_BUSY;
	}
	*list->end = item;
	list->end = &item->next;
	atomic_flag_clear(&run->busy);
	return LXPLORE_FOUND;
}

enum lxplore_status lxplore_add(struct lxplore *run, const char *path)
{
	return library_list_add(run, &run->specs, make_item(path, strlen(path), NULL, 0));
}

enum lxplore_status lxplore_add_text(
	struct lxplore *run, const char *name, const char *text, size_t length)
{
	return library_list_add(run, &run->specs, make_item(name, strlen(name), text, length));
}

enum lxplore_status lxplore_set(struct lxplore *run, const char *name, const char *value)
{
	size_t length = value ? strlen(value) : 0;
	return library_list_add(run, &run->settings, make_item(name, strlen(name), value, length));
}

enum lxplore_status lxplore_on_progress(struct lxplore *run,
	void (*tell)(void *context, const struct lxplore_progress *progress), void *context)
{
	if (atomic_flag_test_and_set(&run->busy))
		return LXPLORE_BUSY;
	run->tell = tell;
	run->context = context;
	atomic_flag_clear(&run->busy);
	return LXPLORE_FOUND;
}

void lxplore_stop(struct lxplore *run)
{
	if (atomic_load(&run->working))
		atomic_store(&run->stopped, true);
}

/* The rows of a pareto.csv. */
static struct library_table library_read_table(struct arena *arena, const char *text)
{
	struct library_table out = {.columns = csv_cells(arena, &text)};
	for (; *text; out.row_count++) {
		struct csv_cells row = csv_cells(arena, &text);
		for (size_t c = 0; c < row.count; c++)
			*array_add(arena, &out.cells) = row.at[c];
	}
	return out;
}

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
static enum lxplore_status work_refuse(struct library_work *work)
{
	return (enum lxplore_status)command_refuse(work->diag);
}

/* --- what needs no search */

static enum lxplore_status library_check(struct library_work *work)
{
	return read_inputs(work) ? (enum lxplore_status)kind_check(&work->inputs, FORMAT_JSON)
				 : work_refuse(work);
}

enum lxplore_status lxplore_check(struct lxplore *run)
{
	return call(run, library_check);
}

static enum lxplore_status score_by(struct library_work *work, bool simulated)
{
	return read_inputs(work)
		       ? (enum lxplore_status)kind_score(&work->inputs, FORMAT_JSON, simulated)
		       : work_refuse(work);
}

static enum lxplore_status library_score(struct library_work *work)
{
	return score_by(work, false);
}

enum lxplore_status lxplore_score(struct lxplore *run)
{
	return call(run, library_score);
}

static enum lxplore_status library_simulate(struct library_work *work)
{
	return score_by(work, true);
}

enum lxplore_status lxplore_simulate(struct lxplore *run)
{
	return call(run, library_simulate);
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

/* Explores.  The files say what the numbers of points mean; a stop is a status of its own. */
static enum lxplore_status library_search(struct library_work *work, struct exploring *exploring)
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

static enum lxplore_status library_explore(struct library_work *work)
{
	int64_t jobs = parallel_cores(), seconds = 0;
	bool good = read_inputs(work);
	good &= option_integer(&work->arguments, "jobs", 0, work->diag, &jobs);
	good &= option_integer(&work->arguments, "time-limit", 0, work->diag, &seconds);
	if (!good)
		return work_refuse(work);
	struct listener_host host = {work->run, host_stop, host_progress};
	struct listener listener = listener_hosted(seconds, &host);
	struct exploring exploring = exploration_open(&work->inputs, &listener, work->people);
	exploring.wishes.asker =
		listener_asker(&exploring.listener, parallel_apart_jobs((int)jobs));
	return library_search(work, &exploring);
}

enum lxplore_status lxplore_explore(struct lxplore *run)
{
	return call(run, library_explore);
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

static enum lxplore_status library_place(struct library_work *work)
{
	struct captures_request request;
	if (!read_capture(work, &request))
		return work_refuse(work);
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
	return call(run, library_place);
}

/* --- write */

static enum lxplore_status write_files(struct lxplore *run, const struct library_task *task)
{
	struct arena *arena = arena_open();
	struct folder *folder = NULL;
	const char *text, *why = "no results to write";
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

const char *lxplore_message(const struct lxplore *run)
{
	const char *why = library_failure();
	return why ? why : run->write_message ? run->write_message : run->message;
}

const char *lxplore_output(const struct lxplore *run)
{
	return run->output;
}

size_t lxplore_complaints(const struct lxplore *run)
{
	return run->complaint_count;
}

const struct lxplore_complaint *lxplore_complaint(const struct lxplore *run, size_t i)
{
	return i < run->complaint_count ? &run->complaints[i] : NULL;
}

size_t lxplore_points(const struct lxplore *run)
{
	return run->points.row_count;
}

size_t lxplore_columns(const struct lxplore *run)
{
	return run->points.columns.count;
}

const char *lxplore_column(const struct lxplore *run, size_t i)
{
	return i < run->points.columns.count ? run->points.columns.at[i] : NULL;
}

const char *lxplore_cell(const struct lxplore *run, size_t point, const char *column)
{
	const struct library_table *points = &run->points;
	for (size_t c = 0; c < points->columns.count && point < points->row_count; c++)
		if (text_equal(points->columns.at[c], column))
			return points->cells.at[point * points->columns.count + c];
	return NULL;
}

double lxplore_number(const struct lxplore *run, size_t point, const char *column)
{
	const char *text = lxplore_cell(run, point, column);
	char *end = NULL;
	double value = text ? strtod(text, &end) : 0;
	return text && *text && !*end ? value : (double)NAN;
}

const char *lxplore_plan(const struct lxplore *run, size_t point)
{
	const char *name = lxplore_cell(run, point, "plan");
	if (!name)
		return NULL;
	for (size_t i = 0; i < lxplore_files(run); i++)
		if (text_equal(lxplore_file_name(run, i), name))
			return lxplore_file_text(run, i);
	return "";
}

size_t lxplore_files(const struct lxplore *run)
{
	return run->files ? folder_count(run->files) : 0;
}

const char *lxplore_file_name(const struct lxplore *run, size_t i)
{
	const char *text;
	return i < lxplore_files(run) ? folder_file(run->files, i, &text) : NULL;
}

const char *lxplore_file_text(const struct lxplore *run, size_t i)
{
	const char *text;
	if (i >= lxplore_files(run))
		return NULL;
	folder_file(run->files, i, &text);
	return text;
}
