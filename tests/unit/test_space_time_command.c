#include "tests/support/shell.h"

#include <string.h>

#include "tests/test.h"

/* Output and status of commands on projections. */

static void expect(const struct ended *ended, int status, const char *err)
{
	if (ended->status != status || !strstr(ended->err, err))
		fail_msg("status %d, not %d; no '%s' in\n%s", ended->status, status, err,
			ended->err);
}

static struct ended ask(void *state, const char *command, int extent)
{
	return shell(state,
		"$LXPLORE %s - <<'E'\n"
		"space_time:\n"
		"  loops: {i: %d, j: %d, k: %d}\n"
		"  einsum: C[i,j] = sum(k) A[i,k] * B[k,j]\n"
		"  allocation: [[1, 0, 0], [0, 1, 0]]\n"
		"  schedule: [1, 1, 1]\nE",
		command, extent, extent, extent);
}

TEST(what_is_too_large_is_counted_and_not_executed)
{
	struct ended small = ask(arena, "simulate", 4), large = ask(arena, "simulate", 400);
	struct ended score = ask(arena, "score", 400);
	expect(&small, 0, "");
	assert_non_null(strstr(small.out, "\"agrees\": true"));
	expect(&large, 3, "lxplore: not executed: too many points to execute one by one\n");
	assert_non_null(strstr(large.out, "\"cycles\": 1198"));
	expect(&score, 0, "");
	assert_string_equal(score.err, "");
}
