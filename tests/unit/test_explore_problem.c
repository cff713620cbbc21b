#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <string.h>

#include "tests/test.h"

#define SMALL                                                                                      \
	"specs/arch/three_level.yaml specs/problems/gemm_16.yaml "                                 \
	"specs/constraints/keep_all.yaml"

static struct ended explore(const char *words)
{
	return shell(arena, "$LXPLORE explore %s -q -o %s", words, folder);
}

FOLDER_TEST(threads_change_nothing)
{
	static const char *const spaces[] = {SMALL,
		"specs/arch/three_level.yaml specs/problems/mttkrp.yaml --budget 30000",
		("specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml --budget 30000 "
		 "--counting timeloop"),
		SMALL " --solver map=exact --objective latency,energy",
		("specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml --budget 3000 "
		 "--solver map=exact --objective edp --simulate none")};
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i += (size_t)draws_apart(1)) {
		const char *first = NULL, *plan = NULL;
		for (int jobs = 1; jobs <= 7; jobs += 3) {
			assert_int_equal(
				explore(arena_format(arena, "%s -j %d", spaces[i], jobs)).status,
				0);
			if (first) {
				assert_string_equal(first, folder_text("pareto.csv"));
				assert_string_equal(plan, folder_text("plans/point-001.yaml"));
			}
			first = folder_text("pareto.csv");
			plan = folder_text("plans/point-001.yaml");
		}
	}
}

/* About half a minute: at full size only. */
FOLDER_TEST(a_proof_that_memory_ends_says_so)
{
	if (draws(1) < 2) {
		print_message("skipped: TIMES=10 (make check) runs it\n");
		skip();
	}
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml "
		"--imperfect all --simulate none --budget 1000000000000 -o %s",
		folder);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "the proof ends early: its open nodes take 512 MiB"));
	assert_non_null(strstr(ended.err, "--imperfect M,N"));
}

/* All is free: these proofs take far longer than anybody waits. */
FOLDER_TEST(an_interrupt_writes_what_is_known)
{
	static const char *const specs[] = {
		"specs/problems/resnet50_3x3.yaml --imperfect all --budget 1000000000000",
		"specs/workloads/llama3_8b_prefill2048.yaml",
	};
	for (int s = 0; s < 2; s++) {
		struct ended ended = shell(arena,
			"timeout --preserve-status -k 30 -s INT 1 $LXPLORE explore "
			"specs/arch/eyeriss.yaml %s --solver map=exact --objective edp "
			"--simulate none -q -o %s",
			specs[s], folder);
		assert_int_equal(ended.status, 130);
		assert_non_null(strstr(folder_text("run.json"), "\"limit\": \"interrupted\""));
		assert_non_null(strstr(folder_text("pareto.csv"), s ? ",none," : ",bound,"));
		assert_true(strlen(folder_text("plans/point-001.yaml")) > 0);
		if (s) /* layers that did not begin have a bound, too */
			assert_null(strstr(folder_text("layers.csv"), ",none,"));
	}
}

FIXTURE(folder_set_up, folder_tear_down);
