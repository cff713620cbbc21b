#ifndef SUPPORT_NEST_COMPARE_H
#define SUPPORT_NEST_COMPARE_H

#include "model/nest/nest_score.h"
#include "tests/support/nest_case.h"

/* Every count in which two differ, a line each: "L1 A fills: model 12, interpreter 16"; NULL if
 * none does. */
const char *nest_counts_differ(struct arena *arena, const struct nest_case *nest,
	const char *a_name, const struct nest_counts *a, const char *b_name,
	const struct nest_counts *b);

/* Count by the closed form under COUNTING_EXACT: its verdict, and false if it refuses to count. */
enum nest_verdict nest_model_verdict(const struct nest_case *nest, struct nest_counts *out);
bool nest_model_counts(const struct nest_case *nest, struct nest_counts *out);

#endif
