#include "tests/support/nest_files.h"

#include "base/arena.h"
#include "constraints/constraints.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/nest/nest_mapping.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sheet *open_sheet(struct nest_files *files, struct diag *diag, const char *name)
{
	struct sheet *sheet = sheet_open(files->arena, diag);
	sheet_add_file(sheet, arena_format(files->arena, "%s/%s", files->folder, name));
	return sheet;
}

static bool read_sheets(struct nest_files *files, struct diag *diag)
{
	struct sheet *machine = open_sheet(files, diag, files->machine);
	sheet_add_file(machine, arena_format(files->arena, "%s/ERT.yaml", files->folder));
	struct sheet *problem = open_sheet(files, diag, "problem.yaml");
	struct sheet *nest = open_sheet(files, diag, "mapping.yaml");
	if (diag_failed(diag))
		return false;
	struct reading of_machine = sheet_reading(machine), of_problem = sheet_reading(problem);
	struct reading of_nest = sheet_reading(nest);
	files->shape = shape_read(&of_problem, sheet_find(problem, "problem"));
	const struct arch *arch = arch_read(&of_machine, sheet_find(machine, "architecture"));
	if (arch)
		arch = ert_read(&of_machine, sheet_find(machine, "ERT"), arch);
	if (!arch || !files->shape)
		return false;
	files->hierarchy = hierarchy_make(files->arena, arch, files->shape, diag);
	if (files->hierarchy)
		hierarchy_price(files->hierarchy, files->arena, arch, COUNTING_TIMELOOP);
	const struct node *directives = sheet_find(nest, "mapping");
	struct constraint_context context = {
		.reading = &of_nest, .arch = arch, .shape = files->shape, .timeloop = true};
	struct constraints flags = constraints_of_mapping(&context, directives);
	if (!files->hierarchy ||
		!nest_mapping_read(&of_nest, directives, arch, files->shape, &files->mapping) ||
		diag_failed(diag))
		return false;
	constraints_flag(&flags, files->hierarchy);
	return true;
}

bool nest_files_read(struct family *family, const char *root, const char *name, const char *machine,
	struct nest_files *files)
{
	*files = (struct nest_files){.family = family, .arena = family->arena, .machine = machine};
	files->folder = arena_format(family->arena, "%s/loop-nest/%s", root, name);
	struct diag *diag = diag_open(family->arena);
	if (read_sheets(files, diag))
		return true;
	family_note(family, "not read", complaints_text(family->arena, diag));
	return false;
}

/* The machine that ran, and as its user wrote it.  Some sources are templates, or are of other
 * word sizes or have the fan-out at another place. */
static bool is_machine(const char *file)
{
	static const char *const users[] = {"v4.1level.arch.yaml", "v4.2level.arch.yaml",
		"v4.3level.arch.yaml", "v4.arch.yaml", "v4.eyeriss_like.yaml", NULL};
	bool is_users = false;
	for (int i = 0; users[i]; i++)
		is_users |= strcmp(file, users[i]) == 0;
	return is_users || strcmp(file, "arch.yaml") == 0;
}

static bool is_template(const char *folder, const char *machine)
{
	return strncmp(folder, "ref-ta-", 7) == 0 && strncmp(machine, "v4.", 3) == 0;
}

static nest_files_check *visited;

static void visit(struct family *family, const char *root, const char *name, const char *machine)
{
	if (!is_template(name, machine))
		visited(family, root, name, machine);
}

void nest_files_each(struct family *family, const char *root, nest_files_check *check)
{
	visited = check;
	family_each(family, root, "loop-nest", is_machine, visit);
}
