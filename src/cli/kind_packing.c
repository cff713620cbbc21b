#include "cli/packing_proof.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "report/packing/place_svg.h"
#include "search/drive/solver.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_whole(const struct placement *placement)
{
	for (size_t i = 0; i < placement->count; i++)
		if (placement->addresses[i] == UNPLACED)
			return false;
	return true;
}

/* What the goal wants less of. */
static int64_t cost_of(const struct packing *packing, const struct placement *placement)
{
	if (packing->goal == PACKING_SPILL)
		return -placement_saved(packing, placement);
	return packing->goal == PACKING_PEAK ? placement_peak(packing, placement) : 0;
}

/* Solvers are not believed. */
static void verify(const struct place_report *report, const struct placement *placement)
{
	const struct packing *packing = report->packing;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a < 0)
		return;
	BUG("%s made a wrong layout of %s: '%s'%s%s%s: %s", report->method,
		report->file->source->name, packing->buffers[fault.a].name,
		fault.b >= 0 ? " and '" : "", fault.b >= 0 ? packing->buffers[fault.b].name : "",
		fault.b >= 0 ? "'" : "", fault.why);
}

static void take_best(struct place_report *report, const struct answer *answer)
{
	for (size_t i = 0; i < answer->candidate_count; i++) {
		const struct placement *placement = answer->candidates[i].placement;
		verify(report, placement);
		if (report->packing->goal != PACKING_SPILL && !is_whole(placement))
			continue;
		if (!report->placement || cost_of(report->packing, placement) <
						  cost_of(report->packing, report->placement))
			report->placement = placement;
	}
}

/* What a bound says of the goal; one that the layout at hand is beyond is told and not used. */
static void take_bound(struct place_report *report, const struct answer *answer)
{
	const struct packing *packing = report->packing;
	bool spills = packing->goal == PACKING_SPILL;
	int64_t all = spills ? packing_weights(packing) : 0;
	int64_t known = spills ? all : place_report_load(report);
	int64_t cost = cost_of(packing, report->placement), value = spills ? -cost : cost;
	report->bound = known;
	report->proof = PROOF_BOUND;
	if (answer->status == PROOF_OPTIMAL || answer->status == PROOF_BOUND)
		report->bound = spills ? number_min(known, all - (int64_t)answer->bound)
				       : number_max(known, (int64_t)answer->bound);
	if (spills ? report->bound < value : report->bound > value) {
		fprintf(stderr,
			"lxplore: the bound of %s is wrong and not used: %" PRId64
			", and the layout has %" PRId64 "\n",
			report->method, report->bound, value);
		report->bound = known;
	}
	if (report->bound == value)
		report->proof = PROOF_OPTIMAL;
}

/* What the solver proved, in the words of the report. */
static void take_proof(struct place_report *report, const struct answer *answer)
{
	const struct packing *packing = report->packing;
	report->nodes = answer->ticks;
	report->outcome = report->placement                    ? VERDICT_YES
			  : answer->status == PROOF_INFEASIBLE ? VERDICT_NO
							       : VERDICT_OPEN;
	report->core_count = report->placement ? 0 : answer->core_count;
	report->core = answer->core;
	if (!report->placement)
		return;
	if (packing->goal != PACKING_FIT)
		take_bound(report, answer);
}

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

/* False after telling why the solver would not. */
static bool ask(struct arena *arena, const struct place_request *request, struct listener *listener,
	struct place_report *report)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = report->packing};
	struct asker asker = listener_asker(listener, request->jobs);
	asker.stopper.stop = listener_wait;
	struct answer answer =
		solve_for(&asker, request->solver, &problem, request->budget, request->seed, arena);
	bool refused = false;
	listener_clear(listener);
	for (size_t i = 0; i < answer.complaint_count; i++) {
		fprintf(stderr, "lxplore: %s\n", answer.complaints[i].text);
		refused |= answer.complaints[i].error && !answer.candidate_count;
	}
	take_best(report, &answer);
	take_proof(report, &answer);
	if (report->outcome == VERDICT_NO)
		packing_proof_core(arena, listener, report);
	report->limit = listener_limit(listener);
	if (!report->limit && answer.cut)
		report->limit = "budget";
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
	if (request->svg)
		command_write(arena, request->svg, place_svg(arena, report));
}

static int tell_end(
	struct arena *arena, const struct place_request *request, const struct place_report *report)
{
	if (request->format != FORMAT_TEXT)
		fputs(place_report_core(arena, report), stderr);
	if (!request->quiet && request->format != FORMAT_TEXT)
		fprintf(stderr, "%s\n", place_report_line(arena, report));
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
	if (!find_overload(arena, &report) && !ask(arena, request, &listener, &report))
		return EXIT_INPUT;
	write_layout(arena, request, &report);
	packing_write_picture(arena, request, &report);
	if (request->certificate && report.outcome == VERDICT_NO)
		packing_proof_write(arena, request, &listener, &report);
	else if (request->certificate)
		fprintf(stderr, "lxplore: no certificate: %s\n",
			report.outcome == VERDICT_YES ? "they fit" : "it is not decided");
	return tell_end(arena, request, &report);
}

static int run(struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	struct place_request request;
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
	.usage = "BUFFERS.csv --capacity N",
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
		"means than it was found. Exit status: 0 all fit, or what can be kept is; 1\n"
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
