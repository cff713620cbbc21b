#include "base/arena.h"
#include "constraints/constraints.h"
#include "model/machine/arch_read.h"
#include "search/nest/mapspace_check.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <stdlib.h>
#include <string.h>

/*
 * Family optima: the mapspaces that Timeloop searched have the sizes that it
 * printed, and a mapping that fits.
 */
struct run {
	struct arena *arena;
	struct diag *diag;
	const struct arch *arch;
	const struct shape *shape;
	struct hierarchy *hierarchy;
	struct constraints constraints;
};

static struct sheet *open_sheet(struct run *run, const char *folder)
{
	static const char *const names[] = {"arch.yaml", "problem.yaml", "constraints.yaml"};
	struct sheet *sheet = sheet_open(run->arena, run->diag);
	for (int i = 0; i < 3; i++)
		sheet_add_file(sheet, arena_format(run->arena, "%s/%s", folder, names[i]));
	return sheet;
}

static bool read_all(struct run *run, const char *folder)
{
	struct sheet *sheet = open_sheet(run, folder);
	struct reading reading = sheet_reading(sheet);
	if (diag_failed(run->diag))
		return false;
	run->arch = arch_read(&reading, sheet_find(sheet, "architecture"));
	run->shape = shape_read(&reading, sheet_find(sheet, "problem"));
	if (!run->arch || !run->shape)
		return false;
	run->hierarchy = hierarchy_make(run->arena, run->arch, run->shape, run->diag);
	if (run->hierarchy)
		run->hierarchy->dummy_loops = true;
	struct constraint_context context = {
		.reading = &reading, .arch = run->arch, .shape = run->shape, .timeloop = true};
	run->constraints = constraints_read(&context, constraints_lists(sheet, run->arena));
	return run->hierarchy && !diag_failed(run->diag);
}

static void check(struct family *family, const char *root, const char *folder, const char *file)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/optima/%s", root, folder);
	family_case(family, "%s", folder);
	struct run run = {.arena = family->arena, .diag = diag_open(family->arena)};
	json_t *record =
		json_load_file(arena_format(family->arena, "%s/optimum.json", path), 0, NULL);
	if (!record || !read_all(&run, path)) {
		family_note(family, "refused", complaints_text(family->arena, run.diag));
		json_decref(record);
		return;
	}
	const struct domain *machine =
		domain_make(family->arena, run.arch, run.shape, run.hierarchy);
	struct mapspace_check checked =
		mapspace_check(machine, &run.constraints, NULL, run.diag, family->arena);
	const json_t *sizes = json_object_get(record, "sizes");
	const struct space_sizes *got = &checked.constrained;
	static const char *const keys[] = {
		"IndexFactorization", "LoopPermutation", "Spatial", "DatatypeBypass"};
	for (int c = 0; c < CHOICE_COUNT; c++)
		if (got->choices[c])
			family_expect(family, keys[c], json_object_get(sizes, keys[c]),
				json_string(got->choices[c]));
	if (checked.contradictory)
		family_note(family, "clash", complaints_text(family->arena, run.diag));
	else if (checked.feasible.verdict != VERDICT_YES)
		family_note(family, "feasible", "no mapping was found that fits");
	json_decref(record);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "optima/mapspaces", root, "optima"))
		return 0;
	family_each(&family, root, "optima", NULL, check);
	return family_close(&family);
}
