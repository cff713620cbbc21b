#include "base/arena.h"
#include "base/text.h"
#include "tests/support/complaints.h"
#include "tests/support/constraint_case.h"

#include <string.h>

#include "tests/test.h"

/* Constraints that contradict themselves, the machine or the problem, and their whole output, each
 * line from its column on. */
#define MANY                                                                                       \
	"M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4 M4, "
static const struct clash_case {
	const char *yaml, *complaints;
} clash_cases[] = {
	{"[{target: GLB, type: temporal, factors: [M=3]}, {target: GLB, type: temporal, factors: [M=4]}]",
		"89: error: 'GLB' (temporal) cannot have both M=4 and M=3\n"
		"41: note: the other one is here\n"},
	{"[{target: GLB, type: temporal, factors: [M=3, M=3]}]", ""},
	{"[{target: GLB, type: temporal, factors: [M>=5, M<=3]}]",
		"48: error: 'GLB' (temporal) cannot have both M<=3 and M>=5\n"},
	{"[{target: GLB, type: temporal, factors: [M=16]}]",
		"42: warning: factor M=16 is above the extent 12; as in Timeloop, M=12 is taken\n"},
	{"[{target: GLB, type: temporal, factors: [M>=16]}]",
		"42: error: M>=16 at 'GLB' (temporal) is more than dimension M has: 12\n"},
	{"[{target: GLB, type: temporal, factors: [M=5]}]",
		"41: error: M=5 at 'GLB' (temporal) does not divide dimension M, which has 12; 4 and 6 would\n"},
	{"[{target: GLB, type: temporal, factors: [M=6]}, {target: RF, type: temporal, factors: [M=4]}]",
		"87: error: dimension M has 12, less than the product of its bounds: M=6 at 'GLB' (temporal) x M=4 at 'RF' (temporal)\n"
		"41: note: the other one is here\n"},
	{"[{target: GLB, type: temporal, factors: [M=6]}, {target: RF, type: temporal, factors: [M>=4]}]",
		"87: error: dimension M has 12, less than the product of its bounds: M=6 at 'GLB' (temporal) x M>=4 at 'RF' (temporal)\n"
		"41: note: the other one is here\n"},
	{"[{target: DRAM, type: temporal, factors: [K=1]}, {target: GLB, type: temporal, factors: [K=1]}, {target: RF, type: temporal, factors: [K=3]}, {target: PE, type: spatial, factors: [K=1]}, {target: mac, type: spatial, factors: [K=1]}]",
		"226: error: dimension K has 6, more than the product of its bounds: K=1 at 'DRAM' (temporal) x K=1 at 'GLB' (temporal) x K=1 at 'PE' (spatial) x K=3 at 'RF' (temporal) x K=1 at 'mac' (spatial)\n"
		"42: note: this takes part\n"
		"89: note: this takes part\n"
		"135: note: this takes part\n"
		"180: note: this takes part\n"},
	{"[{target: GLB, type: dataspace, keep: [A], bypass: [A]}]",
		"52: error: 'GLB' cannot both bypass and keep A\n"
		"39: note: the other one is here\n"},
	{"[{target: GLB, type: dataspace, keep: [A]}, {target: GLB, type: dataspace, keep_only: [B]}]",
		"87: error: 'GLB' cannot both bypass and keep A\n"
		"39: note: the other one is here\n"},
	{"[{target: GLB, type: temporal, permutation: MN}, {target: GLB, type: temporal, permutation: [N, M]}]",
		"93: error: 'GLB' (temporal) cannot have both the permutation N M _ and M N _ (innermost first)\n"
		"45: note: the other one is here\n"},
	{"[{target: PE, type: temporal, factors: [M=2]}]",
		"41: error: 'PE' only fans out: it has no temporal loops, so M=2 cannot be\n"},
	{"[{target: GLB, type: spatial, factors: [M=2]}]",
		"40: error: 'GLB' has no fan-out: 'factors' cannot be met there; what fans out is 'PE', 'mac'\n"},
	{"[{target: PE, type: spatial, factors: [N=8]}]",
		"40: error: N=8 is more than the fan-out 4 x 2 of 'PE'\n"},
	{"[{target: PE, type: spatial, factors: [M=4, N=4]}]",
		"39: error: the fan-out 4 x 2 of 'PE' has no room for M=4 x N=4\n"},
	{"[{target: PE, type: spatial, split: 1}, {target: PE, type: spatial, split: 2}]",
		"76: error: 'PE' (spatial) cannot be split both after 2 and after 1 loops\n"
		"37: note: the other one is here\n"},
	{"[{target: PE, type: dataspace, keep: [A]}]",
		"38: error: 'PE' only fans out: it cannot keep A\n"},
	{"[{target: mac, type: dataspace, keep: [A]}]",
		"39: error: 'mac' only computes: it cannot keep A\n"},
	{"[{target: GLB, type: temporal, rmw_first_update: [A]}]",
		"50: warning: 'rmw_first_update' changes nothing of dataspaces that are only read\n"},
	{"[{target: RF, type: temporal, maximize_dims: [[M]]}]",
		"46: error: a temporal 'maximize_dims' wants 'maximize_dims_capacity' beside it\n"},
	{"[{target: RF, type: temporal, maximize_dims_capacity: 4}]",
		"55: error: 'maximize_dims_capacity' wants 'maximize_dims' beside it\n"},
	{"[{target: PE, type: spatial, maximize_dims: [[M, N]], factors: [N=2]}]",
		"45: error: 'PE' (spatial) cannot maximize N, whose bound is set there already\n"
		"64: note: the other one is here\n"},
	{"[{target: RF, type: temporal, must_iterate_over_dataspaces: [B], factors: [K=1, N=1]}]",
		"61: error: 'RF' (temporal) must iterate over B, but the bounds of N, K are all 1 there\n"
		"75: note: the other one is here\n"},
	{"[{target: RG, type: temporal, factors: [M=2]}]",
		"11: error: unknown level 'RG' (there are DRAM, GLB, PE, RF, mac); did you mean 'RF'?\n"},
	{"[{target: RF, type: temporal, factors: [m=2, Q=1]}]",
		"41: error: unknown dimension 'm' (there are M, N, K); did you mean 'M'?\n"
		"46: error: unknown dimension 'Q' (there are M, N, K)\n"},
	{"[{target: RF, type: temporal, permutation: [M, Q, M]}]",
		"48: error: unknown dimension 'Q' (there are M, N, K)\n"
		"51: error: dimension 'M' is twice in the permutation\n"},
	{"[{target: RF, type: dataspace, keep: [a, Filters]}]",
		"39: error: unknown dataspace 'a' (there are A, B, Z); did you mean 'A'?\n"
		"42: error: unknown dataspace 'Filters' (there are A, B, Z)\n"},
	{"[{target: RF, type: tempral, factors: [M=2]}]",
		"21: error: unknown type of constraint 'tempral' (there are spatial, temporal, dataspace, utilization and graph); did you mean 'temporal'?\n"},
	{"[{target: RF, type: temporal, factor: [M=2]}]",
		"31: error: unknown key 'factor' in constraint; did you mean 'factors'?\n"},
	{"[{target: RF, type: temporal, split: 2}]",
		"31: error: 'split' is a spatial constraint, not a temporal one\n"},
	{"[{target: RF, type: max_overbooked_proportion, proportion: 0.5}]",
		"21: error: max_overbooked_proportion is about sparse data, which lxplore does not model\n"},
	{"[{type: utilization, min: 2}]",
		"27: error: a least utilization is between 0 and 1, not 2\n"},
	{"[{type: utilization}]", "2: error: constraint has no 'min'\n"},
	{"{targets: [{target: RF, type: temporal, factors: [M<0, 'M<=', 'M=4,5', 'M<=4,3']}], more: 1}",
		"85: error: unknown key 'more' in constraints; the keys here are version, template, targets and constraints\n"
		"51: error: factor M<0: no bound is below 1\n"
		"57: error: a factor is a dimension, a relation and a whole number, such as K<=16\n"
		"64: error: factor M=4: the last round is no longer than the others\n"
		"73: error: factor M<=4: only an exact factor has a last round\n"},
	{"[{target: RF, type: temporal, factors: [" MANY MANY MANY MANY "]}]",
		"341: error: more than 128 factors stand in one place\n"},
	{"[{target: RF, type: temporal, factors: {M: 4, Q: 1, N: x}}]",
		"47: error: unknown dimension 'Q' (there are M, N, K)\n"
		"56: error: a factor: unknown variable 'x'; a number or arithmetic is expected\n"},
	{"[{target: GLB, type: spatial, permutation: [M]}]",
		"44: warning: 'GLB' has no fan-out: 'permutation' changes nothing there; what fans out is 'PE', 'mac'\n"},
	{"[{target: RF, type: temporal, no_reuse: [C]}]",
		"42: error: unknown dataspace 'C' (there are A, B, Z)\n"},
	{"[{target: PE, type: spatial, maximize_dims: [M]}]",
		"45: error: 'maximize_dims' comes to M=6 at 'PE' (spatial), where a loop has at most "
		"4; a smaller 'maximize_dims_capacity' would help\n"},
	{"[{target: RF, type: temporal, factors: ['=4', 'M', 'M=x', 'M=3x', Q2, '']}]",
		"42: error: a factor is a dimension, a relation and a whole number, such as K<=16\n"
		"48: error: a factor is a dimension, a relation and a whole number, such as K<=16\n"
		"53: error: a factor is a dimension, a relation and a whole number, such as K<=16\n"
		"63: error: a factor is a dimension, a relation and a whole number, such as K<=16\n"
		"67: error: unknown dimension 'Q' (there are M, N, K)\n"},
	{"[{target: PE, type: spatial, split: 0, factors: [M=4]}]",
		"49: error: the fan-out 4 x 2 of 'PE' has no room for M=4 with split 0\n"
		"37: note: the other one is here\n"},
	{"[{target: PE, type: spatial, split: 1, permutation: [N, M], factors: [M=4, N=2]}]",
		"70: error: the fan-out 4 x 2 of 'PE' has no room for M=4 x N=2 with split 1\n"
		"37: note: this takes part\n"
		"53: note: this takes part\n"},
	{"[{target: PE, type: spatial, permutation: [N, M], factors: [N=4, M=2, K=1]}, {target: PE, type: spatial, split: 1}]",
		""},
};

/* Complaints without the lines that they quote. */
static const char *complaints_of(struct arena *arena, const struct diag *diag)
{
	static const char at[] = "constraints.yaml:1:";
	struct text text = text_open(arena);
	const char *line = complaints_text(arena, diag);
	for (const char *end; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (strncmp(line, at, sizeof at - 1) == 0)
			text_add(&text, "%.*s\n", (int)(end - line - (int)sizeof at + 1),
				line + sizeof at - 1);
	}
	return text_read(&text);
}

static void clash_is_found(void **state)
{
	const struct clash_case *want = *state;
	struct arena *arena = arena_open();
	struct constraint_case test = constraint_case_open(arena);
	constraint_case_read(&test, want->yaml);
	assert_string_equal(complaints_of(arena, test.diag), want->complaints);
	assert_int_equal(test.good, strstr(want->complaints, "error:") == NULL);
	arena_close(arena);
}

enum { CLASH_CASES = sizeof clash_cases / sizeof *clash_cases };

int main(void)
{
	struct CMUnitTest tests[CLASH_CASES];
	for (int i = 0; i < CLASH_CASES; i++)
		tests[i] = (struct CMUnitTest){.name = clash_cases[i].yaml,
			.test_func = clash_is_found,
			.initial_state = (void *)&clash_cases[i]};
	return run_table("constraint clashes", tests, CLASH_CASES);
}
