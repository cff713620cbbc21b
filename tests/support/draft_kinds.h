#ifndef SUPPORT_DRAFT_KINDS_H
#define SUPPORT_DRAFT_KINDS_H

#include "tests/support/plan_draft.h"

/* The kinds of decisions (enum joint_kind of search/joint/joint_graph.h) that a plan makes and that a claim may leave
 * out by name, as the plan shows them: a set of their bits.  Of runs it knows by itself which ones joint spaces have;
 * where it cannot say, it names a kind. */
unsigned draft_kinds(const struct plan_draft *draft);

#endif
