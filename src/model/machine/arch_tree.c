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
	{"meshX", FIELD_WHOLE, "instances along X", .usual = "1", INTO(struct level, fanout_x),
		.least = 1, .most = INT32_MAX},
	{"meshY", FIELD_WHOLE, "instances along Y", .usual = "1", INTO(struct level, fanout_y),
		.least = 1, .most = INT32_MAX},
	{0},
};
static const struct noun spatial_noun = {.name = "spatial", .fields = spatial_fields};

static const struct field node_fields[] = {
	{"name", FIELD_TEXT, .help = "of the level, unique in the machine"},
	{"class", FIELD_TEXT, .help = "DRAM, SRAM, regfile, .. store; mac, array, alu, .. compute"},
	{"subclass", FIELD_TEXT, .read = field_skip},
	{"attributes", FIELD_MAP, .noun = &attributes_noun},
	{"spatial", FIELD_MAP, "the fan-out", .noun = &spatial_noun},
	{"constraints", FIELD_ANY, .help = "constraints of every mapping"},
	{"sources", FIELD_SENTENCES, "where each attribute comes from", .noun = &attributes_noun},
	{"free", FIELD_MAP, .help = "attributes that calibrate may move: [least, most]"},
	{"enabled", FIELD_FLAG, .help = "false takes the node out"},
	{"required_actions", FIELD_ANY, .read = field_skip},
	{"area_share", FIELD_ANY, .read = field_skip},
	{"sparse_optimizations", .type = FIELD_ANY},
	{"nodes", FIELD_MAP, .shape = SHAPE_LIST, .noun = &node_noun},
	{"local", FIELD_MAP, .shape = SHAPE_LIST, .noun = &node_noun},
	{"subtree", FIELD_MAP, .shape = SHAPE_LIST, .noun = &node_noun},
	{0},
};
const struct noun node_noun = {.name = "node", .fields = node_fields, .also = "string null"};

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
	if (!noun_open(&node, draft->reading, item, "level", &node_noun))
		return true;
	read_bool(&node, "enabled", OPTIONAL, &enabled);
	return enabled;
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
	if (!noun_open(&entry->node, draft->reading, item, "level", &node_noun)) {
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
	fields_read(&entry->node, &node_noun, level, NULL);
	read_node(&entry->node, "enabled", OPTIONAL);
	level->constraints = read_map(&entry->node, "constraints", OPTIONAL);
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
	if (!noun_open(&node, draft->reading, item, "!Nothing", &node_noun))
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
	if (!noun_open(&node, draft->reading, item, "!Parallel", &node_noun))
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
	if (!noun_open(&node, draft->reading, item, item->tag, &node_noun))
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

/*
 * The older form, which Timeloop's own parser reads: `subtree:` nests, `local:`
 * lists the components of one step, outermost first.  `PE[0..13]` makes fourteen
 * of everything inside.  `meshX` and `meshY` of a component count its instances
 * in the whole machine; what a level fans out into is the ratio to the level outside.
 */
enum { MERGED_LISTED = 200 }; /* bytes of a list of keys */

/* The multipliers are innermost wherever they are listed: they wait for the end. */
struct waiting {
	const struct node *item;
	int64_t copies;
};

struct tree_reading {
	struct arch_draft *draft;
	struct array(struct waiting) computes;
	bool at_end;
	bool flat;              /* every level says itself how many instances it has */
	bool has_multiplier;    /* a component has a class that Timeloop takes for multipliers */
	int64_t copies;         /* of what is in the subtree that is read */
	int64_t mesh_x, mesh_y; /* of the last level */
	const char *outside;    /* its name */
};

/* A number of a range, and what follows it and blanks; -1 if there is none. */
static int64_t take_number(const char **text)
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
static bool read_name(struct tree_reading *tree, const struct node *node, const char *text,
	const char **name, int64_t *copies)
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
	int64_t first = take_number(&at), last = -1;
	bool dots = strncmp(at, "..", 2) == 0;
	if (first >= 0 && dots) {
		at += 2;
		last = take_number(&at);
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

/* meshX, meshY and the instances must agree; what is missing follows from the others. */
static bool read_mesh(struct tree_reading *tree, struct reader *map, int64_t instances,
	const struct level *level, int64_t *x, int64_t *y)
{
	bool counted = read_integer(map, "instances", OPTIONAL, 1, INT32_MAX, &instances);
	bool by_x = read_integer(map, "meshX", OPTIONAL, 1, INT32_MAX, x);
	bool by_y = read_integer(map, "meshY", OPTIONAL, 1, INT32_MAX, y);
	if (tree->flat && !counted)
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
	level->fanout_x = x / tree->mesh_x;
	level->fanout_y = y / tree->mesh_y;
	tree->mesh_x = x;
	tree->mesh_y = y;
	tree->outside = level->name;
}

static void leave_out(
	struct tree_reading *tree, const struct node *item, const char *device, const char *why)
{
	diag_warning(tree->draft->reading->diag, node_find(item, "class")->span,
		"a '%s' %s: '%s' is left out of the machine", device, why,
		node_find(item, "name")->text);
}

/* False for a component that is not a level. */
static bool read_tree_class(
	struct tree_reading *tree, struct reader *node, enum level_class *kind, const char **device)
{
	static const char *const words[] = {"DRAM", "SRAM", "regfile", "smartbuffer", "storage",
		"smartbuffer_SRAM", "smartbuffer_RF", "mac", "intmac", "fpmac", "compute",
		"dummy_storage", NULL};
	if (!read_text(node, "class", REQUIRED, device))
		return false;
	struct span span = node_find(node->map, "class")->span;
	const char *near = NULL;
	switch (arch_class_in_tree(*device)) {
	case CLASS_STORAGE:
		*kind = LEVEL_STORAGE;
		return true;
	case CLASS_COMPUTE:
		*kind = LEVEL_COMPUTE;
		if (!tree->has_multiplier || arch_class_multiplies(*device))
			return true;
		leave_out(tree, node->map, *device,
			"beside multipliers is not a level, as in Timeloop");
		return false;
	case CLASS_DUMMY:
		*kind = LEVEL_CONTAINER;
		return true;
	case CLASS_NETWORK:
		leave_out(tree, node->map, *device,
			"is a network, and data moves over Timeloop's default one");
		return false;
	case CLASS_UNKNOWN:
		near = suggest_misspelt(*device, words);
	}
	if (near)
		WRONG(tree->draft, span, "unknown class '%s'; did you mean '%s'?", *device, near);
	else
		leave_out(tree, node->map, *device, "neither stores nor computes");
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

/* A level with its own attributes, on this many instances. */
static void add_level(struct tree_reading *tree, const struct reader *node, const char *name,
	const struct node *own, int64_t instances, enum level_class kind, const char *device)
{
	struct arch_draft *draft = tree->draft;
	struct span span = node->map->span;
	int r = arch_draft_add(draft, span);
	if (r < 0)
		return;
	struct arch_entry *entry = &draft->entries[r];
	struct level *level = &draft->arch->levels[r];
	const struct node *named = node_find(node->map, "name");
	entry->node = *node;
	level->kind = kind;
	level->device = device;
	arch_draft_name(draft, r, name, named ? named->span : span);
	if (own)
		*array_add(draft->reading->arena, &draft->clocks) =
			(struct clock_map){own, node->what};
	entry->own = own;
	arch_keys_open(draft, own, node->what, span, &entry->attributes);
	read_tree_fanout(tree, &entry->attributes, instances, level);
}

/* True if a key of a component stands beside its attributes; other forms have attributes among these keys. */
static bool is_of_component(const char *key)
{
	static const char *const keys[] = {"name", "class", "subclass", "enabled",
		"required_actions", "area_share", "sources", "free", "constraints", "comment",
		NULL};
	for (int i = 0; keys[i]; i++)
		if (text_equal(keys[i], key))
			return true;
	return false;
}

/* Without `attributes` Timeloop looks for them in the component itself. */
static const struct node *attributes_of(struct tree_reading *tree, struct reader *node)
{
	struct arena *arena = tree->draft->reading->arena;
	const struct node *item = node->map;
	struct node *parts[2];
	bool inside = false;
	for (size_t i = 0; i < item->count; i++)
		inside |= arch_keys_known(item->entries[i].key);
	if (!inside || node_find(item, "attributes"))
		return without_merged(tree, arch_keys_own(node), node->what);
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
	node->map = parts[0];
	return without_merged(tree, parts[1], node->what);
}

static void open_local(struct tree_reading *tree, const struct node *item)
{
	struct arch_draft *draft = tree->draft;
	struct reader node;
	const char *text, *name, *device;
	int64_t copies, instances = 1;
	bool enabled = true;
	enum level_class kind;
	if (!noun_open(&node, draft->reading, item, "level", &node_noun) ||
		!read_text(&node, "name", REQUIRED, &text) ||
		!read_name(tree, node_find(item, "name"), text, &name, &copies))
		return;
	node.what = arena_format(draft->reading->arena, "level '%s'", name);
	read_bool(&node, "enabled", OPTIONAL, &enabled);
	if (!enabled || !read_tree_class(tree, &node, &kind, &device))
		return;
	if (kind == LEVEL_COMPUTE && !tree->at_end) {
		*array_add(draft->reading->arena, &tree->computes) =
			(struct waiting){item, tree->copies};
		return;
	}
	const struct node *own = attributes_of(tree, &node);
	fields_read(&node, &node_noun, NULL, NULL);
	if (!number_mul(tree->copies, copies, &instances) || instances > INT32_MAX) {
		WRONG(draft, item->span, "level '%s' has too many instances", name);
		instances = 1;
	}
	add_level(tree, &node, name, own, instances, kind, device);
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
	read_node(&map, "power_gated_at", OPTIONAL);
	*array_add(draft->reading->arena, &draft->subtrees) =
		(struct arch_entry){.attributes = map, .own = attributes};
	*array_add(draft->reading->arena, &draft->clocks) = (struct clock_map){map.map, what};
}

static void open_subtree(struct tree_reading *tree, const struct node *list)
{
	struct arch_draft *draft = tree->draft;
	struct reader node;
	const char *text, *name = "";
	int64_t copies = 1;
	if (list->count != 1) {
		WRONG(draft, list->span,
			"a 'subtree' has one branch, not %zu: the levels of an architecture are one "
			"path",
			list->count);
		return;
	}
	if (!noun_open(&node, draft->reading, list->items[0], "subtree", &node_noun))
		return;
	const struct node *named = read_node(&node, "name", OPTIONAL);
	if (!node_is_empty(named) && read_text(&node, "name", OPTIONAL, &text))
		read_name(tree, named, text, &name, &copies);
	if (!number_mul(tree->copies, copies, &tree->copies) || tree->copies > INT32_MAX) {
		WRONG(draft, node.map->span, "'%s' has too many instances", name);
		tree->copies = 1;
	}
	if (!draft->arch->name && *name)
		draft->arch->name = name;
	read_attributes(tree, arch_keys_own(&node), node.what);
	const struct node *local = read_list(&node, "local", OPTIONAL);
	const struct node *subtree = read_list(&node, "subtree", OPTIONAL);
	reader_done_lenient(&node);
	for (size_t i = 0; local && i < local->count; i++)
		open_local(tree, local->items[i]);
	if (subtree)
		open_subtree(tree, subtree);
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
	tree.at_end = true;
	for (size_t i = 0; i < tree.computes.count; i++) {
		tree.copies = tree.computes.at[i].copies;
		open_local(&tree, tree.computes.at[i].item);
	}
	return diag_errors(draft->reading->diag) == errors;
}

/* The oldest form: levels are maps of attributes, the storages innermost first, and every one says
 * how many instances it has. */
static void open_flat(struct tree_reading *tree, const struct node *item, bool computes)
{
	struct arch_draft *draft = tree->draft;
	struct arena *arena = draft->reading->arena;
	const char *name = computes ? "__ARITH__" : NULL; /* as Timeloop calls multipliers */
	const char *technology = "";
	struct reader node;
	int64_t copies = 1;
	if (!reader_open(&node, draft->reading, item, "level") ||
		(read_text(&node, "name", name ? OPTIONAL : REQUIRED, &name) &&
			!read_name(tree, node_find(item, "name"), name, &name, &copies)) ||
		!name)
		return;
	node.what = arena_format(arena, "level '%s'", name);
	read_text(&node, "technology", OPTIONAL, &technology);
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
	node.map = outside;
	add_level(tree, &node, name, own, copies, computes ? LEVEL_COMPUTE : LEVEL_STORAGE,
		computes                         ? "intmac"
		: text_equal(technology, "DRAM") ? "DRAM"
						 : "SRAM");
}

bool arch_flat_open(struct arch_draft *draft, struct reader *map)
{
	struct tree_reading tree = {
		.draft = draft, .flat = true, .copies = 1, .mesh_x = 1, .mesh_y = 1};
	size_t errors = diag_errors(draft->reading->diag);
	const struct node *storages = read_list(map, "storage", REQUIRED);
	const struct node *arithmetic = read_map(map, "arithmetic", REQUIRED);
	draft->arch->tree = true;
	draft->list = storages ? storages : map->map;
	for (size_t i = storages ? storages->count : 0; i-- > 0;)
		open_flat(&tree, storages->items[i], false);
	if (arithmetic)
		open_flat(&tree, arithmetic, true);
	return diag_errors(draft->reading->diag) == errors;
}
