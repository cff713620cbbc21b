/* Graphs on machines whose tiles do not move in boxes, as a user runs them. */
#include "base/arena.h"
#include "tests/support/folder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char attention[] = "workload:\n"
				"  name: small\n"
				"  dimensions: {h: 2, q: 8, k: 8, d: 4}\n"
				"  ops:\n"
				"    - KT[h,d,k] = restickify K[h,k,d]\n"
				"    - S[h,q,k] = sum(d) Q[h,q,d] * KT[h,d,k]\n"
				"    - scaled[h,q,k] = S[h,q,k] * 0.125\n"
				"    - amax[h,q] = max(k) scaled[h,q,k]\n"
				"    - sub[h,q,k] = scaled[h,q,k] - amax[h,q]\n"
				"    - exp[h,q,k] = exp(sub[h,q,k])\n"
				"    - sum[h,q] = sum(k) exp[h,q,k]\n"
				"    - P[h,q,k] = exp[h,q,k] / sum[h,q]\n"
				"    - square[h,q,k] = P[h,q,k] * P[h,q,k]\n"
				"    - mean[h,q] = mean(k) square[h,q,k]\n"
				"    - {opaque: topk, reads: [mean], writes: ['best[k]']}\n"
				"    - O[h,q,d] = sum(k) P[h,q,k] * V[h,k,d]\n";

/* Column `name` of row `row` of a frontier; the header is row 0. */
static const char *column(const char *csv, const char *name, int row)
{
	int wanted = 0;
	const char *at = csv, *end = strchr(csv, '\n');
	size_t length = strlen(name);
	for (; strncmp(at, name, length) || (at[length] != ',' && at[length] != '\n'); wanted++) {
		at = strchr(at, ',') + 1;
		if (at > end)
			fail_msg("no column '%s'", name);
	}
	for (; row > 0 && (csv = strchr(csv, '\n')); row--)
		csv++;
	if (!csv || !*csv)
		return NULL;
	while (wanted-- > 0)
		csv = strchr(csv, ',') + 1;
	return arena_format(arena, "%.*s", (int)strcspn(csv, ",\n"), csv);
}

/* Every row is executed, and agrees; what stays in the buffer is not read from DRAM again; plans read as
 * they were written. */
static void graphs_run_on_machines_without_boxes(void **state)
{
	static const char *const names[] = {"eyeriss", "simba", "gemmini", "tpu", "tpu_v4i"};
	const char *workload = folder_put("small.yaml", attention);
	for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
		long long least[2] = {LLONG_MAX, LLONG_MAX};
		for (int planning = 0; planning < 2; planning++) {
			const char *search =
				folder_put("search.yaml", planning ? "search: {lx_planning: 1}\n"
								   : "search: {lx_planning: 0}\n");
			struct ended ended =
				shell(arena, "$LXPLORE explore specs/arch/%s.yaml %s %s -q -o %s",
					names[m], workload, search, folder);
			assert_int_equal(ended.status, 0);
			const char *csv = folder_text("pareto.csv"), *agrees;
			int row = 1;
			for (; (agrees = column(csv, "sim_agrees", row)); row++) {
				long long bytes = atoll(column(csv, "hbm_bytes", row));
				assert_string_equal(agrees, "true");
				least[planning] = bytes < least[planning] ? bytes : least[planning];
			}
			assert_true(row > 1);
		}
		if (least[1] >= least[0])
			fail_msg("%s: %lld bytes with residents, %lld without", names[m], least[1],
				least[0]);
		struct ended checked =
			shell(arena, "$LXPLORE check specs/arch/%s.yaml %s %s/plans/point-001.yaml",
				names[m], workload, folder);
		if (checked.status)
			fail_msg("%s: %s", names[m], checked.err);
		assert_non_null(strstr(checked.out, "no fault, counts agree"));
	}
}

static void what_has_no_meaning_is_refused(void **state)
{
	static const struct {
		const char *files, *said;
	} rows[] = {
		{"specs/arch/eyeriss.yaml specs/workloads/gqa_decode.yaml",
			"has a device layout, and 'DRAM' has no sticks"},
		{"specs/arch/eyeriss.yaml specs/workloads/gpt_block_4ranks.yaml",
			"broadcasts move sticks, and 'system' has none"},
		{"specs/arch/eyeriss.yaml specs/workloads/mlp.yaml --solver divide=spyre",
			"steps on 'system' are whole nests, which stage 'map' finds"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ended ended = shell(arena, "$LXPLORE check %s", rows[i].files);
		assert_int_equal(ended.status, 2);
		if (!strstr(ended.err, rows[i].said))
			fail_msg("%s", ended.err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			graphs_run_on_machines_without_boxes, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(
			what_has_no_meaning_is_refused, folder_set_up, folder_tear_down),
	};
	return cmocka_run_group_tests_name("machines of graphs", tests, NULL, NULL);
}
