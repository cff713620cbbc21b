#ifndef SUPPORT_CONSTRAINT_CASE_H
#define SUPPORT_CONSTRAINT_CASE_H

#include "constraints/constraints.h"

/*
 * A matrix product (M=12, N=8, K=6; A, B and the written Z) on DRAM, GLB, 4 x 2
 * PEs (a container), RF and two multipliers, and constraints as a text.
 */
struct constraint_case {
	struct arena *arena;
	struct diag *diag;
	struct reading reading;
	struct arch arch;
	const struct shape *shape;
	struct constraint_context context;
	struct constraints constraints;
	struct domain *domain;
	bool good; /* read, and narrowed without a clash */
};

struct constraint_case constraint_case_open(struct arena *arena);

/* Reads the value of `constraints:` and narrows the domain. */
void constraint_case_read(struct constraint_case *test, const char *yaml);

/* A mapping in one line; the test fails if it is none. */
struct mapping constraint_case_mapping(const struct constraint_case *test, const char *text);

#endif
