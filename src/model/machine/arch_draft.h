#ifndef MODEL_ARCH_DRAFT_H
#define MODEL_ARCH_DRAFT_H

#include "base/array.h"
#include "model/machine/arch.h"
#include "spec/field.h"

/*
 * An architecture while it is read.  The two ways to write one, `nodes:` and the
 * older `subtree:`, list its levels into a draft, outermost first; the
 * attributes are read afterwards, for both alike.
 */

/* The values of a node; those that its form does not have are NULL. */
struct node_parts {
	bool enabled;
	const char *name, *device; /* `class` */
	const struct node *attributes, *spatial, *constraints, *sources, *sparse;
	const struct node *nodes, *local, *subtree; /* lists of the nodes inside */
};

struct arch_entry {
	struct reader node, attributes;
	struct node_parts parts;
	const struct node *own; /* its `attributes:` as written; NULL: none */
};

/* A key that nothing asked for, and the level that has it. */
struct stranger {
	struct node_entry entry;
	const char *what;
};

/* Attributes that may give the clock of the machine, and their owner. */
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
		struct arch_entry) subtrees; /* of the older form, with attributes of the machine */
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

/* The kind of level that a class stands for. */
enum class_kind { CLASS_STORAGE, CLASS_COMPUTE, CLASS_DUMMY, CLASS_NETWORK, CLASS_UNKNOWN };
enum class_kind arch_class(const char *name);
enum class_kind arch_class_in_tree(const char *name); /* in the older form, as Timeloop */

/* True if Timeloop takes a class for its multipliers; adders and the like compute only where no
 * component has such a class. */
bool arch_class_multiplies(const char *name);

/* Lists the levels of any form; false after complaining.  The first form has
 * `storage:` and `arithmetic:`. */
bool arch_nodes_open(struct arch_draft *draft, const struct node *list);
bool arch_tree_open(struct arch_draft *draft, const struct node *list);
bool arch_flat_open(
	struct arch_draft *draft, const struct node *storages, const struct node *arithmetic);

/*
 * `has_power_gating` of a node, as Timeloop's front end has it: the next level inwards, or the
 * fan-out before it, is where that level and all inside are switched off.
 */
void arch_nodes_gate(struct arch_draft *draft);

/* The roles that levels have for graphs and einsums (model/machine/arch_read.h), and the rates of
 * computes that say none.  Complains about contradictions if there were only
 * `errors` before. */
void arch_roles_find(struct arch_draft *draft, size_t errors);

/*
 * Readers of the `attributes:` of one node, by the kind of its level.  Rates are kept per cycle,
 * overheads in cycles; a clock of 0 is not known, and refuses what is per second.
 */

/* `clock`, or Timeloop's `global_cycle_seconds`; false if neither is there or it is wrong. */
bool attributes_clock(struct reader *attributes, struct ratio *hertz);

/* Marks of their rows. */
enum {
	ATTRIBUTE_OWN = 1 << 0,      /* of the node that has it, not of those inside */
	ATTRIBUTE_ACCEPTED = 1 << 1, /* it may stand anywhere, for Accelergy */
	ATTRIBUTE_UNPRICED =
		1 << 2, /* Timeloop prices wires, routers' tiles and address generators with it */
};

/* The tables of their rows: of the machine, of a storage, of a compute, of any level; all four.  Those of networks
 * are of storages and containers. */
extern const struct noun machine_noun, storage_noun, compute_noun, any_level_noun, attributes_noun;
extern const struct noun network_energies_noun;

/* Parts of those tables that are read at other times: the clock of a machine, into a struct clock_form each; the level
 * with which one is switched off, into a struct level; and whether what is inside is. */
struct clock_form {
	struct ratio hertz; /* 0: not given */
	double seconds;     /* of a cycle; NAN: not given */
};
extern const struct noun clock_noun, seconds_noun, gated_noun, gating_noun;

/* The instances of a level of the older forms, among its attributes; 0: not given. */
struct mesh_form {
	int64_t instances, x, y;
};
extern const struct noun mesh_noun;

/* The keys of a level of the first form. */
extern const struct noun flat_noun;

/* The keys of a node of the tree. */
extern const struct noun node_noun;

/* Attributes of a container that concern the machine as a whole. */
void attributes_machine(struct reader *attributes, struct arch *arch);

/* Attributes of levels. */
void attributes_storage(struct reader *attributes, const struct arch *arch, struct level *level);
void attributes_compute(struct reader *attributes, struct level *level);

/* True if the clock is known, as an attribute in seconds needs it; complains. */
bool attributes_timed(struct reader *attributes, const char *key, struct ratio clock_hz);

/* Cycles of a time that a key gives, which needs a clock; false after complaining. */
bool attributes_cycles(struct reader *attributes, const char *key, struct ratio nanoseconds,
	struct ratio clock_hz, struct ratio *cycles);

/* Bytes per cycle: a rate in bytes per second, or a bare number of words per cycle. */
bool attributes_bandwidth(struct reader *attributes, const char *key, struct ratio clock_hz,
	int64_t word_bits, struct ratio *out);

/* True if the value of a key has a unit. */
bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key);

/*
 * Spellings of the attributes of a level in Timeloop's and Accelergy's files.  Versions
 * 0.1 to 0.4 have several words for one thing (`word-bits`, `word_bits`,
 * `datawidth`; `memory_depth`, `depth`); read here are the names of 0.4.  Of several that are given the one
 * that Timeloop reads first counts (buffer.cpp, BufferLevel::ParseSpecs).
 */

/* True if a key says something of the machine as a whole, which only its containers do. */
bool arch_key_of_machine(const char *key);

/* Opens a level's attributes under their 0.4 names, with what the containers of the draft's scope
 * say beside them, inner ones first.  Their values may use each other.  `own` may be NULL. */
void arch_keys_open(struct arch_draft *draft, const struct node *own, const char *what,
	struct span span, struct reader *attributes);

/* Attributes that arithmetic has used are of use under any name. */
void arch_keys_settle(struct arch_draft *draft, const struct reader *attributes);

/*
 * Closes the reader of such a map: misspelt keys are errors, all others that nothing reads become
 * strangers.  What containers say is theirs until no level inside reads it: close their readers last.
 * `own` is the map without what is inherited; it may be NULL.
 */
void arch_keys_done(struct arch_draft *draft, struct reader *attributes, const struct node *own);

/* All strangers go into the run's note. */
void arch_keys_note(const struct arch_draft *draft);

/* True if a key is an attribute that levels read, in any of its spellings. */
bool arch_keys_known(const char *key);

#endif
