#ifndef MODEL_ARCH_DRAFT_H
#define MODEL_ARCH_DRAFT_H

#include "base/array.h"
#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * An architecture while it is read.  The two ways to write one, `nodes:` and the
 * older `subtree:`, list its levels into a draft, outermost first; what their
 * attributes mean is read afterwards, for both alike.
 */
struct arch_entry {
	struct reader node, attributes;
	const struct node *own; /* its `attributes:` as written; NULL: none */
};

/* A key that nothing asked for, and the level that has it. */
struct stranger {
	struct node_entry entry;
	const char *what;
};

/* Attributes that may say how fast the machine runs, and whose they are. */
struct clock_map {
	const struct node *map;
	const char *what;
};

struct arch_draft {
	const struct reading *reading;
	struct arch *arch;
	const struct node *list; /* of the levels, for complaints about all of them */
	struct arch_entry entries[ARCH_LEVELS_MOST];
	size_t node_count; /* of all levels written, those beyond ARCH_LEVELS_MOST too */
	int parallel_count;

	/* The attributes of the containers around the next level, outermost first. */
	struct array(const struct node *) scope;
	struct array(struct clock_map) clocks;
	struct array(
		struct arch_entry) subtrees; /* what those of the older form say of the machine */
	struct array(struct stranger) strangers; /* keys that are left to Accelergy */
	struct array(struct span) settled; /* keys complained about, read, or used in arithmetic */
	struct array(struct source_note) notes;
};

/* Complains about what a draft is read from. */
#define WRONG(draft, span, ...) diag_error((draft)->reading->diag, span, __VA_ARGS__)

/* The next level, its name and class not yet read; -1 when there are too many. */
int arch_draft_add(struct arch_draft *draft, struct span span);

/* Takes a name; `span` is where it stands.  Complains about names that mappings cannot use. */
void arch_draft_name(struct arch_draft *draft, int r, const char *name, struct span span);

/* What a class makes of a level. */
enum class_kind { CLASS_STORAGE, CLASS_COMPUTE, CLASS_DUMMY, CLASS_NETWORK, CLASS_UNKNOWN };
enum class_kind arch_class(const char *name);
enum class_kind arch_class_in_tree(const char *name); /* in the older form, as Timeloop */

/* True if Timeloop takes a class for its multipliers; adders and the like compute only where no
 * component has such a class. */
bool arch_class_multiplies(const char *name);

/* Lists the levels of any form; false after complaining.  `map` is an architecture that has
 * `arithmetic:` and `storage:`. */
bool arch_nodes_open(struct arch_draft *draft, const struct node *list);
bool arch_tree_open(struct arch_draft *draft, const struct node *list);
bool arch_flat_open(struct arch_draft *draft, struct reader *map);

/*
 * `has_power_gating` of a node, as Timeloop's front end has it: the next level inwards, or the
 * fan-out before it, is where that level and all inside are switched off.
 */
void arch_nodes_gate(struct arch_draft *draft);

/* The roles that levels have for graphs and einsums (model/machine/arch_read.h), and the rates of
 * computes that say none.  What does not go together is complained about where there were only
 * `errors` before. */
void arch_roles_find(struct arch_draft *draft, size_t errors);

#endif
