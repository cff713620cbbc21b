#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "tests/support/case_graph.h"
#include "tests/support/case_json.h"
#include "tests/support/tally.h"

#include <string.h>

/*
 * Family division-and-lx: layout.json (buffers to addresses) and patterns.json
 * (placements and HBM bytes).  Addresses equal the published ones wherever the
 * published layout is valid; elsewhere ours must be valid.
 */
static const char *const place_solvers[] = {"greedy", "firstfit", "bestfit", 0};

static int find_buffer(const struct packing *packing, const char *name)
{
	for (size_t i = 0; name && i < packing->count; i++)
		if (text_equal(packing->buffers[i].name, name))
			return (int)i;
	return -1;
}

/* *why unless all parents are buffers. */
static struct packing read_packing(struct arena *arena, const json_t *list, int64_t capacity,
	int64_t alignment, const char **why)
{
	struct buffer *buffers = arena_array(arena, struct buffer, json_array_size(list));
	struct packing packing = {.capacity = capacity,
		.alignment = alignment,
		.count = json_array_size(list),
		.buffers = buffers};
	size_t i, k;
	const json_t *item, *parent;
	json_array_foreach(list, i, item) {
		buffers[i].name = case_text(item, "name");
		buffers[i].size = case_integer(item, "size");
		buffers[i].start = case_integer(item, "start");
		buffers[i].end = case_integer(item, "end");
	}
	json_array_foreach(list, i, item) {
		const json_t *names = json_object_get(item, "in_place_parents");
		int *parents = arena_array(arena, int, json_array_size(names));
		json_array_foreach(names, k, parent) {
			parents[k] = find_buffer(&packing, json_string_value(parent));
			if (parents[k] < 0)
				*why = "no such parent";
		}
		buffers[i].parents = parents;
		buffers[i].parent_count = json_array_size(names);
	}
	return packing;
}

static struct answer place(struct arena *arena, const struct packing *packing, const char *name)
{
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	return solve(solver_find(STAGE_PLACE, name), &problem, 0, 1, arena);
}

/* Every declared parent could hand over; greedy does not ask, the checker does. */
static bool is_lawful(const struct packing *packing)
{
	for (size_t i = 0; i < packing->count; i++)
		for (size_t k = 0; k < packing->buffers[i].parent_count; k++) {
			int parent = packing->buffers[i].parents[k];
			if (packing->buffers[parent].end != packing->buffers[i].start + 1)
				return false;
		}
	return true;
}

/* The first difference from the expected addresses, as a sentence; NULL for none. */
static const char *compare_addresses(struct arena *arena, const struct packing *packing,
	const struct placement *placement, const json_t *expected)
{
	for (size_t i = 0; i < packing->count; i++) {
		const json_t *value = json_object_get(expected, packing->buffers[i].name);
		int64_t want = json_is_integer(value) ? json_integer_value(value) : UNPLACED;
		if (placement->addresses[i] != want)
			return arena_format(arena, "'%s': expected address %lld, came %lld",
				packing->buffers[i].name, (long long)want,
				(long long)placement->addresses[i]);
	}
	return NULL;
}

static const char *check_layout(struct arena *arena, const struct packing *packing,
	const char *solver, const json_t *expect)
{
	struct answer answer = place(arena, packing, solver);
	if (json_is_string(json_object_get(expect, "error"))) {
		if (!answer.candidate_count && answer.complaint_count)
			return NULL;
		return arena_format(
			arena, "expected '%s', a layout came", case_text(expect, "error"));
	}
	if (answer.candidate_count != 1)
		return "expected one layout, none came";
	const struct placement *placement = answer.candidates[0].placement;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0 && is_lawful(packing))
		return arena_format(arena, "'%s' and %d: %s", packing->buffers[fault.a].name,
			fault.b, fault.why);
	if (!json_is_true(json_object_get(expect, "valid_layout")))
		return NULL;
	return compare_addresses(arena, packing, placement, json_object_get(expect, "addresses"));
}

static void check(struct tally *tally, const char *name, const char *solver, const char *why)
{
	if (why)
		tally_fail(tally, name, "%s: %s", solver, why);
	else
		tally_pass(tally);
}

static void check_layouts(const json_t *file, struct tally *tally)
{
	size_t i;
	const json_t *test;
	json_array_foreach(json_object_get(file, "cases"), i, test) {
		struct arena *arena = arena_open();
		const char *why = NULL;
		struct packing packing = read_packing(arena, json_object_get(test, "buffers"),
			case_integer(test, "capacity"),
			number_max(case_integer_or(test, "alignment", 128), 1), &why);
		const json_t *expect = json_object_get(test, "expect");
		for (const char *const *solver = place_solvers; *solver; solver++)
			check(tally, case_text(test, "name"), *solver,
				why ? why
				    : check_layout(arena, &packing, *solver,
					      json_object_get(expect, *solver)));
		arena_close(arena);
	}
}

/* Bytes of a buffer if an op finds it in HBM. */
static int64_t hbm_bytes(const json_t *test, const struct packing *packing,
	const struct placement *placement, const char *name)
{
	int i = find_buffer(packing, name);
	if (i >= 0 && placement->addresses[i] != UNPLACED)
		return 0;
	return case_integer(json_object_get(test, "buffers"), name);
}

static int64_t pattern_bytes(
	const json_t *test, const struct packing *packing, const struct placement *placement)
{
	int64_t bytes = 0;
	size_t i, k;
	const json_t *op, *input;
	json_array_foreach(json_object_get(test, "operations"), i, op) {
		json_array_foreach(json_object_get(op, "inputs"), k, input)
			bytes += hbm_bytes(test, packing, placement, json_string_value(input));
		bytes += hbm_bytes(test, packing, placement, case_text(op, "output"));
	}
	return bytes;
}

static const char *check_pattern(
	struct arena *arena, const json_t *test, const struct packing *packing, const char *solver)
{
	const json_t *expect = json_object_get(json_object_get(test, "run"), solver);
	struct answer answer = place(arena, packing, solver);
	if (answer.candidate_count != 1)
		return "expected one layout, none came";
	const struct placement *placement = answer.candidates[0].placement;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0)
		return arena_format(arena, "'%s' and %d: %s", packing->buffers[fault.a].name,
			fault.b, fault.why);
	const char *why =
		compare_addresses(arena, packing, placement, json_object_get(expect, "addresses"));
	int64_t bytes = pattern_bytes(test, packing, placement);
	if (!why && bytes != case_integer_or(expect, "hbm_bytes", bytes))
		why = arena_format(arena, "expected %lld HBM bytes, came %lld",
			(long long)case_integer(expect, "hbm_bytes"), (long long)bytes);
	bool good = bytes <= case_integer(test, "good_hbm_bytes");
	const json_t *meets = json_object_get(expect, "meets_good");
	if (!why && meets && good != json_is_true(meets))
		why = "the verdict against the good allocation differs";
	return why;
}

/*
 * When the ops of a pattern write and read a buffer, and what each of that moves.  Times are
 * doubled: an op that reads what it writes again does the one after the other.
 */
static void add_uses(struct arena *arena, const json_t *test, struct buffer *buffer)
{
	const json_t *ops = json_object_get(test, "operations"), *op, *input;
	struct use *uses = arena_array(arena, struct use, 2 * json_array_size(ops));
	int64_t bytes = case_integer(json_object_get(test, "buffers"), buffer->name);
	size_t i, k, count = 0;
	json_array_foreach(ops, i, op) {
		struct use read = {.at = 2 * (int64_t)i};
		json_array_foreach(json_object_get(op, "inputs"), k, input)
			if (text_equal(json_string_value(input), buffer->name))
				read.weight += bytes;
		if (read.weight)
			uses[count++] = read;
		if (text_equal(case_text(op, "output"), buffer->name))
			uses[count++] = (struct use){
				.at = read.at + (read.weight > 0), .write = true, .weight = bytes};
	}
	buffer->weight = bytes;
	buffer->uses = uses;
	buffer->use_count = count;
	buffer->start = uses[0].at;
	buffer->end = uses[count - 1].at + 1;
}

/* Is none larger than LX? */
static bool can_hold_each(const struct packing *packing)
{
	for (size_t i = 0; i < packing->count; i++)
		if (packing->buffers[i].size > packing->capacity)
			return false;
	return true;
}

/*
 * place/exact keeps parts of lives: with in-place it needs no more than the good
 * allocation.  A buffer larger than LX cannot fit, which is proven; the good
 * allocation is asked for where the largest fits.
 */
static const char *check_exact(struct arena *arena, const json_t *test, const struct packing *whole)
{
	struct packing packing = *whole;
	struct buffer *buffers =
		arena_copy(arena, whole->buffers, whole->count * sizeof *whole->buffers);
	packing.buffers = buffers;
	if (!can_hold_each(&packing)) {
		packing.goal = PACKING_FIT;
		if (place(arena, &packing, "exact").status != PROOF_INFEASIBLE)
			return "what is larger than LX is not proven to be so";
		for (size_t i = 0; i < packing.count; i++)
			packing.capacity = number_max(packing.capacity, buffers[i].size);
		packing.goal = PACKING_SPILL;
	}
	for (size_t i = 0; i < packing.count; i++)
		add_uses(arena, test, &buffers[i]);
	struct answer answer = place(arena, &packing, "exact");
	if (answer.status != PROOF_OPTIMAL)
		return "nothing is proven";
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	struct packing_fault fault = packing_check(&packing, placement);
	if (fault.a >= 0)
		return arena_format(
			arena, "'%s' and %d: %s", buffers[fault.a].name, fault.b, fault.why);
	struct placement nothing = {
		.count = packing.count, .addresses = arena_array(arena, int64_t, packing.count)};
	for (size_t i = 0; i < packing.count; i++)
		nothing.addresses[i] = UNPLACED;
	int64_t bytes =
		pattern_bytes(test, &packing, &nothing) - placement_saved(&packing, placement);
	if (bytes <= case_integer(test, "good_hbm_bytes"))
		return NULL;
	return arena_format(arena, "%lld HBM bytes, the good allocation needs %lld",
		(long long)bytes, (long long)case_integer(test, "good_hbm_bytes"));
}

static void check_patterns(const json_t *file, struct tally *tally)
{
	size_t i;
	const json_t *test;
	json_array_foreach(json_object_get(file, "patterns"), i, test) {
		struct arena *arena = arena_open();
		const char *why = NULL;
		struct packing packing = read_packing(arena, json_object_get(test, "solver_input"),
			case_integer(test, "lx_capacity"), 128, &why);
		const json_t *run = json_object_get(test, "run");
		const char *name = arena_format(
			arena, "%s (%s)", case_text(test, "name"), case_text(test, "variant"));
		for (const char *const *solver = place_solvers; *solver; solver++)
			if (json_object_get(run, *solver))
				check(tally, name, *solver,
					why ? why : check_pattern(arena, test, &packing, *solver));
		if (text_equal(case_text(test, "variant"), "inplace"))
			check(tally, name, "exact", why ? why : check_exact(arena, test, &packing));
		arena_close(arena);
	}
}

int main(int argc, char **argv)
{
	struct tally tally = {.family = "division-and-lx/placement"};
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	json_t *layouts = case_file(root, "division-and-lx", "layout.json", &tally);
	json_t *patterns = case_file(root, "division-and-lx", "patterns.json", &tally);
	if (!layouts && !patterns && !tally.failed)
		return tally_skip(&tally);
	check_layouts(layouts, &tally);
	check_patterns(patterns, &tally);
	json_decref(layouts);
	json_decref(patterns);
	return tally_end(&tally);
}
