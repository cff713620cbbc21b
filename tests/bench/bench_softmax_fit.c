#include "base/arena.h"
#include "tests/support/arch_text.h"
#include "tests/support/softmax_fit.h"

/* The table of predictions, measurements and residuals that results/measured.md shows. */
int main(void)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag);
	if (!arch) {
		diag_print(diag, stderr);
		return 2;
	}
	struct softmax_fit fit = softmax_fit(arena, arch, "specs/workloads/softmax_dim0.yaml");
	softmax_fit_print(&fit, stdout);
	arena_close(arena);
	return 0;
}
