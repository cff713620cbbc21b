#include "base/arena.h"
#include "constraints/constraints.h"
#include "model/machine/arch_read.h"
#include "model/nest/nest_mapping.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family loop-nest: constraints.  Those of every case, inline in its users'
 * architecture or in the list that Timeloop's front end made of them, go
 * together, and the case's mapping keeps all of them.
 */
struct run {
	struct arena *arena;
	struct diag *diag;
	const struct arch *arch;
	const struct shape *shape;
	struct constraints constraints;
	struct mapping mapping;
	bool perfect;
};

static struct reading read_file(
	struct run *run, struct sheet **sheet, const char *folder, const char *name)
{
	*sheet = sheet_open(run->arena, run->diag);
	sheet_add_file(*sheet, arena_format(run->arena, "%s/%s", folder, name));
	return sheet_reading(*sheet);
}

/* The constraints beside a source of an architecture; NULL if there are none. */
static const char *list_beside(struct run *run, const char *folder, const char *source)
{
	bool users = strncmp(source, "v4.", 3) == 0;
	const char *found = NULL;
	struct dirent **names;
	int count = scandir(folder, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		if (users ? strncmp(name, "v4.", 3) == 0 && strstr(name, "constraints.yaml")
			  : text_equal(name, "constraints.yaml"))
			found = arena_text(run->arena, name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return found;
}

static bool read_constraints(struct run *run, const char *folder, const char *source)
{
	struct sheet *sheet;
	struct reading reading = read_file(run, &sheet, folder, "problem.yaml");
	if (diag_failed(run->diag))
		return false;
	run->shape = shape_read(&reading, sheet_find(sheet, "problem"));
	reading = read_file(run, &sheet, folder, source);
	if (diag_failed(run->diag))
		return false;
	run->arch = arch_read(&reading, sheet_find(sheet, "architecture"));
	if (!run->arch)
		return false;
	const struct node *const *lists = NULL;
	const char *list = list_beside(run, folder, source);
	struct constraint_context context = {
		.reading = &reading, .arch = run->arch, .shape = run->shape};
	if (list) {
		struct sheet *beside;
		reading = read_file(run, &beside, folder, list);
		lists = constraints_lists(beside, run->arena);
	}
	run->constraints = constraints_read(&context, lists);
	return !diag_failed(run->diag);
}

static bool read_mapping(struct run *run, const char *folder)
{
	struct sheet *sheet;
	struct reading reading = read_file(run, &sheet, folder, "mapping.yaml");
	return !diag_failed(run->diag) &&
	       nest_mapping_read(&reading, sheet_find(sheet, "mapping"), run->arch, run->shape,
		       &run->mapping) &&
	       !nest_mapping_check(run->arena, run->arch, run->shape, &run->mapping, &run->perfect);
}

/* Timeloop's front end moves loops of factor 1 inwards and splits what comes out: its mappings
 * need not be split where their users asked for it. */
static const struct {
	const char *folder, *source, *broken;
} resplit[] = {{"ref-ex-simple_weight_stationary", "v4.arch.yaml",
	"'PE' (spatial) runs C along Y; with split 1 it is along X"}};

static bool is_resplit(const char *folder, const char *source, const char *broken)
{
	for (size_t i = 0; broken && i < sizeof resplit / sizeof *resplit; i++)
		if (text_equal(resplit[i].folder, folder) &&
			text_equal(resplit[i].source, source) && strstr(broken, resplit[i].broken))
			return true;
	return false;
}

static bool is_template(const char *complaints)
{
	return strstr(complaints, "Jinja") != NULL;
}

static void check(struct family *family, const char *root, const char *folder, const char *source)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/loop-nest/%s", root, folder);
	family_case(family, "%s/%s", folder, source);
	struct run run = {.arena = family->arena, .diag = diag_open(family->arena)};
	family->compared++;
	if (!read_constraints(&run, path, source) || !read_mapping(&run, path)) {
		const char *complaints = complaints_text(family->arena, run.diag);
		if (!is_template(complaints))
			family_note(family, "refused", complaints);
		return;
	}
	struct domain *domain = domain_make(family->arena, run.arch, run.shape, NULL);
	domain->imperfect = run.perfect ? 0 : UINT32_MAX;
	if (!constraints_narrow(&run.constraints, domain, run.diag))
		family_note(family, "clash", complaints_text(family->arena, run.diag));
	const char *broken =
		constraints_check(&run.constraints, domain, &run.mapping, family->arena);
	if (!is_resplit(folder, source, broken))
		family_note(family, "broken", broken);
}

/* Sources whose levels or fan-outs are not those of the mapping that ran. */
static bool is_other_machine(const char *name)
{
	return strstr(name, "-float32") || strstr(name, "-int16") || strstr(name, "levelspatial");
}

static bool is_source(const char *name)
{
	return text_equal(name, "arch.yaml") ||
	       (strncmp(name, "v4.", 3) == 0 && !is_other_machine(name) &&
		       (strstr(name, "arch.") || strstr(name, "eyeriss_like")));
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/constraints", root, "loop-nest"))
		return 0;
	family_each(&family, root, "loop-nest", is_source, check);
	return family_close(&family);
}
