#include "model/machine/arch_draft.h"

#include "base/text.h"
#include "model/machine/arch_keys.h"

#include <string.h>

/* Where a node stands: in branch `branch` of !Parallel number `parallel`, or on the path. */
struct node_place {
	int parallel, branch;
	bool direct; /* itself the branch */
};

enum tag { CONTAINER, COMPONENT, PARALLEL, PIPELINED, NOTHING, HIERARCHICAL, ELEMENT, TAGS };

/* The front end's first versions called a component an element. */
static const char *const tags[] = {"!Container", "!Component", "!Parallel", "!Pipelined",
	"!Nothing", "!Hierarchical", "!Element", NULL};

static enum tag read_tag(struct arch_draft *draft, const struct node *node)
{
	const char *tag = node->tag ? node->tag : "";
	for (int t = 0; t < TAGS; t++)
		if (text_equal(tag, tags[t]))
			return t == ELEMENT ? COMPONENT : (enum tag)t;
	const char *near = suggest(tag, tags);
	if (near)
		WRONG(draft, node->span, "unknown tag '%s'; did you mean '%s'?", tag, near);
	else
		WRONG(draft, node->span, "a node of an architecture is !Container or !Component");
	return TAGS;
}

/* Attributes of the level may stand in its meshes. */
static void read_fanout(struct arch_draft *draft, struct arch_entry *entry,
	const struct node *spatial, struct level *level)
{
	struct reader mesh;
	if (!spatial || !reader_open(&mesh, entry->attributes.reading, spatial, entry->node.what))
		return;
	mesh.what = entry->node.what;
	read_integer(&mesh, "meshX", OPTIONAL, 1, INT32_MAX, &level->fanout_x);
	read_integer(&mesh, "meshY", OPTIONAL, 1, INT32_MAX, &level->fanout_y);
	reader_done(&mesh);
	arch_keys_settle(draft, &entry->attributes);
}

static void read_class(struct arch_draft *draft, struct reader *node, struct level *level)
{
	level->device = "";
	if (!read_text(node, "class", REQUIRED, &level->device))
		return;
	struct span span = node_find(node->map, "class")->span;
	switch (arch_class(level->device)) {
	case CLASS_STORAGE:
		level->kind = LEVEL_STORAGE;
		break;
	case CLASS_COMPUTE:
		level->kind = LEVEL_COMPUTE;
		break;
	case CLASS_DUMMY:
		level->kind = LEVEL_CONTAINER;
		break;
	case CLASS_NETWORK:
		diag_warning(draft->reading->diag, span,
			"a '%s' is a network, and data moves over Timeloop's default one: "
			"'%s' is left out of the machine",
			level->device, level->name);
		level->kind = LEVEL_CONTAINER;
		level->device = NULL;
		break;
	case CLASS_UNKNOWN:
		WRONG(draft, span,
			"class '%s' shows neither storage (DRAM, SRAM, regfile, ...) nor compute "
			"(mac, array, ...)",
			level->device);
	}
}

/* `enabled: false` takes a node out. */
static bool is_enabled(struct arch_draft *draft, const struct node *item)
{
	struct reader node;
	bool enabled = true;
	if (!reader_open(&node, draft->reading, item, "level"))
		return true;
	read_bool(&node, "enabled", OPTIONAL, &enabled);
	return enabled;
}

/* What only Timeloop's files have. */
static void read_beside(struct reader *node, struct level *level)
{
	read_node(node, "enabled", OPTIONAL);
	read_node(node, "subclass", OPTIONAL);
	read_node(node, "required_actions", OPTIONAL);
	read_node(node, "area_share", OPTIONAL);
	level->constraints = read_map(node, "constraints", OPTIONAL);
}

/* The older form counts instances among the attributes and in names. */
static void refuse_meshes(
	struct arch_draft *draft, const struct node *own, const struct level *level)
{
	static const char *const keys[] = {"meshX", "meshY", "instances", NULL};
	for (int k = 0; keys[k]; k++) {
		int i = node_index(own, keys[k]);
		if (i >= 0)
			WRONG(draft, own->entries[i].key_span,
				"'%s' stands among the attributes of level '%s'; a fan-out is "
				"written 'spatial: {meshX: 4, meshY: 2}' beside them",
				keys[k], level->name);
	}
}

static void open_attributes(struct arch_draft *draft, struct arch_entry *entry,
	const struct level *level, bool container)
{
	const struct node *own = entry->own = arch_keys_own(&entry->node);
	arch_keys_open(draft, own, entry->node.what, level->span, &entry->attributes);
	if (!own)
		return;
	*array_add(draft->reading->arena, &draft->clocks) =
		(struct clock_map){own, entry->node.what};
	if (container)
		*array_add(draft->reading->arena, &draft->scope) = own;
	refuse_meshes(draft, own, level);
}

static bool open_list(struct arch_draft *draft, const struct node *list, struct node_place place);

static bool open_children(struct arch_draft *draft, struct reader *node, struct node_place place)
{
	const struct node *list = read_list(node, "nodes", REQUIRED);
	return list && open_list(draft, list, place);
}

/* A container or a component, everything but what its attributes mean. */
static bool open_level(
	struct arch_draft *draft, const struct node *item, bool container, struct node_place place)
{
	if (!is_enabled(draft, item))
		return true;
	int r = arch_draft_add(draft, item->span);
	if (r < 0)
		return true;
	struct arch_entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	if (!reader_open(&entry->node, draft->reading, item, "level")) {
		draft->arch->level_count = r;
		return false;
	}
	level->kind = container ? LEVEL_CONTAINER : LEVEL_STORAGE;
	level->parallel = place.parallel;
	level->branch = place.branch;
	const char *name;
	if (read_text(&entry->node, "name", REQUIRED, &name)) {
		arch_draft_name(draft, r, name, node_find(item, "name")->span);
		if (strchr(name, '['))
			WRONG(draft, node_find(item, "name")->span,
				"'%s' has a range in its name; a fan-out is written 'spatial: "
				"{meshX: 4, meshY: 2}' here",
				name);
	}
	if (!container)
		read_class(draft, &entry->node, level);
	const struct node *spatial = read_map(&entry->node, "spatial", OPTIONAL);
	open_attributes(draft, entry, level, container);
	read_fanout(draft, entry, spatial, level);
	if (place.parallel && level->fanout_x * level->fanout_y > 1)
		WRONG(draft, spatial->span,
			"level '%s' fans out inside a !Parallel; fan out around it", level->name);
	read_beside(&entry->node, level);
	return !container || !node_find(item, "nodes") ||
	       open_children(draft, &entry->node,
		       (struct node_place){place.parallel, place.branch, false});
}

static bool open_nothing(struct arch_draft *draft, const struct node *item, struct node_place place)
{
	struct reader node;
	const char *name;
	if (!place.direct) {
		WRONG(draft, item->span, "!Nothing is a branch of a !Parallel");
		return false;
	}
	if (item->kind == NODE_SCALAR && !*item->text)
		return true;
	if (!reader_open(&node, draft->reading, item, "!Nothing"))
		return false;
	read_text(&node, "name", OPTIONAL, &name);
	read_node(&node, "class", OPTIONAL);
	const struct node *constraints = read_map(&node, "constraints", OPTIONAL);
	reader_done(&node);
	if (draft->arch->nothing_count < ARCH_LEVELS_MOST)
		draft->arch->nothings[draft->arch->nothing_count++] =
			(struct nothing){place.parallel, place.branch, constraints, item->span};
	return true;
}

static bool open_parallel(
	struct arch_draft *draft, const struct node *item, struct node_place place)
{
	struct reader node;
	const char *name;
	if (place.parallel) {
		WRONG(draft, item->span, "a !Parallel inside a !Parallel is not read");
		return false;
	}
	if (!reader_open(&node, draft->reading, item, "!Parallel"))
		return false;
	const struct node *list = read_list(&node, "nodes", REQUIRED);
	read_text(&node, "name", OPTIONAL, &name);
	reader_done(&node);
	bool good = list != NULL;
	int parallel = ++draft->parallel_count;
	for (size_t i = 0; list && i < list->count; i++) {
		const struct node *const branch[] = {list->items[i]};
		struct node alone = *list;
		size_t scope = draft->scope.count;
		alone.items = branch;
		alone.count = 1;
		good &= open_list(draft, &alone, (struct node_place){parallel, (int)i, true});
		draft->scope.count = scope;
	}
	return good;
}

static bool open_group(struct arch_draft *draft, const struct node *item, struct node_place place)
{
	struct reader node;
	const char *name;
	if (!reader_open(&node, draft->reading, item, item->tag))
		return false;
	read_text(&node, "name", OPTIONAL, &name);
	bool good = open_children(
		draft, &node, (struct node_place){place.parallel, place.branch, false});
	reader_done(&node);
	return good;
}

static bool open_list(struct arch_draft *draft, const struct node *list, struct node_place place)
{
	bool good = true;
	for (size_t i = 0; i < list->count; i++) {
		const struct node *item = list->items[i];
		enum tag tag = read_tag(draft, item);
		switch (tag) {
		case CONTAINER:
		case COMPONENT:
			good &= open_level(draft, item, tag == CONTAINER, place);
			break;
		case PARALLEL:
			good &= open_parallel(draft, item, place);
			break;
		case NOTHING:
			good &= open_nothing(draft, item, place);
			break;
		case PIPELINED:
		case HIERARCHICAL:
			good &= open_group(draft, item, place);
			break;
		case ELEMENT:
		case TAGS:
			good = false;
		}
		if (tag == CONTAINER && node_find(item, "nodes") && i + 1 < list->count &&
			!place.direct) {
			WRONG(draft, list->items[i + 1]->span,
				"this stands beside a container that has its levels under 'nodes'; "
				"the levels of an architecture are one path");
			good = false;
		}
	}
	return good;
}

bool arch_nodes_open(struct arch_draft *draft, const struct node *list)
{
	return open_list(draft, list, (struct node_place){0});
}

void arch_nodes_gate(struct arch_draft *draft)
{
	const char *gate = NULL;
	bool next = false;
	for (int r = 0; r < draft->arch->level_count; r++) {
		struct arch_entry *entry = &draft->entries[r];
		struct level *level = &draft->arch->levels[r];
		bool gates = false;
		read_bool(&entry->attributes, "has_power_gating", OPTIONAL, &gates);
		if (level->fanout_x * level->fanout_y > 1) {
			if (next)
				gate = arena_format(
					draft->reading->arena, "inter_%s_spatial", level->name);
			next = gates;
		}
		if (level->kind == LEVEL_CONTAINER)
			continue;
		if (next)
			gate = level->name;
		next = gates;
		if (!level->gated_at)
			level->gated_at = gate;
	}
}
