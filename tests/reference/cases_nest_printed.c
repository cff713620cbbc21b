#include "base/arena.h"
#include "model/machine/arch_read.h"
#include "model/nest/nest_mapping.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <stdlib.h>
#include <sys/stat.h>

/*
 * Family loop-nest: the loop nests that Timeloop printed (map.txt) are the mappings
 * that it was given (mapping.yaml).
 */
struct printed_case {
	struct arena *arena;
	struct diag *diag;
	const char *folder; /* its path */
	const struct arch *arch;
	const struct shape *shape;
};

static bool has_file(const char *root, const char *folder, const char *name)
{
	char path[1024];
	struct stat facts;
	snprintf(path, sizeof path, "%s/loop-nest/%s/%s", root, folder, name);
	return stat(path, &facts) == 0;
}

static bool read_machine(struct printed_case *test)
{
	struct sheet *sheet = sheet_open(test->arena, test->diag);
	sheet_add_file(sheet, arena_format(test->arena, "%s/arch.yaml", test->folder));
	sheet_add_file(sheet, arena_format(test->arena, "%s/problem.yaml", test->folder));
	struct reading reading = sheet_reading(sheet);
	if (diag_failed(test->diag))
		return false;
	test->arch = arch_read(&reading, sheet_find(sheet, "architecture"));
	test->shape = shape_read(&reading, sheet_find(sheet, "problem"));
	return test->arch && test->shape;
}

/* The line of the mapping in a file; NULL after complaining. */
static const char *line_of(const struct printed_case *test, const char *name)
{
	struct mapping mapping;
	struct sheet *sheet = sheet_open(test->arena, test->diag);
	sheet_add_file(sheet, arena_format(test->arena, "%s/%s", test->folder, name));
	struct reading reading = sheet_reading(sheet);
	const struct node *node = sheet_find(sheet, "mapping");
	if (!node || !nest_mapping_read(&reading, node, test->arch, test->shape, &mapping))
		return NULL;
	return nest_mapping_print(test->arena, test->arch, test->shape, &mapping);
}

static void check(struct family *family, const char *root, const char *folder, const char *file)
{
	if (!has_file(root, folder, "map.txt") || !has_file(root, folder, "mapping.yaml"))
		return;
	family_case(family, "%s", folder);
	struct printed_case test = {.arena = family->arena, .diag = diag_open(family->arena)};
	test.folder = arena_format(family->arena, "%s/loop-nest/%s", root, folder);
	const char *given = NULL, *printed = NULL;
	if (read_machine(&test)) {
		given = line_of(&test, "mapping.yaml");
		printed = line_of(&test, "map.txt");
	}
	json_t *expected = given ? json_string(given) : NULL;
	if (given && printed)
		family_expect(family, "mapping", expected, json_string(printed));
	else
		family_note(family, "refused", complaints_text(family->arena, test.diag));
	json_decref(expected);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/printed", root, "loop-nest"))
		return 0;
	family_each(&family, root, "loop-nest", NULL, check);
	return family_close(&family);
}
