#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch_draft.h"
#include "spec/field.h"

#include <stdlib.h>
#include <string.h>

/* The place of a node: in branch `branch` of !Parallel number `parallel`, or on the path. */
struct node_place {
	int parallel, branch;
	bool direct; /* itself the branch */
};

static const struct field spatial_fields[] = {
	{"meshX", FIELD_WHOLE, "instances along X", .usual = "1", INTO(struct level, fanout.x),
		.least = 1, .most = INT32_MAX},
	{"meshY", FIELD_WHOLE, "instances along Y", .usual = "1", INTO(struct level, fanout.y),
		.least = 1, .most = INT32_MAX},
	{0},
};
static const struct noun spatial_noun = {.name = "spatial", .fields = spatial_fields};

/* A node is a container, a component, a branch without levels, or a group of branches or levels; in the older form a
 * component or a tree.  Levels may be switched off. */
enum node_form {
	NODE_CONTAINER = 1 << 0,
	NODE_COMPONENT = 1 << 1,
	NODE_NOTHING = 1 << 2,
	NODE_GROUP = 1 << 3,
	NODE_LOCAL = 1 << 4,
	NODE_SUBTREE = 1 << 5,
	NODE_LEVELS = NODE_CONTAINER | NODE_COMPONENT | NODE_LOCAL,
	NODE_SWITCH = 1 << 6,
};

static const struct field node_fields[] = {
	{"name", FIELD_TEXT, "of the level, unique in the machine", .read = field_read_filled,
		.needed = NODE_LEVELS, INTO(struct node_parts, name)},
	{"class", FIELD_TEXT, "DRAM, SRAM, regfile, .. store; mac, array, alu, .. compute",
		.forms = NODE_COMPONENT | NODE_LOCAL | NODE_NOTHING,
		.needed = NODE_COMPONENT | NODE_LOCAL, INTO(struct node_parts, device)},
	{"subclass", FIELD_TEXT, .forms = NODE_LEVELS, .read = field_skip},
	{"attributes", FIELD_MAP, .noun = &attributes_noun, .forms = NODE_LEVELS | NODE_SUBTREE,
		.read = field_read_filled, KEEP(struct node_parts, attributes)},
	{"spatial", FIELD_MAP, "the fan-out", .noun = &spatial_noun,
		.forms = NODE_CONTAINER | NODE_COMPONENT, KEEP(struct node_parts, spatial)},
	{"constraints", FIELD_MAP, "constraints of every mapping",
		.forms = NODE_CONTAINER | NODE_COMPONENT | NODE_NOTHING,
		KEEP(struct node_parts, constraints)},
	{"sources", FIELD_SENTENCES, "where each attribute comes from", .noun = &attributes_noun,
		.forms = NODE_LEVELS, KEEP(struct node_parts, sources)},
	{"free", FIELD_MAP, "attributes that calibrate may move: [least, most]",
		.forms = NODE_LEVELS, .read = field_check},
	{"enabled", FIELD_FLAG, "false takes the node out", .forms = NODE_SWITCH,
		INTO(struct node_parts, enabled)},
	{"required_actions", FIELD_ANY, .forms = NODE_LEVELS, .read = field_skip},
	{"area_share", FIELD_ANY, .forms = NODE_LEVELS, .read = field_skip},
	{"sparse_optimizations", FIELD_ANY, .forms = NODE_LEVELS,
		KEEP_ANY(struct node_parts, sparse)},
	{"nodes", FIELD_MAP, .shape = SHAPE_LIST, .noun = &node_noun,
		.forms = NODE_CONTAINER | NODE_GROUP, .needed = NODE_GROUP,
		KEEP(struct node_parts, nodes)},
	{"local", FIELD_MAP, .shape = SHAPE_LIST, .noun = &node_noun, .forms = NODE_SUBTREE,
		KEEP(struct node_parts, local)},
	{"subtree", FIELD_MAP, .shape = SHAPE_LIST, .noun = &node_noun, .forms = NODE_SUBTREE,
		KEEP(struct node_parts, subtree)},
	{0},
};
const struct noun node_noun = {.name = "node", .fields = node_fields, .also = "string null"};

/* Reads a node in one of its forms, of a node that is switched off nothing else; false after complaining if it is
 * not a map. */
static bool open_node(const struct arch_draft *draft, const struct node *item, const char *what,
	unsigned form, struct arch_entry *entry)
{
	*entry = (struct arch_entry){.parts.enabled = true};
	if (!noun_open(&entry->node, draft->reading, item, what, &node_noun))
		return false;
	if (form & NODE_LEVELS)
		fields_read_form(&entry->node, &node_noun, NODE_SWITCH, &entry->parts, NULL);
	if (entry->parts.enabled)
		fields_read_form(&entry->node, &node_noun, form, &entry->parts, NULL);
	return true;
}

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
	if (!spatial || !noun_open(&mesh, entry->attributes.reading, spatial, entry->node.what,
				&spatial_noun))
		return;
	mesh.what = entry->node.what;
	fields_read(&mesh, &spatial_noun, level, NULL);
	reader_done(&mesh);
	arch_keys_settle(draft, &entry->attributes);
}

static void take_class(
	struct arch_draft *draft, const struct arch_entry *entry, struct level *level)
{
	level->device = entry->parts.device ? entry->parts.device : "";
	if (!entry->parts.device)
		return;
	struct span span = node_find(entry->node.map, "class")->span;
	switch (arch_class(level->device)) {
	case CLASS_STORAGE:
		level_set_kind(level, LEVEL_STORAGE);
		break;
	case CLASS_COMPUTE:
		level_set_kind(level, LEVEL_COMPUTE);
		break;
	case CLASS_DUMMY:
		level_set_kind(level, LEVEL_CONTAINER);
		break;
	case CLASS_NETWORK:
		diag_warning(draft->reading->diag, span,
			"a '%s' is a network, and data moves over Timeloop's default one: "
			"'%s' is left out of the machine",
			level->device, level->name);
		level_set_kind(level, LEVEL_CONTAINER);
		level->device = NULL;
		break;
	case CLASS_UNKNOWN:
		WRONG(draft, span,
			"class '%s' shows neither storage (DRAM, SRAM, regfile, ...) nor compute "
			"(mac, array, ...)",
			level->device);
	}
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
	const struct node *own = entry->own = entry->parts.attributes;
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

/* A container or a component, everything but what its attributes mean. */
static bool open_level(
	struct arch_draft *draft, const struct node *item, bool container, struct node_place place)
{
	struct arch_entry read;
	if (!open_node(draft, item, "level", container ? NODE_CONTAINER : NODE_COMPONENT, &read))
		return false;
	int r = read.parts.enabled ? arch_draft_add(draft, item->span) : -1;
	if (r < 0)
		return true;
	struct arch_entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	const struct node_parts *parts = &entry->parts;
	*entry = read;
	level_set_kind(level, container ? LEVEL_CONTAINER : LEVEL_STORAGE);
	level->parallel = place.parallel;
	level->branch = place.branch;
	level->constraints = parts->constraints;
	if (parts->name) {
		struct span span = node_find(item, "name")->span;
		arch_draft_name(draft, r, parts->name, span);
		if (strchr(parts->name, '['))
			WRONG(draft, span,
				"'%s' has a range in its name; a fan-out is written 'spatial: "
				"{meshX: 4, meshY: 2}' here",
				parts->name);
	}
	if (!container)
		take_class(draft, entry, level);
	open_attributes(draft, entry, level, container);
	read_fanout(draft, entry, parts->spatial, level);
	if (place.parallel && fanout_count(&level->fanout) > 1)
		WRONG(draft, parts->spatial->span,
			"level '%s' fans out inside a !Parallel; fan out around it", level->name);
	return !parts->nodes || open_list(draft, parts->nodes,
					(struct node_place){place.parallel, place.branch, false});
}

static bool open_nothing(struct arch_draft *draft, const struct node *item, struct node_place place)
{
	struct arch_entry entry;
	if (!place.direct) {
		WRONG(draft, item->span, "!Nothing is a branch of a !Parallel");
		return false;
	}
	if (item->kind == NODE_SCALAR && !*item->text)
		return true;
	if (!open_node(draft, item, "!Nothing", NODE_NOTHING, &entry))
		return false;
	reader_done(&entry.node);
	if (draft->arch->nothing_count < ARCH_LEVELS_MOST)
		draft->arch->nothings[draft->arch->nothing_count++] = (struct nothing){
			place.parallel, place.branch, entry.parts.constraints, item->span};
	return true;
}

static bool open_parallel(
	struct arch_draft *draft, const struct node *item, struct node_place place)
{
	struct arch_entry entry;
	if (place.parallel) {
		WRONG(draft, item->span, "a !Parallel inside a !Parallel is not read");
		return false;
	}
	if (!open_node(draft, item, "!Parallel", NODE_GROUP, &entry))
		return false;
	reader_done(&entry.node);
	const struct node *list = entry.parts.nodes;
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
	struct arch_entry entry;
	if (!open_node(draft, item, item->tag, NODE_GROUP, &entry))
		return false;
	reader_done(&entry.node);
	return entry.parts.nodes &&
	       open_list(draft, entry.parts.nodes,
		       (struct node_place){place.parallel, place.branch, false});
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

struct gating_form {
	bool gates;
};

static const struct field gating_fields[] = {
	{"has_power_gating", FIELD_FLAG, "what is inside is switched off together with it",
		.usual = "false", .spellings = "has_power_gating",
		.marks = ATTRIBUTE_OWN | ATTRIBUTE_ACCEPTED, INTO(struct gating_form, gates)},
	{0},
};
const struct noun gating_noun = {.name = "gating", .fields = gating_fields};

void arch_nodes_gate(struct arch_draft *draft)
{
	const char *gate = NULL;
	bool next = false;
	for (int r = 0; r < draft->arch->level_count; r++) {
		struct arch_entry *entry = &draft->entries[r];
		struct level *level = &draft->arch->levels[r];
		struct gating_form form = {false};
		fields_read(&entry->attributes, &gating_noun, &form, NULL);
		if (fanout_count(&level->fanout) > 1) {
			if (next)
				gate = arena_format(
					draft->reading->arena, "inter_%s_spatial", level->name);
			next = form.gates;
		}
		if (level->kind == LEVEL_CONTAINER)
			continue;
		if (next)
			gate = level->name;
		next = form.gates;
		if (!level->gated_at)
			level->gated_at = gate;
	}
}

/*
 * The older form, which Timeloop's own parser reads: `subtree:` nests, `local:`
 * lists the components of one step, outermost first.  `PE[0..13]` makes fourteen
 * of everything inside.  `meshX` and `meshY` of a component count its instances
 * in the whole machine; what a level fans out into is the ratio to the level outside.
 */
enum { MERGED_LISTED = 200 }; /* bytes of a list of keys */

/* A component of a subtree. */
struct tree_local {
	struct arch_entry entry;
	const char *name; /* without its range */
	int64_t instances;
	enum level_class kind;
};

struct tree_reading {
	struct arch_draft *draft;
	struct array(struct tree_local)
		computes;       /* innermost wherever they are listed: they wait for the end */
	bool flat;              /* every level says itself how many instances it has */
	bool has_multiplier;    /* a component has a class that Timeloop takes for multipliers */
	int64_t copies;         /* of what is in the subtree that is read */
	int64_t mesh_x, mesh_y; /* of the last level */
	const char *outside;    /* its name */
};

/* A number of a range, and what follows it and blanks; -1 if there is none. */
static int64_t arch_tree_take_number(const char **text)
{
	char *end;
	*text += strspn(*text, " ");
	if (**text < '0' || **text > '9')
		return -1;
	long long n = strtoll(*text, &end, 10);
	*text = end + strspn(end, " ");
	return n <= INT32_MAX ? n : -1;
}

/* "PE[0..13]" is PE, 14 times. */
static bool arch_tree_scan_name(struct tree_reading *tree, const struct node *node,
	const char *text, const char **name, int64_t *copies)
{
	size_t length = strcspn(text, "[");
	const char *at = text + length;
	size_t end = length;
	while (end > 0 && text[length] && text[end - 1] == ' ')
		end--;
	*name = arena_format(tree->draft->reading->arena, "%.*s", (int)end, text);
	*copies = 1;
	if (!*at)
		return true;
	at++;
	int64_t first = arch_tree_take_number(&at), last = -1;
	bool dots = strncmp(at, "..", 2) == 0;
	if (first >= 0 && dots) {
		at += 2;
		last = arch_tree_take_number(&at);
	}
	if (last >= first && first >= 0 && text_equal(at, "]")) {
		*copies = last - first + 1;
		return true;
	}
	if (first >= 0 && !dots && text_equal(at, "]")) {
		diag_warning(tree->draft->reading->diag, node->span,
			"'%s' is one '%s', as in Timeloop; '%s[1..4]' are four", text, *name,
			*name);
		return true;
	}
	WRONG(tree->draft, node->span,
		"'%s' is not a name with a range; write '%s[1..4]' or '%s[0..3]' for four of them",
		text, *name, *name);
	return false;
}

#define OF_MESH(member) INTO(struct mesh_form, member), .least = 1, .most = INT32_MAX

static const struct field mesh_fields[] = {
	{"instances", FIELD_WHOLE, .marks = ATTRIBUTE_OWN, OF_MESH(instances)},
	{"meshX", FIELD_WHOLE, .marks = ATTRIBUTE_OWN, OF_MESH(x)},
	{"meshY", FIELD_WHOLE, .marks = ATTRIBUTE_OWN, OF_MESH(y)},
	{0},
};
const struct noun mesh_noun = {.name = "mesh", .fields = mesh_fields};

/* meshX, meshY and the instances must agree; what is missing follows from the others. */
static bool read_mesh(struct tree_reading *tree, struct reader *map, int64_t instances,
	const struct level *level, int64_t *x, int64_t *y)
{
	struct mesh_form form = {0};
	fields_read(map, &mesh_noun, &form, NULL);
	bool by_x = form.x, by_y = form.y;
	*x = by_x ? form.x : *x;
	*y = by_y ? form.y : *y;
	if (form.instances)
		instances = form.instances;
	else if (tree->flat)
		instances = *x * *y;
	int64_t given = by_x ? *x : by_y ? *y : 1;
	if (by_x && by_y && *x * *y != instances) {
		WRONG(tree->draft, level->span,
			"level '%s' has %lld instances, its mesh %lld x %lld; name it '%s[1..%lld]'",
			level->name, (long long)instances, (long long)*x, (long long)*y,
			level->name, (long long)(*x * *y));
		return false;
	}
	if (instances % given) {
		WRONG(tree->draft, level->span,
			"level '%s' has %lld instances, no multiple of '%s' %lld", level->name,
			(long long)instances, by_x ? "meshX" : "meshY", (long long)given);
		return false;
	}
	if (!by_x)
		*x = instances / given;
	if (!by_y)
		*y = instances / *x;
	return true;
}

/* Reads the fan-out of a level over the one outside it; a wrong level is skipped. */
static void read_tree_fanout(
	struct tree_reading *tree, struct reader *map, int64_t instances, struct level *level)
{
	int64_t x = 1, y = 1;
	if (!read_mesh(tree, map, instances, level, &x, &y))
		return;
	if (x % tree->mesh_x || y % tree->mesh_y) {
		WRONG(tree->draft, level->span,
			"level '%s' has a mesh of %lld x %lld, no multiple of the %lld x %lld of "
			"'%s' around it",
			level->name, (long long)x, (long long)y, (long long)tree->mesh_x,
			(long long)tree->mesh_y, tree->outside);
		return;
	}
	level->fanout.x = x / tree->mesh_x;
	level->fanout.y = y / tree->mesh_y;
	tree->mesh_x = x;
	tree->mesh_y = y;
	tree->outside = level->name;
}

static void arch_tree_leave_out(struct tree_reading *tree, const struct node *item,
	const struct node_parts *parts, const char *why)
{
	diag_warning(tree->draft->reading->diag, node_find(item, "class")->span,
		"a '%s' %s: '%s' is left out of the machine", parts->device, why, parts->name);
}

/* False for a component that is not a level. */
static bool take_tree_class(
	struct tree_reading *tree, const struct arch_entry *entry, enum level_class *kind)
{
	static const char *const words[] = {"DRAM", "SRAM", "regfile", "smartbuffer", "storage",
		"smartbuffer_SRAM", "smartbuffer_RF", "mac", "intmac", "fpmac", "compute",
		"dummy_storage", NULL};
	const struct node *item = entry->node.map;
	const char *device = entry->parts.device, *near = NULL;
	if (!device)
		return false;
	switch (arch_class_in_tree(device)) {
	case CLASS_STORAGE:
		*kind = LEVEL_STORAGE;
		return true;
	case CLASS_COMPUTE:
		*kind = LEVEL_COMPUTE;
		if (!tree->has_multiplier || arch_class_multiplies(device))
			return true;
		arch_tree_leave_out(tree, item, &entry->parts,
			"beside multipliers is not a level, as in Timeloop");
		return false;
	case CLASS_DUMMY:
		*kind = LEVEL_CONTAINER;
		return true;
	case CLASS_NETWORK:
		arch_tree_leave_out(tree, item, &entry->parts,
			"is a network, and data moves over Timeloop's default one");
		return false;
	case CLASS_UNKNOWN:
		near = suggest_misspelt(device, words);
	}
	if (near)
		WRONG(tree->draft, node_find(item, "class")->span,
			"unknown class '%s'; did you mean '%s'?", device, near);
	else
		arch_tree_leave_out(tree, item, &entry->parts, "neither stores nor computes");
	return false;
}

/* Timeloop's own parser, which reads this form, knows no `<<`: what it would bring has its default. */
static const struct node *without_merged(
	struct tree_reading *tree, const struct node *own, const char *what)
{
	struct arena *arena = tree->draft->reading->arena;
	struct text list = text_open(arena);
	struct node_entry *entries = arena_array(arena, struct node_entry, own ? own->count : 0);
	size_t count = 0;
	for (size_t i = 0; own && i < own->count; i++) {
		if (!own->entries[i].merged)
			entries[count++] = own->entries[i];
		else if (list.length < MERGED_LISTED)
			text_add(&list, "%s'%s'", list.length ? ", " : "", own->entries[i].key);
	}
	if (!own || count == own->count)
		return own;
	diag_warning(tree->draft->reading->diag, own->span,
		"in the 'subtree:' form Timeloop does not apply '<<': %s of %s %s not given; write "
		"%s out",
		text_read(&list), what, own->count - count > 1 ? "are" : "is",
		own->count - count > 1 ? "them" : "it");
	struct node *map = arena_copy(arena, own, sizeof *own);
	map->entries = entries;
	map->count = count;
	map->index = NULL;
	return map;
}

/* Adds a level with its own attributes. */
static void add_level(
	struct tree_reading *tree, const struct tree_local *local, const struct node *own)
{
	struct arch_draft *draft = tree->draft;
	const struct reader *node = &local->entry.node;
	struct span span = node->map->span;
	int r = arch_draft_add(draft, span);
	if (r < 0)
		return;
	struct arch_entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	const struct node *named = node_find(node->map, "name");
	*entry = local->entry;
	level_set_kind(level, local->kind);
	level->device = local->entry.parts.device;
	arch_draft_name(draft, r, local->name, named ? named->span : span);
	if (own)
		*array_add(draft->reading->arena, &draft->clocks) =
			(struct clock_map){own, node->what};
	entry->own = own;
	arch_keys_open(draft, own, node->what, span, &entry->attributes);
	read_tree_fanout(tree, &entry->attributes, local->instances, level);
}

/* True if a key of a component stands beside its attributes; other forms have attributes among these keys. */
static bool is_of_component(const char *key)
{
	return noun_has(&node_noun, key) || text_equal(key, "comment");
}

/* Without `attributes` Timeloop looks for them in the component itself. */
static const struct node *attributes_of(struct tree_reading *tree, struct arch_entry *entry)
{
	struct arena *arena = tree->draft->reading->arena;
	const struct node *item = entry->node.map;
	struct node *parts[2];
	bool inside = false;
	for (size_t i = 0; i < item->count; i++)
		inside |= arch_keys_known(item->entries[i].key);
	if (!inside || node_find(item, "attributes"))
		return without_merged(tree, entry->parts.attributes, entry->node.what);
	for (int own = 0; own < 2; own++) {
		struct node *part = parts[own] = arena_copy(arena, item, sizeof *item);
		struct node_entry *entries = arena_array(arena, struct node_entry, item->count);
		part->count = 0;
		part->index = NULL;
		for (size_t i = 0; i < item->count; i++)
			if (is_of_component(item->entries[i].key) == !own)
				entries[part->count++] = item->entries[i];
		part->entries = entries;
	}
	entry->node.map = parts[0];
	return without_merged(tree, parts[1], entry->node.what);
}

static void add_local(struct tree_reading *tree, struct tree_local *local)
{
	add_level(tree, local, attributes_of(tree, &local->entry));
}

static void open_local(struct tree_reading *tree, const struct node *item)
{
	struct arch_draft *draft = tree->draft;
	struct tree_local local;
	struct arch_entry *entry = &local.entry;
	int64_t copies;
	if (!open_node(draft, item, "level", NODE_LOCAL, entry) || !entry->parts.name ||
		!arch_tree_scan_name(
			tree, node_find(item, "name"), entry->parts.name, &local.name, &copies))
		return;
	entry->node.what = arena_format(draft->reading->arena, "level '%s'", local.name);
	if (!take_tree_class(tree, entry, &local.kind))
		return;
	if (!number_mul(tree->copies, copies, &local.instances) || local.instances > INT32_MAX) {
		WRONG(draft, item->span, "level '%s' has too many instances", local.name);
		local.instances = 1;
	}
	if (local.kind == LEVEL_COMPUTE)
		*array_add(draft->reading->arena, &tree->computes) = local;
	else
		add_local(tree, &local);
}

/* Attributes of a subtree say nothing to its levels: Timeloop passes them by. */
static void read_attributes(
	struct tree_reading *tree, const struct node *attributes, const char *what)
{
	struct arch_draft *draft = tree->draft;
	struct reader map;
	if (!attributes)
		return;
	arch_keys_open(draft, attributes, what, attributes->span, &map);
	fields_mark(&map, &gated_noun);
	*array_add(draft->reading->arena, &draft->subtrees) =
		(struct arch_entry){.attributes = map, .own = attributes};
	*array_add(draft->reading->arena, &draft->clocks) = (struct clock_map){map.map, what};
}

static void open_subtree(struct tree_reading *tree, const struct node *list)
{
	struct arch_draft *draft = tree->draft;
	struct arch_entry entry;
	const struct node_parts *parts = &entry.parts;
	const char *name = "";
	int64_t copies = 1;
	if (list->count != 1) {
		WRONG(draft, list->span,
			"a 'subtree' has one branch, not %zu: the levels of an architecture are one "
			"path",
			list->count);
		return;
	}
	if (!open_node(draft, list->items[0], "subtree", NODE_SUBTREE, &entry))
		return;
	if (parts->name)
		arch_tree_scan_name(
			tree, node_find(list->items[0], "name"), parts->name, &name, &copies);
	if (!number_mul(tree->copies, copies, &tree->copies) || tree->copies > INT32_MAX) {
		WRONG(draft, entry.node.map->span, "'%s' has too many instances", name);
		tree->copies = 1;
	}
	if (!draft->arch->name && *name)
		draft->arch->name = name;
	read_attributes(tree, parts->attributes, entry.node.what);
	reader_done_lenient(&entry.node);
	for (size_t i = 0; parts->local && i < parts->local->count; i++)
		open_local(tree, parts->local->items[i]);
	if (parts->subtree)
		open_subtree(tree, parts->subtree);
}

static bool has_multiplier(const struct node *list)
{
	bool found = false;
	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->count && !found; i++) {
		const struct node *item = list->items[i], *class = node_find(item, "class");
		found = (class && class->kind == NODE_SCALAR &&
				arch_class_multiplies(class->text)) ||
			has_multiplier(node_find(item, "local")) ||
			has_multiplier(node_find(item, "subtree"));
	}
	return found;
}

bool arch_tree_open(struct arch_draft *draft, const struct node *list)
{
	struct tree_reading tree = {.draft = draft,
		.has_multiplier = has_multiplier(list),
		.copies = 1,
		.mesh_x = 1,
		.mesh_y = 1};
	size_t errors = diag_errors(draft->reading->diag);
	draft->arch->tree = true;
	open_subtree(&tree, list);
	for (size_t i = 0; i < tree.computes.count; i++)
		add_local(&tree, &tree.computes.at[i]);
	return diag_errors(draft->reading->diag) == errors;
}

/* A level of the oldest form has its name and its technology among the attributes. */
enum { FLAT_STORAGE = 1 << 0, FLAT_COMPUTE = 1 << 1 };

struct flat_form {
	const char *name, *technology;
};

static const struct field flat_fields[] = {
	{"name", FIELD_TEXT, "of a storage", .needed = FLAT_STORAGE, INTO(struct flat_form, name)},
	{"technology", FIELD_TEXT, .help = "`DRAM`, or another one of an SRAM",
		INTO(struct flat_form, technology)},
	{0},
};
static const struct noun *const flat_parts[] = {&attributes_noun, NULL};
const struct noun flat_noun = {.name = "flat_level", .fields = flat_fields, .parts = flat_parts};

/* The oldest form: levels are maps of attributes, the storages innermost first, and every one says
 * how many instances it has. */
static void open_flat(struct tree_reading *tree, const struct node *item, bool computes)
{
	struct arch_draft *draft = tree->draft;
	struct arena *arena = draft->reading->arena;
	struct tree_local local = {
		.kind = computes ? LEVEL_COMPUTE : LEVEL_STORAGE, .instances = 1};
	struct flat_form form = {.technology = ""};
	struct reader *node = &local.entry.node;
	if (!noun_open(node, draft->reading, item, "level", &flat_noun))
		return;
	fields_read_form(node, &flat_noun, computes ? FLAT_COMPUTE : FLAT_STORAGE, &form, NULL);
	local.name = computes ? "__ARITH__" : NULL; /* as Timeloop calls multipliers */
	if ((form.name && !arch_tree_scan_name(tree, node_find(item, "name"), form.name,
				  &local.name, &local.instances)) ||
		!local.name)
		return;
	node->what = arena_format(arena, "level '%s'", local.name);
	local.entry.parts.device = computes                              ? "intmac"
				   : text_equal(form.technology, "DRAM") ? "DRAM"
									 : "SRAM";
	struct node *own = arena_copy(arena, item, sizeof *item);
	struct node *outside = arena_copy(arena, item, sizeof *item);
	struct node_entry *entries = arena_array(arena, struct node_entry, item->count);
	own->count = outside->count = 0;
	own->index = outside->index = NULL;
	for (size_t i = 0; i < item->count; i++)
		if (!text_equal(item->entries[i].key, "name"))
			entries[own->count++] = item->entries[i];
	own->entries = entries;
	outside->entries = NULL;
	node->map = outside;
	add_level(tree, &local, own);
}

bool arch_flat_open(
	struct arch_draft *draft, const struct node *storages, const struct node *arithmetic)
{
	struct tree_reading tree = {
		.draft = draft, .flat = true, .copies = 1, .mesh_x = 1, .mesh_y = 1};
	size_t errors = diag_errors(draft->reading->diag);
	draft->arch->tree = true;
	for (size_t i = storages ? storages->count : 0; i-- > 0;)
		open_flat(&tree, storages->items[i], false);
	if (arithmetic)
		open_flat(&tree, arithmetic, true);
	return storages && arithmetic && diag_errors(draft->reading->diag) == errors;
}
