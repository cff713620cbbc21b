/*
 * The files that `make install` installs are complete: the program finds its specs from any folder,
 * programs in C and Python are made with the library through pkg-config, no name is exported that
 * lxplore.h does not declare, and `make uninstall` leaves nothing.
 */
#include "base/arena.h"
#include "tests/support/folder.h"
#include "tests/support/sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

#define PREFIX "root/usr"
#define CC "${CC:-cc} -Wall -Wextra -Werror"
#define PC "PKG_CONFIG_PATH=" PREFIX "/lib/pkgconfig pkg-config"
#define EXAMPLES PREFIX "/share/doc/lxplore/examples"

static const char *build; /* its folder; the library is made with the modes that are installed */

static bool is_built(void)
{
	const char *program = getenv("LXPLORE");
	build = arena_format(
		arena, "$(dirname \"%s\")", program ? program : "build/release/lxplore");
	bool built = shell(arena, "test -f %s/liblxplore.a", build).status == 0;
	return !is_skipped(!built, "the library: built with a sanitizer") &&
	       !is_skipped(
		       LLVM_OPENMP, "the library: its pkg-config file is for GCC's OpenMP runtime");
}

static bool has(const char *command)
{
	return shell(arena, "command -v %s", command).status == 0;
}

static void install(void)
{
	struct ended ended =
		shell(arena, "scripts/install %s " LXPLORE_VERSION " %s/" PREFIX, build, folder);
	if (ended.status)
		fail_msg("%s", ended.err);
}

static const char *run(const char *command)
{
	struct ended ended = folder_run(command);
	if (ended.status)
		fail_msg("%s: status %d\n%s%s", command, ended.status, ended.out, ended.err);
	return ended.out;
}

FOLDER_TEST(the_program_finds_its_specs)
{
	if (!is_built())
		return;
	install();
	run(PREFIX "/bin/lxplore explore specs/starter -c 2 -q -o out");
	run(PREFIX "/bin/lxplore check 'specs/arch/spyre3?.yaml' specs/workloads/mlp.yaml");
	run("ln -s " PREFIX "/bin/lxplore linked && ./linked place specs/buffers/attention.csv "
	    "--capacity 64MiB -q");
	run(PREFIX
		"/bin/lxplore campaign run specs/starter/sweep --budget 2 --labels 0 -q -o swept");
	run("mkdir -p specs/starter && cp " PREFIX
	    "/share/lxplore/specs/starter/arch.yaml specs/starter");
	struct ended ended = folder_run(PREFIX "/bin/lxplore check specs/starter");
	assert_int_equal(ended.status, 2); /* what is here comes first */
	ended = folder_run(PREFIX "/bin/lxplore check specs/none.yaml starter/arch.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "specs/none.yaml: error: no such file\n"
					  "starter/arch.yaml: error: no such file\n"));
	run("man -l " PREFIX "/share/man/man1/lxplore.1 >/dev/null 2>&1 || "
	    "grep -q '^.SH COMMANDS' " PREFIX "/share/man/man1/lxplore.1");
	run("grep -q json-schema.org " PREFIX "/share/lxplore/lxplore.schema.json");
	run("bash -n " PREFIX "/share/bash-completion/completions/lxplore");
	run("grep -q '^#compdef lxplore' " PREFIX "/share/zsh/site-functions/_lxplore");
}

/* Built, not installed: the specs are those of the checkout, by path and by name. */
FOLDER_TEST(a_build_finds_the_specs_of_its_checkout)
{
	if (!is_built())
		return;
	install();
	run("root=$PWD/tree && mkdir -p tree/build/release && cp -R " PREFIX
	    "/share/lxplore/specs tree && cp " PREFIX
	    "/bin/lxplore tree/build/release && mkdir away && "
	    "cd away && $root/build/release/lxplore check specs/arch/spyre32.yaml mlp && "
	    "$root/build/release/lxplore check softmax_dim0 spyre32");
	struct ended ended =
		folder_run("cd away && ../tree/build/release/lxplore check spyre3 mlp");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "spyre3: error: no such file"));
}

FOLDER_TEST(only_public_names_are_seen)
{
	if (!is_built())
		return;
	install();
	assert_string_equal(
		run("for library in liblxplore.a 'liblxplore.so -D'; do "
		    "nm -g --defined-only " PREFIX "/lib/$library; done | "
		    "awk 'NF == 3 && $3 !~ /^(lxplore_[a-z_]*(@@LXPLORE_0)?|LXPLORE_0)$/'"),
		"");
	/* the same ones, and those of the header */
	run("names() { nm -g --defined-only $1 | grep -o 'lxplore_[a-z_]*' | sort -u; }; "
	    "names " PREFIX "/lib/liblxplore.a | grep -v 'lxplore_all' >a; "
	    "names '-D " PREFIX "/lib/liblxplore.so' >b; "
	    "grep -oE 'lxplore_[a-z_]+\\($' " PREFIX "/include/lxplore.h >/dev/null; "
	    "grep '^LXPLORE_API' " PREFIX "/include/lxplore.h | grep -oE 'lxplore_[a-z_]+\\(' | "
	    "tr -d '(' | sort -u >c; cmp a b && cmp a c && test $(wc -l <a) -gt 20");
	run("readelf -d " PREFIX "/lib/liblxplore.so | grep -q 'SONAME.*\\[liblxplore.so.0\\]'");
}

/* The text of the example ends with the status of the exploration. */
FOLDER_TEST(a_program_in_c_explores)
{
	if (!is_built())
		return;
	install();
	run(CC " " EXAMPLES "/explore.c $(" PC " --cflags --libs lxplore) -o shared");
	run(CC " " EXAMPLES "/explore.c $(" PC " --static --cflags --libs lxplore | "
	       "sed 's/-llxplore/-l:liblxplore.a/') -o static");
	run(CC " -static " EXAMPLES "/explore.c $(" PC
	       " --static --cflags --libs lxplore) -o whole 2>whole.txt || { cat whole.txt >&2; false; }");
	run("cp -R " PREFIX "/share/lxplore/specs/starter specs");
	const char *points = run("LD_LIBRARY_PATH=" PREFIX "/lib ./shared specs jobs=1 cores=2");
	assert_non_null(strstr(points, "point 1: 267388 cycles, "));
	assert_string_equal(run("./static specs cores=2"), points);
	struct ended ended = folder_run("LD_LIBRARY_PATH=" PREFIX "/lib ./shared specs seeed=2");
	assert_int_equal(ended.status, 2);
	assert_string_equal(ended.out, "");
	assert_non_null(
		strstr(ended.err, "argument 1, line 1, column 1: unknown option '--seeed'"));
	/* without memory the call fails, and the program goes on */
	ended = folder_run("cp -R " PREFIX "/share/lxplore/specs all; ulimit -v 40000; "
			   "./static all/arch/spyre32.yaml all/workloads/gpt_block.yaml jobs=1");
	if (ended.status != 4 || !strstr(ended.err, "lxplore: out of memory"))
		fail_msg("status %d\n%s%s", ended.status, ended.out, ended.err);
	if (has("c++"))
		run("echo '#include <lxplore.h>' | c++ -Wall -Wextra -Werror -xc++ -fsyntax-only "
		    "$(" PC " --cflags lxplore) -");
}

FOLDER_TEST(a_program_in_python_plots)
{
	if (!is_built() || !has("python3"))
		return;
	install();
	struct ended ended =
		folder_run("LIBLXPLORE=$PWD/" PREFIX "/lib/liblxplore.so.0 python3 " EXAMPLES
			   "/frontier.py specs/starter --set cores=2 -o plot.svg");
	if (ended.status)
		fail_msg("%s", ended.err);
	assert_non_null(strstr(ended.out, "267388 cycles, "));
	assert_non_null(strstr(folder_text("plot.svg"), "<svg"));
	ended = folder_run("LIBLXPLORE=$PWD/" PREFIX "/lib/liblxplore.so.0 python3 " EXAMPLES
			   "/frontier.py specs/arch/none.yaml");
	assert_int_equal(ended.status, 1);
	assert_string_equal(ended.err, "specs/arch/none.yaml:0:0: no such file\n");
}

FOLDER_TEST(a_list_of_dicts_comes_from_python)
{
	if (!is_built() || is_skipped(!has("python3"), "lxplore.py: python3 is missing"))
		return;
	install();
	folder_put("try.py",
		"import lxplore\n"
		"points = lxplore.explore('specs/starter', cores=2, objective=['latency', 'energy'])\n"
		"first = points[0]\n"
		"print(len({frozenset(p) for p in points}), first['latency_cycles'], first['point'] == 1,\n"
		"      all(isinstance(p['energy_pj'], (int, float)) for p in points),\n"
		"      first['plan'].lstrip().startswith('plan:') or 'plan:' in first['plan'])\n"
		"try:\n"
		"    lxplore.explore(texts={'mine.yaml': 'workloud: {}'}, quiet=False)\n"
		"except lxplore.Error as error:\n"
		"    print(error.status, 'mine.yaml:1' in str(error), 'workload' in str(error))\n");
	assert_string_equal(run("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" PREFIX
				"/share/lxplore/python python3 try.py"),
		"1 267388 True True True\n2 True True\n");
}

FOLDER_TEST(a_layout_solver_in_python_answers_captures)
{
	if (!is_built() || !has("python3"))
		return;
	install();
	char *capture = realpath("tests/cases/captures/captures.json", NULL);
	struct ended ended = folder_run(arena_format(arena,
		"LIBLXPLORE=$PWD/" PREFIX "/lib/liblxplore.so.0 python3 " EXAMPLES
		"/layout_solver.py 2KiB %s",
		capture));
	free(capture);
	if (ended.status)
		fail_msg("%s", ended.err);
	assert_string_equal(
		ended.out, "softmax_rows: 5 of 6 in LX, 0 bytes spilled, 24 cores, optimal\n");
}

FOLDER_TEST(nothing_is_left)
{
	if (!is_built())
		return;
	install();
	run("touch " PREFIX "/lib/other");
	struct ended ended =
		shell(arena, "scripts/install --remove " LXPLORE_VERSION " %s/" PREFIX, folder);
	assert_int_equal(ended.status, 0);
	assert_string_equal(
		run("find root -not -type d; find root -name '*lxplore*'"), PREFIX "/lib/other\n");
}
