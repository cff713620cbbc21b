#ifndef CONSTRAINTS_UNLISTED_H
#define CONSTRAINTS_UNLISTED_H

#include "constraints/kind.h"

/* One bound for all dimensions that `factors` and `factors_only` beside it do not list. */
bool unlisted_read(const struct constraint_context *context, const struct node *value,
	enum relation relation, struct constraint *out);

#endif
