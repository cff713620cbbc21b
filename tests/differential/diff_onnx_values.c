/*
 * Numbers of imported ONNX ops: a script writes random one-op models, imports them, computes the text of each workload
 * element by element, and compares with numpy.  Attention, quantised ops, transposed convolutions, running sums,
 * padding and slices of all kinds are among them.  Calls with operands and attributes that do not fit are refused or
 * become opaque.
 */
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include "base/arena.h"

#include <string.h>

#include "tests/test.h"

static void run_script(const char *script, long count, const char *more)
{
	enum { NO_ONNX = 77 };
	struct ended ended = folder_run(arena_format(arena,
		"/usr/bin/python3 \"$OLDPWD\"/tests/support/%s \"$program\" %llu %ld %s", script,
		(unsigned long long)draws_seed(1), count, more));
	if (ended.status == NO_ONNX) {
		print_message("python3-onnx is missing: %s%s\n", ended.out, ended.err);
		skip();
	}
	if (ended.status != 0)
		fail_msg("%s%s", ended.out, ended.err);
	print_message("%s", ended.out);
}

static void imported_ops_compute_what_onnx_says(void **state)
{
	run_script("onnx_values.py", draws(104), "");
}

static void calls_that_do_not_fit_are_refused(void **state)
{
	run_script("onnx_calls.py", draws(300), "\"$OLDPWD\"/src/import/op_table.c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			imported_ops_compute_what_onnx_says, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(
			calls_that_do_not_fit_are_refused, folder_set_up, folder_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
