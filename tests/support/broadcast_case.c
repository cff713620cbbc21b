#include "tests/support/broadcast_case.h"

#include "base/arena.h"
#include "spec/reader.h"
#include "tests/support/complaints.h"

#include <string.h>

const struct broadcast *broadcast_of_text(
	struct arena *arena, const char *text, const struct arch *arch, const char **why)
{
	struct diag *diag = diag_open(arena);
	struct reading reading = {.arena = arena, .diag = diag};
	const struct node *root = node_read_text(arena, "test", text, strlen(text), diag);
	const struct broadcast *broadcast =
		root ? broadcast_read(&reading, node_find(root, "broadcast"), arch) : NULL;
	*why = complaints_text(arena, diag);
	return broadcast;
}
