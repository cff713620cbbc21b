/* Output of `score --explain` and `report --explain` for a plan of a graph. */
#include "base/arena.h"
#include "tests/support/folder.h"
#include "tests/support/shell.h"

#include <string.h>

#include "tests/test.h"

#define ATTENTION "specs/arch/spyre32_published.yaml specs/workloads/attention.yaml"

/* The words of a text: folded lines are one, and columns are a space apart. */
static const char *unfolded(struct arena *memory, const char *text)
{
	char *out = arena_array(memory, char, strlen(text) + 1), *end = out;
	for (size_t i = 0; text[i]; i++) {
		size_t blanks = strspn(text + i, " \n");
		bool folds = blanks > 1 && text[i + blanks - 1] == ' ';
		*end++ = folds ? ' ' : text[i];
		i += folds ? blanks - 1 : 0;
	}
	return out;
}

static void expect(const char *text, const char *part)
{
	struct arena *memory = arena_open();
	if (!strstr(unfolded(memory, text), unfolded(memory, part)))
		fail_msg("'%s' is not said in\n%s", part, text);
	arena_close(memory);
}

static void phases_and_tensors_are_explained(void **state)
{
	struct arena *memory = arena_open();
	struct ended ended = shell(memory, "$LXPLORE score " ATTENTION " --explain");
	assert_int_equal(ended.status, 0);
	expect(ended.out, "\nO             3840      4575  hbm ");
	expect(ended.out, "\nbundles                                   16061 ");
	expect(ended.out, "it would fit, with as many cycles: nothing is gained");
	expect(ended.out, "the view is illegal: op 'S' on core 0 uses 0..3 of");
	expect(ended.out, "an output that no op reads: it must end in HBM");
	arena_close(memory);
}

static void the_first_plan_of_a_folder_is(void **state)
{
	struct arena *memory = arena_open();
	const char *results = shell_folder(memory);
	struct ended ended = shell(memory,
		"$LXPLORE explore " ATTENTION " --budget 2 --labels 0 --simulate none -q -o %s && "
		"$LXPLORE report %s --explain",
		results, results);
	assert_int_equal(ended.status, 0);
	expect(ended.out, "\nphase of ");
	expect(ended.out, "\nkept in LX ");
	expect(ended.out, "\nnot in LX ");
	ended = shell(memory, "rm %s/run.json; $LXPLORE report %s --explain", results, results);
	assert_int_equal(ended.status, 2);
	arena_close(memory);
}

/* The worth of a kind is the least latency that explore proves without it. */
static void the_worth_of_each_kind_is_solved_again(void **state)
{
	struct arena *memory = arena_open();
	const char *results = shell_folder(memory);
	struct ended ended = shell(memory,
		"$LXPLORE explore " ATTENTION " --objective latency --solver joint=cut_dp "
		"--without relay,few_cores --simulate none -q -o %s >%s.few && "
		"tail -1 %s/pareto.csv | rev | cut -d, -f2 | rev",
		results, results, results);
	assert_int_equal(ended.status, 0);
	expect(ended.out, "31427");
	ended = shell(memory,
		"$LXPLORE explore " ATTENTION " --objective latency --solver joint=cut_dp "
		"--simulate none -q -o %s >%s.all && $LXPLORE report %s --explain",
		results, results, results);
	assert_int_equal(ended.status, 0);
	expect(ended.out, "\namax          1024      1024  lx_read, compute ");
	expect(ended.out, "\nlx_read, compute                 2         2048 ");
	expect(ended.out,
		"the view is illegal: op 'S' runs on core 15, which holds nothing of 'KT'");
	expect(ended.out, "\nwith all kinds              28301     0.0%\n");
	expect(ended.out, "\nwithout few_cores           31427    11.0%\n");
	arena_close(memory);
}

/* Two maps, or a map and an opaque op, on two cores; b lies in HBM.  What breaks if it lies in LX. */
static void tensors_are_tried_in_lx(void **state)
{
	static const struct {
		const char *m, *second, *steps, *bundles, *line;
	} rows[] = {
		{"64", "'c[m,n] = neg(b[m,n])'",
			"[{op: b, bundle: 0, mapping: 'core: m2'}, {op: c, bundle: 0, mapping: 'core: "
			"m2'}]",
			"[{bundle: 0, arguments: [a, b, c]}]",
			"\nb              16384  it would fit, with 240 cycles less (13.9 %), "
			"5.7344 uJ less, 32 KiB of HBM less\n"},
		{"64", "'c[m,n] = neg(b[m,n])'",
			"[{op: b, bundle: 0, mapping: 'core: m2'}, {op: c, bundle: 0, mapping: 'core: "
			"n2'}]",
			"[{bundle: 0, arguments: [a, b, c]}]",
			"\nb                           16384  the view is illegal: op 'c' on core 0 uses "
			"0..63 of device dimension 1 of 'b', whose slice there is 0..31\n"},
		{"16384", "'c[m,n] = neg(b[m,n])'",
			"[{op: b, bundle: 0, mapping: 'core: m2 | LX: m64'}, {op: c, bundle: 0, mapping: "
			"'core: m2 | LX: m64'}]",
			"[{bundle: 0, arguments: [a, b, c]}]",
			"\nb                         4194304  in step 'b' LX would hold 2097152 bytes on "
			"a core, 419431 more than its 1677721\n"},
		{"16384", "'c[m,n] = neg(b[m,n])'",
			"[{loop: {m: 4}, steps: [{op: b, bundle: 0, mapping: 'core: m2 | LX: m16'}, {op: "
			"c, bundle: 0, mapping: 'core: m2 | LX: m16'}]}]",
			"[{bundle: 0, arguments: [a, b, c]}]",
			"\nb                         4194304  it would fit, with 61440 cycles less (48.7 "
			"%), 1468 uJ less, 8192 KiB of HBM less\n"},
		{"64", "{opaque: sort, reads: [b], writes: ['c[m,n]']}",
			"[{op: b, bundle: 0, mapping: 'core: m2'}, {op: c, bundle: 1, mapping: "
			"undivided}]",
			"[{bundle: 0, arguments: [a, b]}, {bundle: 1, arguments: [b, c]}]",
			"\nb                           16384  the opaque op 'c' uses it in HBM\n"},
	};
	struct arena *memory = arena_open();
	const char *at = shell_folder(memory);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool loop = strstr(rows[i].steps, "loop") != NULL;
		struct ended ended = shell(memory,
			"mkdir -p %s && cat >%s/w.yaml <<'END'\n"
			"workload: {name: w, dimensions: {m: %s, n: 128}, ops: ['b[m,n] = exp(a[m,n])', "
			"%s]}\n"
			"plan: {version: 1, workload: w, architecture: spyre32_published, cores: 2, steps: %s, "
			"bundles: %s, tensors: {b: [{where: HBM, from: 0, to: 2}], c: [{where: HBM, from: "
			"%d, to: 2}]}}\nEND\n"
			"$LXPLORE score specs/arch/spyre32_published.yaml %s/w.yaml --explain",
			at, at, rows[i].m, rows[i].second, rows[i].steps, rows[i].bundles,
			loop ? 0 : 1, at);
		if (ended.status)
			fail_msg("row %zu: %s", i, ended.err);
		expect(ended.out, rows[i].line);
	}
	arena_close(memory);
}

/* Beside each level's energy: whether it is assumed, and the sentence of the machine file. */
static void assumed_energies_are_called_so(void **state)
{
	struct arena *memory = arena_open();
	const char *results = shell_folder(memory);
	struct ended ended = shell(memory,
		"sed 's/assumed for this machine: an SRAM/measured: an SRAM/' "
		"specs/arch/spyre32_published.yaml > %s/arch.yaml",
		results);
	assert_int_equal(ended.status, 0);
	for (int measured = 0; measured < 2; measured++) {
		ended = shell(memory,
			measured
				? "$LXPLORE score %s/arch.yaml specs/workloads/softmax_dim0.yaml --explain"
				: "$LXPLORE score specs/arch/spyre32_published.yaml specs/workloads/softmax_dim0.yaml --explain",
			results);
		assert_int_equal(ended.status, 0);
		expect(ended.out,
			"    HBM: assumed for this machine: a DRAM access at 45 nm, 1300 pJ for");
		const char *lx = strstr(ended.out, "\n  LX   ");
		assert_non_null(lx);
		bool assumed = strstr(lx, "assumed") < strchr(lx + 1, '\n');
		assert_true(assumed == !measured);
		expect(ended.out, measured ? "    LX: measured: an SRAM of 1 MB"
					   : "    LX: assumed for this machine: an SRAM of 1 MB");
	}
	ended = shell(
		memory, "$LXPLORE score %s/arch.yaml specs/workloads/softmax_dim0.yaml", results);
	expect(ended.out, "\"source\": \"measured: an SRAM of 1 MB at 45 nm");
	ended = shell(memory,
		"$LXPLORE explore %s/arch.yaml specs/workloads/softmax_dim0.yaml --budget 3 --labels 0 "
		"--simulate none -o %s/out",
		results, results);
	expect(ended.err,
		"\nenergies are assumed, not measured: HBM, array, reduce ring, data ring\n");
	arena_close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_and_tensors_are_explained),
		cmocka_unit_test(the_first_plan_of_a_folder_is),
		cmocka_unit_test(tensors_are_tried_in_lx),
		cmocka_unit_test(assumed_energies_are_called_so),
		cmocka_unit_test(the_worth_of_each_kind_is_solved_again),
	};
	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
