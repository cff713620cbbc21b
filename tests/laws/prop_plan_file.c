#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/workload.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/random_plan.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Whatever a plan says, its file says too: what is read from it is written the
 * same.
 */
static const char *const workloads[] = {
	"workload:\n"
	"  name: softmax\n"
	"  dimensions: {m: 64, n: 256}\n"
	"  ops:\n"
	"    - mx[n] = max(m) x[m,n]\n"
	"    - s[m,n] = x[m,n] - mx[n]\n"
	"    - e[m,n] = exp(s[m,n])\n"
	"    - d[n] = sum(m) e[m,n]\n"
	"    - y[m,n] = e[m,n] / d[n]\n",
	"workload:\n"
	"  dimensions: {m: 64, n: 256, k: 128, j1: 64, c: 8}\n"
	"  ops:\n"
	"    - h[m,n] = sum(k) x[m,k] * w[k,n]\n"
	"    - g[m,n] = silu(h[m,n])\n"
	"    - {opaque: topk, reads: [g], writes: [\"i[c]\"]}\n"
	"    - f[m,n] = g[m,n] * h[m,n]\n"
	"    - y[m,j1] = sum(n) f[m,n] * v[n,j1]\n",
};

static const char *const odd_names[] = {"y", "null", "true", "a b", "a: b", "- a", "#a", "a #b",
	"\"q\"", "back\\slash", "line\nfeed", "tab\t", "\x01", "\xc3\xa9", "\xc2\x85",
	"\xe2\x80\xa8", "{a}", "[b]", "a,b", "<<", "~", "1e3", ".5", "*x", "&x", "!x", "%x", "@x",
	"'a'", " a ", "a/b", "0x10", ""};

static const struct workload *rename_some(
	struct arena *arena, struct random *random, const struct workload *workload)
{
	struct workload *renamed = arena_copy(arena, workload, sizeof *workload);
	struct tensor *tensors = arena_copy(
		arena, workload->tensors, workload->tensor_count * sizeof *workload->tensors);
	struct op *ops =
		arena_copy(arena, workload->ops, workload->op_count * sizeof *workload->ops);
	size_t count = sizeof odd_names / sizeof *odd_names;
	renamed->tensors = tensors;
	renamed->ops = ops;
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const char *odd = odd_names[random_below(random, count)];
		if (random_below(random, 4) == 0 && workload_tensor(renamed, odd) < 0)
			tensors[t].name = *odd ? odd : arena_format(arena, "%0200d", (int)t);
	}
	for (size_t o = 0; o < workload->op_count; o++) {
		const char *odd = odd_names[random_below(random, count)];
		if (random_below(random, 4) == 0 && *odd && workload_op(renamed, odd) < 0)
			ops[o].name = odd;
	}
	return renamed;
}

static const struct workload *add_clones(
	struct arena *arena, struct random *random, const struct workload *workload)
{
	for (uint64_t i = random_below(random, 4); i > 0; i--) {
		int tensor = (int)random_below(random, workload->tensor_count);
		int from = workload->tensors[tensor].producer + 1;
		int before =
			from + (int)random_below(random, workload->op_count + 1 - (size_t)from);
		workload = workload_with_clone(arena, workload, tensor, before);
	}
	return workload;
}

static struct view draw_view(struct arena *arena, struct random *random, const struct arch *arch,
	const struct layout *layout)
{
	struct view view = {.cores = 1 + (int64_t)random_below(random, (uint64_t)arch_cores(arch))};
	for (int d = 0; d + 1 < layout->rank; d++) {
		struct divisors divisors = number_divisors(arena, layout->size[d]);
		if (random_below(random, 2))
			view.parts[view.part_count++] = (struct view_part){d,
				divisors.at[random_below(random, divisors.count)],
				1 + (int64_t)random_below(random, 40)};
	}
	return view;
}

/* The stays that plan_check has nothing against, one by one. */
static void draw_stays(struct arena *arena, struct random *random, struct plan *plan)
{
	int64_t top = 0;
	struct users users = users_make(arena, plan->workload);
	plan->residencies = arena_array(arena, struct residency, plan->workload->tensor_count);
	for (int t = 0; t < (int)plan->workload->tensor_count; t++) {
		const struct tensor *tensor = &plan->workload->tensors[t];
		struct residency *stay = &plan->residencies[plan->residency_count];
		*stay = (struct residency){.tensor = t, .place = PLACE_LX, .in_place_of = -1};
		users_life(&users, t, &stay->from, &stay->to);
		stay->view = draw_view(arena, random, plan->arch, &tensor->layout);
		stay->address = top;
		int last = plan->residency_count - 1;
		if (last >= 0 && random_below(random, 2)) {
			stay->in_place_of = plan->residencies[last].tensor;
			stay->address = plan->residencies[last].address;
			stay->view = plan->residencies[last].view;
		}
		const char *why = view_check(arena, &tensor->layout, &stay->view);
		stay->size = why ? 0 : view_bytes(&tensor->layout, &stay->view);
		plan->residency_count++;
		if (plan_check(plan, arena).count)
			*stay = (struct residency){
				.tensor = t, .from = stay->from, .to = stay->to, .in_place_of = -1};
		else
			top = number_align_up(stay->address + stay->size, 128);
		bool dropped = random_below(random, 8) == 0 && tensor->role != TENSOR_OUTPUT;
		if (stay->from == stay->to || dropped)
			plan->residency_count--;
	}
}

static struct plan *draw_plan(struct arena *arena, struct random *random, const struct arch *arch,
	const struct workload *workload)
{
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){
		.arch = arch,
		.workload = workload,
		.cores = 1 + (int)random_below(random, (uint64_t)arch_cores(arch)),
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count),
	};
	for (int i = 0; i < plan->step_count; i++) {
		int before = i ? plan->steps[i - 1].bundle : 0;
		plan->steps[i].op = i;
		bool ends = i && workload->ops[i - 1].primitive->kind == OP_OPAQUE;
		plan->steps[i].bundle = before + (ends || (i && random_below(random, 3) == 0));
		plan->steps[i].mapping = random_mapping(
			random, arch, plan->cores, workload, &workload->ops[i], arena);
	}
	draw_stays(arena, random, plan);
	plan->proof.status = (enum proof_status)random_below(random, PROOF_BUDGET + 1);
	plan->proof.method = random_below(random, 2) ? "divide/spyre+place/greedy" : NULL;
	plan->proof.space = random_below(random, 2) ? "all divisions: 'spyre'" : NULL;
	plan->proof.value = (double)random_next(random) / 3e7;
	plan->proof.bound = -1e-300 * (double)random_below(random, 1000);
	return plan;
}

static const char *write(struct arena *arena, const struct plan *plan)
{
	struct text text = text_open(arena);
	plan_write(plan, &text);
	return text_read(&text);
}

static const struct plan *read(struct arena *arena, const char *yaml, const struct arch *arch,
	const struct workload *workload, struct diag *diag)
{
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "p.yaml", yaml, strlen(yaml), diag);
	if (!root)
		return NULL;
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	const struct plan *plan = plan_read(&reading, sheet_find(sheet, "plan"), arch, workload);
	sheet_done(sheet);
	return plan;
}

static void assert_same_plan(const struct plan *a, const struct plan *b)
{
	assert_int_equal(a->cores, b->cores);
	assert_int_equal(a->step_count, b->step_count);
	for (int i = 0; i < a->step_count; i++) {
		assert_int_equal(a->steps[i].bundle, b->steps[i].bundle);
		assert_true(mapping_equal(&a->steps[i].mapping, &b->steps[i].mapping));
	}
	assert_int_equal(a->residency_count, b->residency_count);
	assert_int_equal(a->proof.status, b->proof.status);
}

/* Draws a machine whose bundles have any number of tensors. */
static const struct arch *draw_arch(struct arena *arena, struct random *random)
{
	const struct arch *arch = spyre_arch(arena, 1 + (int)random_below(random, 32));
	struct arch *own = arena_copy(arena, arch, sizeof *arch);
	own->bundle_tensors = 0;
	return own;
}

BARE_TEST(what_is_read_is_written_the_same)
{
	uint64_t seed = draws_seed(1);
	long count = draws(400);
	int stays = 0, clones = 0, in_place = 0, evictions = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = draw_arch(arena, &random);
		const struct workload *base =
			workload_given(arena, workloads[random_below(&random, 2)]);
		base = rename_some(arena, &random, base);
		const struct workload *workload = add_clones(arena, &random, base);
		struct plan *plan = draw_plan(arena, &random, arch, workload);
		struct plan *moved = random_evictions(&random, plan, arena);
		if (!plan_check(moved, arena).count)
			plan = moved;
		const char *text = write(arena, plan);
		struct diag *diag = diag_open(arena);
		const struct plan *again = read(arena, text, arch, base, diag);
		if (!again || diag_failed(diag))
			fail_msg("draw %ld:\n%s%s", i, complaints_text(arena, diag), text);
		assert_same_plan(plan, again);
		if (strcmp(write(arena, again), text))
			fail_msg("draw %ld:\n%s\nis written as\n%s", i, text, write(arena, again));
		clones += (int)(workload->op_count - base->op_count);
		for (int s = 0; s < plan->step_count; s++)
			evictions += plan_is_evict(plan, s);
		for (int k = 0; k < plan->residency_count; k++) {
			stays += plan->residencies[k].place == PLACE_LX;
			in_place += plan->residencies[k].in_place_of >= 0;
		}
		arena_close(arena);
	}
	print_message("%d stays in LX, %d of them in place, %d clones, %d evictions\n", stays,
		in_place, clones, evictions);
	assert_true(!draws_are_many(count) ||
		    (stays > 0 && in_place > 0 && clones > 0 && evictions > 0));
}
