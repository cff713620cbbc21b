#include "tests/support/attacks.h"

#include "tests/support/draws.h"

#include <inttypes.h>

#include "tests/test.h"

void attack_all(const struct attacks *attacks)
{
	uint64_t seed = draws_seed(attacks->seed);
	long count = draws(attacks->by_default);
	struct attack_tally tally = {0};
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		if (attacks->challenge(&random, attacks, &tally) && !attacks->worse)
			print_message("seed %" PRIu64 " draw %ld: a proof is beaten\n", seed, i);
	}
	print_message(
		"%s: %ld drawn, %ld proven; %ld mutants, %ld valid, %ld equal to a claim, %ld "
		"better; %ld of %ld claims beaten\n",
		attacks->what, tally.drawn, tally.proven, tally.mutants, tally.valid, tally.equal,
		tally.better, tally.won, tally.attacked);
	if (!attacks->worse)
		assert_int_equal(tally.won, 0);
	if (!draws_are_many(count))
		return;
	assert_true(tally.proven > count / 4 && tally.valid > tally.mutants / attacks->valid_most);
	if (attacks->worse)
		assert_true(tally.won > tally.attacked / 2);
}
