/*
 * Numbers of imported ops of ONNX, StableHLO and TTIR: scripts write random models of one op, import them, compute the
 * text of each workload element by element, and compare with numpy.  Calls with operands, attributes and regions that
 * do not fit are refused or become opaque.  Random graphs are executed by the simulated machine on given numbers, and
 * its outputs are compared as well.
 */
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include "base/arena.h"

#include <string.h>

#include "tests/test.h"

static void run_script(const char *script, long count, const char *more, const char *first)
{
	enum { NOT_INSTALLED = 77 };
	struct ended ended = folder_run(arena_format(arena,
		"/usr/bin/python3 \"$OLDPWD\"/tests/support/%s \"$program\" %s %llu %ld %s", script,
		first, (unsigned long long)draws_seed(1), count, more));
	if (ended.status == NOT_INSTALLED) {
		print_message("skipped: %s%s\n", ended.out, ended.err);
		skip();
	}
	if (ended.status != 0)
		fail_msg("%s%s", ended.out, ended.err);
	print_message("%s", ended.out);
}

FOLDER_TEST(onnx_ops_compute_what_onnx_says)
{
	run_script("onnx_values.py", draws(120), "", "");
}

FOLDER_TEST(mlir_ops_compute_what_their_dialects_say)
{
	run_script("mlir_values.py", draws(160), "", "");
}

FOLDER_TEST(onnx_calls_that_do_not_fit_are_refused)
{
	run_script("onnx_calls.py", draws(300), "\"$OLDPWD\"/src/import/op_table.c", "");
}

FOLDER_TEST(mlir_calls_that_do_not_fit_are_refused)
{
	run_script("mlir_calls.py", draws(400), "\"$OLDPWD\"/src/import/op_table.c", "");
}

FOLDER_TEST(imported_graphs_compute_it_on_the_machine)
{
	run_script("graph_values.py", draws(24), "", "\"$OLDPWD\"/specs/arch/spyre32.yaml");
}
