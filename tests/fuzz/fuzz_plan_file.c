#include "base/arena.h"
#include "base/random.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"
#include "tests/support/ranks_arch.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Plan files with words moved, bytes changed and numbers grown: each is refused
 * with a complaint, or is a plan that its checker accepts and that is written.
 */
static const char workload_yaml[] = "workload:\n"
				    "  name: tail\n"
				    "  dimensions: {m: 64, n: 128}\n"
				    "  ops:\n"
				    "    - s[m,n] = exp(x[m,n])\n"
				    "    - d[n] = sum(m) s[m,n]\n"
				    "    - y[m,n] = s[m,n] / d[n]\n";

static const char plan_yaml[] =
	"plan:\n"
	"  version: 1\n"
	"  workload: tail\n"
	"  architecture: spyre32_published\n"
	"  cores: 4\n"
	"  steps:\n"
	"  - {move: clone, tensor: x, as: clone_x, bundle: 0, mapping: \"core: d1=2\"}\n"
	"  - {op: s, bundle: 0, mapping: \"core: n2 | LX: m8 n1 | keep LX: 0 1\"}\n"
	"  - {op: d, bundle: 0, mapping: \"core: n2 | keep LX: 0\"}\n"
	"  - {op: y, bundle: 1, mapping: \"core: n2 | keep HBM,LX: 0; HBM: 1\"}\n"
	"  bundles:\n"
	"  - {bundle: 0, arguments: [x, d]}\n"
	"  - {bundle: 1, arguments: [d, y]}\n"
	"  tensors:\n"
	"    y:\n"
	"    - {where: HBM, from: 3, to: 4}\n"
	"    s:\n"
	"    - {where: LX, view: \"cores 2: dim 0 / 2 by 1\", address: 0, size: 8192, from: 1, "
	"to: 4, in_place_of: clone_x}\n"
	"    clone_x:\n"
	"    - {where: LX, view: \"cores 2: dim 0 / 2 by 1\", address: 0, size: 8192, from: 0, "
	"to: 2}\n"
	"  proof: {status: bound, value: 1, bound: 0.5}\n";

static const char ranks_yaml[] = "workload:\n"
				 "  name: sent\n"
				 "  dimensions: {m: 64, n: 128}\n"
				 "  ops:\n"
				 "    - z[m,n] = exp(x[m,n])\n"
				 "    - {op: \"w[m,n] = broadcast w0[m,n]\", root: 1}\n"
				 "    - y[m,n] = z[m,n] * w[m,n]\n";

static const char staged_yaml[] =
	"plan:\n"
	"  version: 1\n"
	"  workload: sent\n"
	"  architecture: ranks\n"
	"  cores: 1\n"
	"  steps:\n"
	"  - {op: z, bundle: 0, mapping: undivided}\n"
	"  - {op: w, bundle: 0, mapping: undivided, staging: {rows: 1, sticks: 24, size: 3072, "
	"addresses: [16384, 19456]}}\n"
	"  - {op: y, bundle: 0, mapping: undivided}\n"
	"  bundles:\n"
	"  - {bundle: 0, arguments: [x, w0, w, y]}\n"
	"  tensors:\n"
	"    y:\n"
	"    - {where: HBM, from: 2, to: 3}\n"
	"    z:\n"
	"    - {where: LX, view: \"cores 1\", address: 0, size: 16384, from: 0, to: 3}\n"
	"  proof: {status: none}\n";

enum { ROOM = 2 * sizeof plan_yaml + 2 * sizeof staged_yaml };

static const char *const words[] = {"0", "-1", "1", "2", "9223372036854775807",
	"99999999999999999999", "s", "x", "d", "clone_x", "LX", "HBM", "core", "keep", "dim", "by",
	"/", "|", ":", ";", ",", "{", "}", "[", "]", "\"", "n4", "m64", "n2@y", "nowhere", "null",
	"staging", "2147483647", "\n", "  "};

static void mutate(struct random *random, char *text, size_t room)
{
	size_t length = strlen(text), at = random_below(random, length);
	switch (random_below(random, 3)) {
	case 0:
		text[at] = (char)(1 + random_below(random, 126));
		break;
	case 1: {
		size_t cut = 1 + random_below(random, 6);
		if (at + cut < length)
			memmove(text + at, text + at + cut, length - at - cut + 1);
		break;
	}
	default: {
		const char *word = words[random_below(random, sizeof words / sizeof *words)];
		size_t more = strlen(word);
		if (length + more + 1 > room)
			break;
		memmove(text + at + more, text + at, length - at + 1);
		memcpy(text + at, word, more);
	}
	}
}

static bool check_one(struct arena *arena, const struct arch *arch, const struct workload *workload,
	const char *text)
{
	struct diag *diag = diag_open(arena);
	struct reading reading = {.arena = arena, .diag = diag};
	const struct node *root = node_read_text(arena, "p.yaml", text, strlen(text), diag);
	const struct node *node = root ? node_find(root, "plan") : NULL;
	if (!node)
		return false;
	const struct plan *plan = plan_read(&reading, node, arch, workload);
	assert_int_equal(!plan, diag_failed(diag));
	complaints_text(arena, diag);
	if (!plan)
		return false;
	struct text written = text_open(arena);
	plan_write(plan, &written);
	assert_int_equal(plan_check(plan, arena).count, 0);
	return true;
}

static void damage(const struct arch *arch, const char *workload_text, const char *plan_text)
{
	uint64_t seed = draws_seed(1);
	long good = 0, all = draws(5000);
	struct arena *outer = arena_open();
	const struct workload *workload = workload_given(outer, workload_text);
	for (long i = 0; i < all; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		char words_in[ROOM] = {0};
		const char *text = words_in;
		memcpy(words_in, plan_text, strlen(plan_text));
		for (uint64_t n = random_below(&random, 4); n > 0; n--)
			mutate(&random, words_in, sizeof words_in);
		if (draw_chance(&random, 2))
			text = mutated_text(arena, &random, plan_text);
		good += check_one(arena, arch, workload, text);
		arena_close(arena);
	}
	mutated_tell(all, good);
	assert_true(!draws_are_many(all) || (good > 0 && good < all));
	arena_close(outer);
}

TEST(damaged_plans_are_refused_or_right)
{
	damage(spyre_arch(arena, 32), workload_yaml, plan_yaml);
}

TEST(damaged_staging_is_refused_or_right)
{
	struct ranks_arch machine = {.ranks = 2,
		.cores = 1,
		.links = "topology: ring",
		.lx_bytes = 65536,
		.alignment = 128};
	damage(ranks_arch(arena, &machine), ranks_yaml, staged_yaml);
}
