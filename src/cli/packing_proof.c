#include "cli/packing_proof.h"
#include "base/arena.h"
#include "base/text.h"
#include "cli/listener.h"
#include "cli/unfit_file.h"
#include "report/packing/place_report.h"
#include "report/run/folder.h"

#include <inttypes.h>
#include <stdio.h>

enum { FORKS = 5000 };

/* Forks of each try to do with one buffer less: the work of one grows with their number. */
static size_t forks_to_shrink(size_t buffers)
{
	return buffers <= 24 ? 200 : buffers <= 48 ? 20 : 0;
}

static void tell_fault(
	const struct place_request *request, struct packing_fault fault, struct diag *diag)
{
	const struct packing_file *file = &request->file;
	const struct buffer *buffers = file->packing.buffers;
	struct span span = packing_span(file, (size_t)fault.a);
	if (fault.b < 0) {
		diag_error(diag, span, "'%s': %s", buffers[fault.a].name, fault.why);
		return;
	}
	diag_error(diag, span, "'%s' and '%s': %s", buffers[fault.a].name, buffers[fault.b].name,
		fault.why);
	diag_note(diag, packing_span(file, (size_t)fault.b), "the other is here");
}

int packing_check_offsets(
	struct arena *arena, const struct place_request *request, struct diag *diag)
{
	const struct packing *packing = &request->file.packing;
	const struct placement *placement = request->file.placement;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0) {
		tell_fault(request, fault, diag);
		diag_print(diag, stderr);
		return EXIT_IMPOSSIBLE;
	}
	struct place_report report = {.file = &request->file,
		.packing = packing,
		.has_capacity = request->has_capacity,
		.outcome = VERDICT_YES,
		.placement = placement,
		.load = load_curve(arena, packing, NULL),
		.method = "check"};
	packing_write_picture(arena, request, &report);
	if (request->format == FORMAT_JSON || request->format == FORMAT_YAML) {
		command_print(place_report_json(arena, &report));
		return EXIT_FOUND;
	}
	command_print(arena_format(arena,
		"the layout is right: %zu of %zu buffers have a place, peak %" PRId64
		", saved %" PRId64 " of %" PRId64 "\n",
		placement_count(placement), packing->count, placement_peak(packing, placement),
		placement_saved(packing, placement), packing_weights(packing)));
	return EXIT_FOUND;
}

static int tell_undecided(const struct listener *listener)
{
	const char *limit = listener_limit(listener);
	utf8_print(stderr, "lxplore: not decided whether the certificate holds: %s\n",
		limit ? limit : "budget");
	return listener_status(VERDICT_OPEN);
}

int packing_check_certificate(
	struct arena *arena, const struct place_request *request, struct diag *diag)
{
	struct unfit_file file;
	enum unfit_reading reading = unfit_file_read(arena, request, diag, &file);
	if (reading == UNFIT_WRONG)
		return command_refuse(diag);
	if (reading == UNFIT_READ) {
		const struct packing *packing = &request->file.packing;
		struct packing some = packing_of_some(arena, packing, file.count, file.buffers);
		some.capacity = file.capacity; /* what holds there holds of less */
		struct listener listener = listener_open(request->seconds, request->quiet, "forks");
		struct unfit_limits limits = {
			request->budget ? request->budget : SIZE_MAX, {&listener, listener_wait}};
		struct unfit_checked checked = unfit_check(&some, &file.proof, &limits);
		listener_clear(&listener);
		if (!checked.decided)
			return tell_undecided(&listener);
		if (checked.why)
			diag_error(diag, file.proof_span, "rejected: node %zu of the proof: %s",
				checked.at + 1, checked.why);
	}
	diag_print(diag, stderr);
	if (diag_failed(diag))
		return EXIT_IMPOSSIBLE;
	command_print(arena_format(arena,
		"the certificate holds: %zu of %zu buffers do not fit into %" PRId64
		" bytes, by %zu cases\n",
		file.count, request->file.packing.count, request->file.packing.capacity,
		file.proof.count));
	return EXIT_FOUND;
}

void packing_proof_core(struct arena *arena, struct listener *listener, struct place_report *report)
{
	const struct packing *packing = report->packing;
	size_t count = report->core_count ? report->core_count : packing->count;
	struct unfit_limits limits = {forks_to_shrink(count), {listener, listener_stop}};
	int *buffers = arena_array(arena, int, count);
	for (size_t i = 0; i < count; i++)
		buffers[i] = report->core_count ? report->core[i] : (int)i;
	if (count + packing->reserved_count <= UNFIT_BUFFERS_MOST)
		count = unfit_shrink(packing, count, buffers, &limits);
	report->core_count = count;
	report->core = buffers;
}

void packing_proof_write(struct arena *arena, const struct place_request *request,
	struct listener *listener, const struct place_report *report)
{
	struct place_report least = *report;
	packing_proof_core(arena, listener, &least);
	size_t count = least.core_count;
	struct packing some = packing_of_some(arena, report->packing, count, least.core);
	size_t forks = request->budget && request->budget < FORKS ? request->budget : FORKS;
	struct unfit_limits limits = {forks, {listener, listener_stop}};
	struct unfit_proof proof;
	if (!unfit_prove(&some, &limits, arena, &proof)) {
		if (listener_limit(listener))
			utf8_print(
				stderr, "lxplore: no certificate: %s\n", listener_limit(listener));
		else
			fprintf(stderr,
				"lxplore: no certificate: no proof of at most %zu forks was found "
				"for %zu buffers\n",
				forks, count);
		return;
	}
	command_write(arena, request->certificate, unfit_yaml(arena, &some, &proof));
}
