#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "model/nest/nest_mapping.h"
#include "tests/support/complaints.h"
#include "tests/support/constraint_case.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Constraints with something changed: read or refused with a complaint. Accepted constraints can
 * narrow a space and be explained and checked.
 */
static const char *const seeds[] = {
	"- {target: GLB, type: temporal, factors: [M=3, N<=4, K>=1], permutation: [K, M]}\n"
	"- {target: PE, type: spatial, factors_only: M4 N=2, permutation: MNK, split: 1}\n"
	"- {target: RF, type: temporal, default_max_factor: 6, default_min_factor: 1}\n",
	"version: 0.4\ntargets:\n- {target: RF, type: bypass, keep: [A], bypass: [B, Z]}\n"
	"- target: DRAM\n  type: dataspace\n  constraints: {keep_only: '*', no_coalesce: [Z]}\n"
	"- {type: utilization, min: 0.25}\n",
	"- {target: inter_PE_spatial, type: spatial, maximize_dims: [[M], [K, N]], "
	"maximize_dims_capacity: 4, no_reuse: [A], no_link_transfer: '*'}\n"
	"- {target: RF, type: temporal, maximize_dims: [K], maximize_dims_capacity: 16}\n",
	"- target: GLB\n  constraints:\n    temporal: {must_iterate_over_dataspaces: [A, Z], "
	"rmw_first_update: [Z], factors: 'N=4'}\n    dataspace: {bypass_only: []}\n"
	"- {target: mac, type: spatial, no_iteration_over_dataspaces: [B]}\n",
};

static void use(const struct constraint_case *test)
{
	const struct mapping mapping = constraint_case_mapping(test, "GLB: M3 N4 | RF: M4 N2 K6");
	struct hierarchy hierarchy = {.level_count = 1};
	constraints_check(&test->constraints, test->domain, &mapping, test->arena);
	constraints_flag(&test->constraints, &hierarchy);
	for (size_t i = 0; i < test->constraints.count; i++) {
		const struct constraint *constraint = &test->constraints.at[i];
		assert_true(constraint->span.source != NULL);
		assert_true(*constraint->kind->explain(test->domain, constraint, test->arena));
	}
}

BARE_TEST(unchanged_ones_are_read)
{
	for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
		struct arena *arena = arena_open();
		struct constraint_case test = constraint_case_open(arena);
		constraint_case_read(&test, seeds[i]);
		assert_string_equal(complaints_text(arena, test.diag), "");
		use(&test);
		arena_close(arena);
	}
}

BARE_TEST(changed_constraints_are_read_or_refused)
{
	uint64_t seed = draws_seed(5);
	long count = draws(4000), read = 0, refused = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct constraint_case test = constraint_case_open(arena);
		const char *yaml = mutated_text(
			arena, &random, seeds[i % (long)(sizeof seeds / sizeof *seeds)]);
		constraint_case_read(&test, yaml);
		if (test.good) {
			use(&test);
			read++;
		} else if (!strstr(complaints_text(arena, test.diag), "error: ")) {
			fail_msg("draw %ld is refused without a reason:\n%s", i, yaml);
		} else {
			refused++;
		}
		arena_close(arena);
	}
	mutated_tell(read + refused, read);
	assert_true(!draws_are_many(count) || (read > 0 && refused > 0));
}
