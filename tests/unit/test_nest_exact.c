#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/nest_by_hand.h"

#include "tests/test.h"

struct counted {
	enum nest_verdict verdict;
	struct nest_counts counts;
	struct nest_score score;
};

static struct counted count_nest(
	struct arena *arena, const struct nest_case *nest, enum counting counting)
{
	struct counted counted = {0};
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, counting);
	counted.verdict = nest_evaluate(model, &nest->mapping, &counted.counts, &counted.score);
	return counted;
}

static void counts_are_the_hand_s(void **state)
{
	const struct nest_by_hand *row = *state;
	struct arena *arena = arena_open();
	const struct nest_case *nest = nest_by_hand_make(arena, row);
	struct counted counted = count_nest(arena, nest, COUNTING_EXACT);
	assert_int_equal(counted.verdict, NEST_FITS);
	assert_string_equal(nest_line_counts(arena, nest, &counted.counts), row->counts);
	assert_int_equal(counted.counts.computes, row->computes);
	assert_int_equal(counted.counts.compute_cycles, row->cycles);
	arena_close(arena);
}

/* Differences of the two countings: the examples of specs/counting.md, in its order. */
static const struct differing {
	const char *name;
	const char *levels, *einsum, *mapping, *flag;
	const char *exact, *timeloop;
} differences[] = {
	{
		.name = "sums that drain are read",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m] = A[m], m=2",
		.mapping = "DRAM: m2",
		.exact = "DRAM Z 0/0/2 A 2/0/0; Buf Z 2/0/2 A 2/2/0",
		.timeloop = "DRAM Z 0/0/2 A 2/0/0; Buf Z 0/0/2 A 2/2/0",
	},
	{
		/* 2 + 1, then back to the first window, of which one word is there: 1 + 1 */
		.name = "a window turns round",
		.levels = "DRAM Buf MAC",
		.einsum = "O[k,p] = I[p+r], k=2 p=2 r=2",
		.mapping = "DRAM: k2 p2 | Buf: r2",
		.exact = "DRAM O 0/0/4 I 5/0/0; Buf O 8/0/8 I 8/5/0",
		.timeloop = "DRAM O 0/0/4 I 6/0/0; Buf O 4/0/8 I 8/6/0",
	},
	{
		/* 2 + 1 + 1, and on by one */
		.name = "a window goes on beyond an outer loop",
		.levels = "DRAM GLB Buf MAC",
		.einsum = "O[p] = I[p+r], p=6 r=2",
		.mapping = "DRAM: p2 | GLB: p3 | Buf: r2",
		.exact = "DRAM O 0/0/6 I 7/0/0; GLB O 6/0/6 I 7/7/0; Buf O 12/0/12 I 12/7/0",
		.timeloop = "DRAM O 0/0/6 I 7/0/0; GLB O 0/0/6 I 8/7/0; Buf O 6/0/12 I 12/8/0",
	},
	{
		/* words 0 1 2, then 1 2 3: from 2 to 1, not from 1 to 1 */
		.name = "an outer loop comes from the last iteration",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p] = I[p+r], p=2 r=3",
		.mapping = "DRAM: p2 r3",
		.exact = "DRAM O 0/0/2 I 6/0/0; Buf O 6/0/6 I 6/6/0",
		.timeloop = "DRAM O 0/0/2 I 5/0/0; Buf O 4/0/6 I 6/5/0",
	},
	{
		/* in the third round PE 0 enters the word that PE 1 entered in the second */
		.name = "later iterations are not like the second",
		.levels = "DRAM (PE:2) RF MAC",
		.einsum = "O[p,k] = I[p+k+r], p=2 k=3 r=2",
		.mapping = "DRAM: k3 | PE: p2 | RF: r2",
		.exact = "DRAM O 0/0/6 I 7/0/0; RF O 12/0/12 I 13/8/0+1",
		.timeloop = "DRAM O 0/0/6 I 8/0/0; RF O 6/0/12 I 12/8/0",
	},
	{
		/* a sum that returns goes to one of the two that add to it */
		.name = "sums that return",
		.levels = "DRAM (PE:2) RF MAC",
		.einsum = "Z[m] = A[m,k], m=2 k=4",
		.mapping = "DRAM: k2 m2 | PE: k2",
		.exact = "DRAM Z 2/0/4 A 8/0/0; RF Z 10/2/8 A 8/8/0",
		.timeloop = "DRAM Z 2/0/4 A 8/0/0; RF Z 4/4/8 A 8/8/0",
	},
	{
		.name = "multipliers below a fan-out hold no operand",
		.levels = "Buf (PE:2) MAC",
		.einsum = "Z[m,n] = A[m], m=1 n=4",
		.mapping = "Buf: n2 | PE: n2",
		.exact = "Buf Z 0/0/4 A 2/0/0",
		.timeloop = "Buf Z 0/0/4 A 1/0/0",
	},
	{
		.name = "multipliers below a fan-out hold no sum",
		.levels = "Buf (PE:2) MAC",
		.einsum = "Z[m] = A[m,k], m=1 k=4",
		.mapping = "Buf: k2 | PE: k2",
		.exact = "Buf Z 1/0/2 A 4/0/0",
		.timeloop = "Buf Z 0/0/1 A 4/0/0",
	},
	{
		.name = "multipliers hand nothing on",
		.levels = "Buf (PE:2) MAC",
		.einsum = "O[p] = I[p+r], p=2 r=2",
		.mapping = "Buf: r2 | PE: p2",
		.exact = "Buf O 2/0/4 I 4/0/0",
		.timeloop = "Buf O 2/0/4 I 3/0/0",
	},
	{
		/* two of the four words of the box are written, each twice */
		.name = "first updates of a diagonal",
		.levels = "Buf MAC",
		.einsum = "Z[m,m] = A[m,k], m=2 k=2",
		.mapping = "Buf: k2 m2",
		.exact = "Buf Z 2/0/4 A 4/0/0",
		.timeloop = "Buf Z 0/0/4 A 4/0/0",
	},
	{
		.name = "first updates of a box with gaps",
		.levels = "Buf MAC",
		.einsum = "Z[2m] = A[m,k], m=2 k=2",
		.mapping = "Buf: k2 m2",
		.exact = "Buf Z 2/0/4 A 4/0/0",
		.timeloop = "Buf Z 1/0/4 A 4/0/0",
	},
	{
		/* 3 words, 1 handed on: 4 + 1 reads of two instances */
		.name = "averages of instances are not rounded",
		.levels = "DRAM (PE:2) RF MAC",
		.einsum = "O[p] = I[p+r], p=2 r=2",
		.mapping = "DRAM: r2 | PE: p2",
		.exact = "DRAM O 0/0/2 I 3/0/0; RF O 4/0/4 I 5/4/0+1",
		.timeloop = "DRAM O 0/0/2 I 3/0/0; RF O 2/0/4 I 6/4/0+1",
	},
	{
		/* every RF enters two words, whichever level is bypassed */
		.name = "links below a level that is passed by",
		.levels = "DRAM (PE:2) GLB (Q:2) RF MAC",
		.einsum = "O[p] = I[p+r], p=4 r=2",
		.mapping = "DRAM: r2 | PE: p2 | Q: p2 | keep DRAM,RF: I",
		.exact = "DRAM O 0/0/4 I 6/0/0; GLB O 4/0/4 I 0/0/0; RF O 8/0/8 I 10/8/0+2",
		.timeloop = "DRAM O 0/0/4 I 6/0/0; GLB O 0/0/4 I 0/0/0; RF O 4/0/8 I 8/4/0+1",
	},
	{
		.name = "no links without temporal reuse",
		.levels = "DRAM (PE:2) RF MAC",
		.einsum = "Z[m,n] = A[k], m=2 n=2 k=1",
		.mapping = "DRAM: m2 | PE: n2",
		.flag = "RF no_temporal_reuse A",
		.exact = "DRAM Z 0/0/4 A 2/0/0; RF Z 4/0/4 A 4/4/0",
		.timeloop = "DRAM Z 0/0/4 A 1/0/0; RF Z 0/0/4 A 6/4/0+2",
	},
	{
		/* the first of two drains finds nothing, the second is added: in both alike */
		.name = "drains one by one",
		.levels = "DRAM (PE:2) RF MAC",
		.einsum = "Z[m] = A[m,k], m=1 k=2",
		.mapping = "PE: k2",
		.flag = "inter_PE_spatial no_spatial_reuse Z",
		.exact = "DRAM Z 1/0/2 A 2/0/0; RF Z 2/0/2 A 2/2/0",
		.timeloop = "DRAM Z 1/0/2 A 2/0/0; RF Z 0/0/2 A 2/2/0",
	},
	{
		.name = "first updates read, and fill nothing",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m] = A[m], m=2",
		.mapping = "Buf: m2",
		.flag = "Buf rmw_first_update Z",
		.exact = "DRAM Z 0/0/2 A 2/0/0; Buf Z 4/0/2 A 2/2/0",
		.timeloop = "DRAM Z 0/0/2 A 2/0/0; Buf Z 2/2/2 A 2/2/0",
	},
	{
		.name = "a home without coalescing", /* nothing is counted for it */
		.levels = "Buf MAC",
		.einsum = "Z[m] = A[m], m=2",
		.mapping = "Buf: m2",
		.flag = "Buf no_coalesce Z",
		.exact = "Buf Z 0/0/2 A 2/0/0",
		.timeloop = "Buf Z 0/0/0 A 2/0/0",
	},
	{
		/* of four updates the first two find no sum */
		.name = "first updates pass alone",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m] = A[m,k], m=2 k=2",
		.mapping = "DRAM: k2 | Buf: m2",
		.flag = "Buf no_coalesce Z",
		.exact = "DRAM Z 2/0/4 A 4/0/0; Buf Z 6/2/4 A 4/4/0",
		.timeloop = "DRAM Z 2/0/4 A 4/0/0; Buf Z 4/4/4 A 4/4/0",
	},
	{
		.name = "what passes is a fill each time",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m] = A[m,k] B[k], m=2 k=2",
		.mapping = "DRAM: k2 | Buf: m2",
		.flag = "Buf no_coalesce B",
		.exact = "DRAM Z 0/0/2 A 4/0/0 B 4/0/0; Buf Z 4/0/4 A 4/4/0 B 4/4/0",
		.timeloop = "DRAM Z 0/0/2 A 4/0/0 B 4/0/0; Buf Z 2/0/4 A 4/4/0 B 4/2/0",
	},
};

static void both_countings(void **state)
{
	const struct differing *row = *state;
	struct arena *arena = arena_open();
	struct nest_case *nest = nest_line(arena, row->levels, row->einsum, row->mapping);
	if (row->flag)
		nest_line_flag(nest, row->flag);
	const char *const expected[] = {
		[COUNTING_EXACT] = row->exact, [COUNTING_TIMELOOP] = row->timeloop};
	for (enum counting counting = COUNTING_EXACT; counting <= COUNTING_TIMELOOP; counting++) {
		struct counted counted = count_nest(arena, nest, counting);
		assert_int_equal(counted.verdict, NEST_FITS);
		assert_string_equal(
			nest_line_counts(arena, nest, &counted.counts), expected[counting]);
	}
	arena_close(arena);
}

/* Numbers near and beyond the ends of what is counted; the extent 2^31 - 1 is prime. */
static const struct large {
	const char *name;
	const char *levels, *einsum, *mapping;
	enum nest_verdict verdict;
	const char *counts; /* NULL: none */
} larges[] = {
	{
		.name = "2^62 multiply-adds",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m] B[n], m=2147483648 n=2147483648",
		.mapping = "DRAM: m2147483648 | Buf: n2147483648",
		.verdict = NEST_FITS,
		.counts =
			"DRAM Z 0/0/4611686018427387904 A 2147483648/0/0 B 2147483648/0/0; "
			"Buf Z 4611686018427387904/0/4611686018427387904 A 4611686018427387904/2147483648/0 "
			"B 4611686018427387904/2147483648/0",
	},
	{
		.name = "2^63 multiply-adds",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m] B[n,k], m=2147483648 n=2147483648 k=2",
		.mapping = "DRAM: m2147483648 | Buf: n2147483648 k2",
		.verdict = NEST_OVERFLOW,
	},
	{
		.name = "words of boxes",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[8m,8n], m=2147483648 n=1073741824",
		.mapping = "Buf: m2147483648 n1073741824",
		.verdict = NEST_OVERFLOW,
	},
	{
		.name = "words of windows",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p] = I[2147483647p+r], p=2147483648 r=2",
		.mapping = "DRAM: p2147483648 | Buf: r2",
		.verdict = NEST_FITS,
		.counts = "DRAM O 0/0/2147483648 I 4294967296/0/0; "
			  "Buf O 4294967296/0/4294967296 I 4294967296/4294967296/0",
	},
	{
		.name = "words of a window that is too wide",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p,n] = I[2147483647p+r,n], p=2147483648 r=2 n=16",
		.mapping = "Buf: p2147483648 n16 r2",
		.verdict = NEST_OVERFLOW,
	},
	{
		.name = "imperfect bounds of a prime",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m] B[n], m=2147483647 n=2147483647",
		.mapping = "DRAM: n46341 m46341 | Buf: m46341 n46341",
		.verdict = NEST_FITS,
		/* 46341 (2^31 - 1) = 99516539685627 */
		.counts =
			"DRAM Z 0/0/4611686014132420609 A 99516539685627/0/0 B 2147483647/0/0; "
			"Buf Z 4611686014132420609/0/4611686014132420609 A 4611686014132420609/99516539685627/0 "
			"B 4611686014132420609/2147483647/0",
	},
	{
		.name = "an imperfect window",
		.levels = "DRAM (PE:3) RF MAC",
		.einsum = "O[p] = I[p+r], p=2147483647 r=3",
		.mapping = "DRAM: p46341 | PE: r3 | RF: p46341",
		.verdict = NEST_FITS,
		/* each PE its own 2^31 - 1 words, from the third to the last tile on their way */
		.counts = "DRAM O 0/0/2147483647 I 6442450941/0/0; "
			  "RF O 6442450941/0/6442450941 I 6442450941/6442450941/0",
	},
	{
		.name = "written tiles that overlap",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p+q] = A[p] B[q], p=2 q=2",
		.mapping = "Buf: p2 q2",
		.verdict = NEST_UNCOUNTABLE,
	},
};

static void large_numbers(void **state)
{
	const struct large *row = *state;
	struct arena *arena = arena_open();
	struct nest_case *nest = nest_line(arena, row->levels, row->einsum, row->mapping);
	struct counted counted = count_nest(arena, nest, COUNTING_EXACT);
	assert_int_equal(counted.verdict, row->verdict);
	if (row->counts)
		assert_string_equal(nest_line_counts(arena, nest, &counted.counts), row->counts);
	if (row->verdict == NEST_UNCOUNTABLE)
		assert_int_equal(counted.score.space, shape_space(&nest->shape, "O"));
	arena_close(arena);
}

int main(void)
{
	enum {
		DIFFERENCES = sizeof differences / sizeof *differences,
		LARGES = sizeof larges / sizeof *larges,
	};
	struct CMUnitTest tests[NESTS_BY_HAND + DIFFERENCES + LARGES];
	int count = 0;
	for (int i = 0; i < NESTS_BY_HAND; i++)
		tests[count++] = (struct CMUnitTest){.name = nests_by_hand[i].name,
			.test_func = counts_are_the_hand_s,
			.initial_state = (void *)&nests_by_hand[i]};
	for (int i = 0; i < DIFFERENCES; i++)
		tests[count++] = (struct CMUnitTest){.name = differences[i].name,
			.test_func = both_countings,
			.initial_state = (void *)&differences[i]};
	for (int i = 0; i < LARGES; i++)
		tests[count++] = (struct CMUnitTest){.name = larges[i].name,
			.test_func = large_numbers,
			.initial_state = (void *)&larges[i]};
	return run_table("nest_exact", tests, (size_t)count);
}
