#ifndef SUPPORT_ATTACKS_H
#define SUPPORT_ATTACKS_H

#include "base/random.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Attacks on proven claims: questions are drawn, a solver's claims about them are attacked with mutants of its
 * answers, and all of it is counted.
 */
struct attack_tally {
	long drawn;    /* questions with an answer */
	long proven;   /* of them, with a proof */
	long attacked; /* claims, some of them without a proof */
	long mutants, valid;
	long equal;  /* mutants as good as the claim */
	long better; /* and better ones */
	long won;    /* claims that some mutant refutes */
};

struct attacks {
	const char *what; /* for the line that is printed */
	long by_default;  /* questions (draws) */
	uint64_t seed;    /* by default (draws_seed) */
	bool worse;       /* claims that are too high, which mutants have to refute */
	long valid_most;  /* at least one mutant of so many must be valid */
	/* Draws a question, attacks the answer and adds to the tally; true if a claim is refuted. */
	bool (*challenge)(
		struct random *random, const struct attacks *attacks, struct attack_tally *tally);
	int goal; /* for `challenge` */
};

/* Attacks all questions and prints the tally.  The test fails if a proven claim is refuted or, with `worse`, if half
 * of the claims are not; and if few questions have proofs or few mutants are valid, of many draws. */
void attack_all(const struct attacks *attacks);

#endif
