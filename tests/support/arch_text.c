#include "tests/support/arch_text.h"

#include "model/machine/arch_read.h"
#include "spec/sheet.h"

#include <string.h>

static const struct arch *read_sheet(struct sheet *sheet, struct diag *diag)
{
	struct reading reading = sheet_reading(sheet);
	const struct node *node = sheet_find(sheet, "architecture");
	const struct arch *arch = node ? arch_read(&reading, node) : NULL;
	sheet_note(sheet);
	return diag_failed(diag) ? NULL : arch;
}

const struct arch *arch_of_file(struct arena *arena, const char *path, struct diag *diag)
{
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add_file(sheet, path);
	return read_sheet(sheet, diag);
}

const struct arch *arch_of_text(struct arena *arena, const char *yaml, struct diag *diag)
{
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "a.yaml", yaml, strlen(yaml), diag);
	if (root)
		sheet_add(sheet, root);
	return read_sheet(sheet, diag);
}
