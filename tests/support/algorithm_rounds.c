#include "tests/support/algorithm_rounds.h"

#include "base/number.h"
#include "base/text.h"

static int64_t log2_up(int ranks)
{
	int64_t q = 0;
	while ((INT64_C(1) << q) < ranks)
		q++;
	return q;
}

/* The longest way down a tree in heap order. */
static int64_t heap_height(int ranks)
{
	int64_t most = 0;
	for (int rank = 1; rank < ranks; rank++) {
		int64_t height = 0;
		for (int at = rank; at > 0; at = (at - 1) / 2)
			height += at % 2 ? 1 : 2;
		most = number_max(most, height);
	}
	return most;
}

int64_t algorithm_rounds(const char *algorithm, int ranks, int64_t chunks)
{
	if (ranks == 1)
		return 0;
	if (text_equal(algorithm, "flat"))
		return (ranks - 1) * chunks;
	if (text_equal(algorithm, "chain"))
		return chunks + ranks - 2;
	if (text_equal(algorithm, "binomial"))
		return log2_up(ranks) * chunks;
	if (text_equal(algorithm, "binary_tree"))
		return ranks == 2 ? chunks : 2 * (chunks - 1) + heap_height(ranks);
	if (text_equal(algorithm, "round_optimal"))
		return chunks - 1 + log2_up(ranks);
	return -1;
}
