#include "cli/packing_request.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/place_captures.h"
#include "cli/settings.h"
#include "report/packing/place_report.h"
#include "search/packing/packing_search.h"

#include <inttypes.h>
#include <stdio.h>

/* More bytes live at once than there are: no search is needed. */
static bool find_overload(struct arena *arena, struct place_report *report)
{
	const struct packing *packing = report->packing;
	const struct load_curve *load = &report->load;
	if (packing->goal == PACKING_SPILL ||
		place_report_load(report) <= packing_room(arena, packing))
		return false;
	report->outcome = VERDICT_NO;
	report->method = "load";
	report->core_by_load = true;
	report->core_from = load->steps[load->most].from;
	report->core_to = load->steps[load->most + 1].from;
	int *core = arena_array(arena, int, packing->count);
	for (size_t i = 0; i < packing->count; i++)
		if (packing_counts_at(packing, i, report->core_from))
			core[report->core_count++] = (int)i;
	report->core = core;
	return true;
}

/* The layout that was found, and what is proven of what the report tells: the peak, or what is saved. */
static void take_layout(struct place_report *report, const struct packing_found *found)
{
	int64_t bound = (int64_t)found->common.bound;
	report->outcome = VERDICT_YES;
	report->placement = found->placement;
	if (report->packing->goal == PACKING_FIT)
		return;
	report->proof = found->common.proof;
	report->bound = report->packing->goal == PACKING_SPILL
				? packing_weights(report->packing) - bound
				: bound;
}

static void take_core(struct arena *arena, struct listener *listener, struct place_report *report,
	const struct answer *answer)
{
	report->outcome = VERDICT_NO;
	report->core_count = answer->core_count;
	report->core = answer->core;
	packing_proof_core(arena, listener, report);
}

/* A solver that proves nothing ends by itself: says so where the answer is open, with the lever. */
static void tell_open(const struct place_request *request, const struct place_report *report)
{
	bool is_open = report->packing->goal == PACKING_FIT ? !report->placement
							    : report->proof != PROOF_OPTIMAL;
	if (is_open && !report->limit && report->outcome != VERDICT_NO && request->solver &&
		!request->solver->proves)
		utf8_print(stderr,
			"lxplore: the search ends here: place/%s proves nothing; take '--solver exact'\n",
			request->solver->name);
}

/* False after telling why the solver would not. */
static bool search(struct arena *arena, const struct place_request *request,
	struct listener *listener, struct place_report *report)
{
	struct packing_search search = {.wishes = {.budget = request->budget,
						.seed = request->seed,
						.asker = listener_asker(listener, request->jobs)},
		.packing = report->packing,
		.solver = request->solver};
	search.wishes.asker.stopper.stop = listener_wait;
	search.wishes.asker.progress = NULL;
	struct explored explored = packing_explore(&search, arena);
	const struct answer *answer = explored.more;
	bool found = explored.frontier.count > 0, refused = false;
	listener_clear(listener);
	for (size_t i = 0; i < answer->complaint_count; i++) {
		utf8_print(stderr, "lxplore: %s\n", answer->complaints[i].text);
		refused |= answer->complaints[i].error && !answer->candidate_count;
	}
	if (explored.complaint)
		utf8_print(stderr, "lxplore: %s\n", explored.complaint);
	report->nodes = explored.effort.ticks;
	report->outcome = VERDICT_OPEN;
	if (found)
		take_layout(report, explored.frontier.points[0].payload);
	else if (answer->status == PROOF_INFEASIBLE)
		take_core(arena, listener, report, answer);
	report->limit = listener_limit(listener);
	if (!report->limit && answer->cut)
		report->limit = "budget";
	if (!refused)
		tell_open(request, report);
	return !refused;
}

static void write_layout(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	const char *text;
	if (request->format == FORMAT_CSV && !report->placement)
		return;
	/* JSON is YAML as it stands. */
	if (request->format == FORMAT_CSV)
		text = packing_write(arena, report->file, report->placement);
	else
		text = request->format == FORMAT_TEXT ? place_report_text(arena, report)
						      : place_report_json(arena, report);
	if (request->output)
		command_write(arena, request->output, text);
	else
		command_print(text);
}

void packing_write_picture(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	struct place_svg_words words = {
		report->file->source->name, place_report_line(arena, report), NULL, false};
	if (request->svg)
		command_write(arena, request->svg, place_svg(arena, report, &words));
}

static int tell_end(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	if (request->format != FORMAT_TEXT)
		utf8_print(stderr, "%s", place_report_core(arena, report));
	if (!request->quiet && request->format != FORMAT_TEXT)
		utf8_print(stderr, "%s\n", place_report_line(arena, report));
	return listener_interrupted() ? EXIT_INTERRUPTED : listener_status(report->outcome);
}

static int place(struct arena *arena, const struct place_request *request)
{
	struct place_report report = {.file = &request->file,
		.packing = &request->file.packing,
		.has_capacity = request->has_capacity,
		.load = load_curve(arena, &request->file.packing, NULL),
		.method = arena_format(arena, "place/%s", request->solver->name)};
	struct listener listener = listener_open(request->seconds, request->quiet, "nodes");
	if (!find_overload(arena, &report) && !search(arena, request, &listener, &report))
		return EXIT_INPUT;
	write_layout(arena, request, &report);
	packing_write_picture(arena, request, &report);
	if (request->certificate && report.outcome == VERDICT_NO)
		packing_proof_write(arena, request, &listener, &report);
	else if (request->certificate)
		utf8_print(stderr, "lxplore: no certificate: %s\n",
			report.outcome == VERDICT_YES ? "they fit" : "it is not decided");
	return tell_end(arena, request, &report);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct place_request request;
	if (place_is_capture(arguments))
		return place_captures(arena, arguments, diag);
	if (!place_request_read(arena, arguments, diag, &request))
		return command_refuse(diag);
	diag_print(diag, stderr);
	if (request.check)
		return packing_check_offsets(arena, &request, diag);
	if (request.check_certificate)
		return packing_check_certificate(arena, &request, diag);
	return place(arena, &request);
}

static const struct command command_place = {
	.name = "place",
	.usage = "BUFFERS.csv|CAPTURE.json --capacity N",
	.summary = "places buffers with lifetimes in a scratchpad",
	.manual =
		"The table has a row for each buffer, with columns in any order: id, lower,\n"
		"upper, size as minimalloc reads them (a life is [lower, upper)); alignment;\n"
		"in_place_parents (a;b: whose place it may take, if that ends in its first step)\n"
		"and in_place (may, must); weight (what is saved by keeping it; default its\n"
		"size); uses (w3;r5;r9: it may be spilled between them, and each transfer is\n"
		"worth the weight); address (fixed); hint (suggested: the exact solver begins\n"
		"with a layout of hints alone). What is printed is the table with its offsets;\n"
		"FROM-TO@OFFSET;.. where it is kept in parts. Every layout is checked by other\n"
		"means than it was found.\n"
		"\n"
		"A file whose name ends in .json is a capture of a compiler's joint problem:\n"
		"each buffer has a menu of divisions over cores, and readers find it in LX\n"
		"under listed pairs of divisions. Each case gets divisions, residency and\n"
		"addresses with the fewest bytes through HBM, then the most cores, with a\n"
		"proof; --format json or -o writes them in the compiler's format, --check\n"
		"verifies the answers of the file.\n"
		"\n"
		"Exit status: 0 all fit, or what can be kept is; 1\n"
		"proven not to fit, or a wrong layout; 2 wrong input; 3 not decided within the\n"
		"budget; 130 interrupted.\n",
	.bit = OF_PLACE,
	.run = run,
};

const struct input_kind packing_kind = {
	.name = "packing",
	.noun = "a packing",
	.plural = "packings",
	.summary = "buffers with lifetimes in a CSV: lxplore place gives them addresses",
	.stages = 1 << STAGE_PLACE,
	.command = &command_place,
};
