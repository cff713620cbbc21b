/*
 * Numbers of imported ONNX ops: a script writes random one-op models, imports them, computes the text of each workload
 * element by element, and compares with numpy.  Attention, quantised ops, transposed convolutions, running sums,
 * padding and slices of all kinds are among them.
 */
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include "base/arena.h"

#include <string.h>

#include "tests/test.h"

static void imported_ops_compute_what_onnx_says(void **state)
{
	long count = draws(104);
	struct ended ended = folder_run(arena_format(arena,
		"/usr/bin/python3 \"$OLDPWD\"/tests/support/onnx_values.py \"$program\" %llu %ld",
		(unsigned long long)draws_seed(1), count));
	if (ended.status == 2 || ended.status == 127) {
		print_message("python3-onnx is missing: %s%s\n", ended.out, ended.err);
		skip();
	}
	if (ended.status != 0)
		fail_msg("%s%s", ended.out, ended.err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			imported_ops_compute_what_onnx_says, folder_set_up, folder_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
