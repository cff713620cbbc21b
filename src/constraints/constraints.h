#ifndef CONSTRAINTS_CONSTRAINTS_H
#define CONSTRAINTS_CONSTRAINTS_H

#include "constraints/kind.h"
#include "spec/sheet.h"

/*
 * The constraints of a run: inline in the architecture, `constraints:`,
 * `arch_constraints:`, `architecture_constraints:`, `mapspace_constraints:` and `mapspace:`, and
 * the flags that Timeloop mappings carry.  Timeloop's forms of all years read:
 *
 *	- {target: GLB, type: temporal, factors: C=1, permutation: PQ}
 *	- {target: 1, type: datatype, attributes: {keep: [Inputs]}}
 *	- {name: GLB, constraints: [{type: temporal, attributes: {factors: C=1}}]}
 */

/* The keys of `constraints:`, and of those beside the attributes of a level. */
extern const struct noun constraints_noun, inline_constraints_noun;

/* The values of the top-level keys above that the files give, marked as used; NULL ends them. */
const struct node *const *constraints_lists(struct sheet *sheet, struct arena *arena);

/* Reads all of them; what is wrong is complained about, all at once. */
struct constraints constraints_read(
	const struct constraint_context *context, const struct node *const *lists);

/* Only those of `lists`, none of the machine's own. */
struct constraints constraints_read_lists(
	const struct constraint_context *context, const struct node *const *lists);

/* True if an entry of a list is about a graph as a whole, `type: graph`. */
bool constraints_is_of_graph(const struct node *entry);

/* The flags (no_reuse, rmw_first_update, ...) that the directives of a mapping carry.  The mapping
 * itself is read by nest_mapping_read, which complains about all else in it. */
struct constraints constraints_of_mapping(
	const struct constraint_context *context, const struct node *mapping);

/* The targets of one of the keys above: `targets:`, `constraints:` or the older list; NULL if
 * there are none. */
const struct node *constraints_targets(const struct reading *reading, const struct node *list);

/* True if they ask for Timeloop's mapspace `template: ruby`, whose factors need not divide. */
bool constraints_want_imperfect(const struct node *const *lists);

/* Removes constraints of levels outside the hierarchy of a shape that runs on a separate vector unit, such as the
 * registers of the multipliers. */
void constraints_keep_used(struct constraints *constraints, const struct hierarchy *hierarchy,
	const struct arch *arch);

/* The flags of all constraints, into a hierarchy. */
void constraints_flag(const struct constraints *constraints, struct hierarchy *hierarchy);

/* Narrows a domain by all of them, bottom-up maximize_dims last.  Complains about every
 * contradiction, with both places; false if there is one. */
bool constraints_narrow(
	const struct constraints *constraints, struct domain *domain, struct diag *diag);

/* Complains about tensors of a graph that must live both here and there; false if there are. */
bool constraints_agree_on_graph(const struct constraints *constraints, struct diag *diag);

/* The same as constraints_narrow for those of a mask only and in silence: whether they go together.  `domain` comes
 * fresh from domain_make. */
bool constraints_agree(const struct constraints *constraints, const bool *chosen,
	struct domain *domain, struct arena *arena);

/* Why a mapping breaks constraint i, in a sentence; NULL if it does not. */
const char *constraints_check_one(const struct constraints *constraints, size_t i,
	const struct domain *domain, const struct mapping *mapping, struct arena *arena);

/* The first constraint that a mapping breaks, in a sentence with its place; NULL if none. */
const char *constraints_check(const struct constraints *constraints, const struct domain *domain,
	const struct mapping *mapping, struct arena *arena);

/* Names of older files for kinds, one after the other; NULL after the last. */
const char *constraint_older_name(size_t i);

#endif
