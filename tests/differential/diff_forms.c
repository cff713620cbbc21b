#include "base/arena.h"
#include "base/text.h"
#include "tests/support/csv.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Random einsums of one or two operands, with and without a sum, written as a problem and as a workload of one op,
 * explored on shipped machines: where both forms are legal they have equal cycles and energy, and equal proofs
 * where their spaces are the same.  What only one form accepts is listed with the reason.
 */
enum { DRAWS = 14, LETTERS = 3 };

static const struct machine {
	const char *name, *dtype;
	bool clones; /* a workload may clone its inputs, so that it has more plans to prove things of */
} machines[] = {
	{"eyeriss", "fp16", false},
	{"simba", "int8", false},
	{"gemmini", "int8", false},
	{"tpu_v4i", "int8", false},
	{"tpu", "int8", false},
	{"spyre32_array", "fp16", true},
	{"spyre32", "fp16", true},
};
enum { MACHINES = sizeof machines / sizeof *machines };

/* Operands as sets of dimensions, the result last. */
struct drawn_einsum {
	int reads, spaces[3], extents[LETTERS], all;
};

static struct drawn_einsum draw_einsum(struct random *random)
{
	static const int extents[] = {2, 3, 4, 6, 8, 16};
	struct drawn_einsum einsum = {.reads = 1 + (int)draw_below(random, 2)};
	for (int t = 0; t < einsum.reads; t++) {
		einsum.spaces[t] = 1 + (int)draw_below(random, (1 << LETTERS) - 1);
		einsum.all |= einsum.spaces[t];
	}
	do
		einsum.spaces[2] = einsum.all & (int)draw_below(random, 1 << LETTERS);
	while (!einsum.spaces[2]);
	if (draw_chance(random, 3))
		einsum.spaces[2] = einsum.all;
	for (int d = 0; d < LETTERS; d++)
		einsum.extents[d] = extents[draw_below(random, 6)];
	return einsum;
}

static void add_set(struct text *text, int set)
{
	const char *between = "";
	for (int d = 0; d < LETTERS; d++)
		if (set >> d & 1) {
			text_add(text, "%s%c", between, "ijk"[d]);
			between = ",";
		}
}

static void add_extents(struct text *text, const struct drawn_einsum *einsum)
{
	const char *between = "";
	for (int d = 0; d < LETTERS; d++)
		if (einsum->all >> d & 1) {
			text_add(text, "%s%c: %d", between, "ijk"[d], einsum -> extents[d]);
			between = ", ";
		}
}

static const char *as_problem(const struct drawn_einsum *einsum)
{
	struct text text = text_open(arena);
	text_add(&text, "problem:\n  dimensions: [");
	add_set(&text, einsum->all);
	text_add(&text, "]\n  instance: {");
	add_extents(&text, einsum);
	text_add(&text, "}\n  data_spaces:\n");
	for (int t = 0; t < 3; t++) {
		if (t < 2 && t >= einsum->reads)
			continue;
		text_add(&text, "  - {name: %c, projection: [", "ABZ"[t]);
		add_set(&text, einsum->spaces[t]);
		text_add(&text, "]%s}\n", t == 2 ? ", read_write: true" : "");
	}
	return text_read(&text);
}

static const char *as_workload(const struct drawn_einsum *einsum, const char *dtype)
{
	struct text text = text_open(arena);
	text_add(&text, "workload:\n  name: w\n  dimensions: {");
	add_extents(&text, einsum);
	text_add(&text, "}\n  tensors: {A: {dtype: %s}, %sZ: {dtype: %s}}\n  ops:\n  - \"Z[", dtype,
		einsum->reads == 2 ? arena_format(arena, "B: {dtype: %s}, ", dtype) : "", dtype);
	add_set(&text, einsum->spaces[2]);
	text_add(&text, "] = ");
	if (einsum->all & ~einsum->spaces[2]) {
		text_add(&text, "sum(");
		add_set(&text, einsum->all & ~einsum->spaces[2]);
		text_add(&text, ") ");
	} else if (einsum->reads == 1) {
		text_add(&text, "clone(");
	}
	for (int t = 0; t < einsum->reads; t++) {
		text_add(&text, "%s%c[", t ? " * " : "", "AB"[t]);
		add_set(&text, einsum->spaces[t]);
		text_add(&text, "]");
	}
	text_add(
		&text, "%s\"\n", einsum->reads == 1 && einsum->all == einsum->spaces[2] ? ")" : "");
	return text_read(&text);
}

/* The best in energy x latency. */
struct best {
	const char *cost, *proof, *why; /* why: there is none */
};

static struct best explore(const struct machine *machine, const char *file)
{
	struct ended ended = shell(arena,
		"rm -rf %s/out; $LXPLORE explore specs/arch/%s.yaml %s/%s --objective edp --simulate none "
		"-q -j 1 -o %s/out",
		folder, machine->name, folder, file, folder);
	if (ended.status) {
		const char *at = strstr(ended.err, "error: ");
		at = at ? at : ended.err;
		return (struct best){
			.why = arena_format(arena, "%.*s", (int)strcspn(at, "\n"), at)};
	}
	const char *table = folder_text("out/pareto.csv");
	return (struct best){
		.cost = arena_format(arena, "%s cycles, %s pJ",
			csv_cell(arena, table, 1, "latency_cycles"),
			csv_cell(arena, table, 1, "energy_pj")),
		.proof = csv_cell(arena, table, 1, "proof"),
	};
}

FOLDER_TEST(both_forms_cost_the_same)
{
	uint64_t seed = draws_seed(9);
	long count = draws(DRAWS), both = 0, one = 0, wrong = 0, open = 0;
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)(i / MACHINES));
		const struct machine *machine = &machines[i % MACHINES];
		struct drawn_einsum einsum = draw_einsum(&random);
		folder_put("problem.yaml", as_problem(&einsum));
		folder_put("workload.yaml", as_workload(&einsum, machine->dtype));
		struct best a = explore(machine, "problem.yaml");
		struct best b = explore(machine, "workload.yaml");
		both += a.cost && b.cost;
		if (!a.cost != !b.cost) {
			one++;
			printf("%s: only the %s of %s is accepted: %s\n", machine->name,
				a.cost ? "problem" : "workload",
				strstr(as_workload(&einsum, machine->dtype), "Z["),
				a.cost ? b.why : a.why);
		} else if (!a.cost) {
			printf("%s: neither form is accepted: %s; %s\n", machine->name, a.why,
				b.why);
		} else if (strcmp(a.cost, b.cost) != 0 || strcmp(a.proof, b.proof) != 0) {
			bool excused = machine->clones && strcmp(a.cost, b.cost) == 0;
			open += excused;
			wrong += !excused;
			printf("%s: problem %s, %s; workload %s, %s\n%s", machine->name, a.cost,
				a.proof, b.cost, b.proof, as_workload(&einsum, machine->dtype));
		}
	}
	print_message("%ld in both forms, %ld of them unlike, %ld proven in one of them alone; "
		      "%ld in one form alone\n",
		both, wrong, open, one);
	assert_int_equal(wrong, 0);
	assert_true(!draws_are_many(count) || both > count / 2);
}
