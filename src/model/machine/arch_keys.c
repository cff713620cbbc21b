#include "model/machine/arch_keys.h"

#include "base/names.h"
#include "base/text.h"

#include "spec/unread.h"

#include <string.h>

enum { KEY_MOST = 64 };

/* Every spelling, '-' read as '_', and its name in 0.4; of several that mean the same, the one
 * that Timeloop asks for first is first (buffer.cpp, BufferLevel::ParseSpecs). */
static const struct {
	const char *written, *meant;
} spellings[] = {
	{"block_size", "block_size"},
	{"n_words", "block_size"},
	{"cluster_size", "cluster_size"},
	{"word_bits", "datawidth"},
	{"word_width", "datawidth"},
	{"datawidth", "datawidth"},
	{"data_width", "datawidth"},
	{"depth", "depth"},
	{"memory_depth", "depth"},
	{"data_storage_depth", "depth"},
	{"energy_per_hop", "energy_per_hop"},
	{"mac_energy", "mac_energy"},
	{"energy", "mac_energy"},
	{"min_utilization", "min_utilization"},
	{"multiple_buffering", "multiple_buffering"},
	{"network_drain_latency", "network_drain_latency"},
	{"network_fill_latency", "network_fill_latency"},
	{"power_gated_at", "power_gated_at"},
	{"read_bandwidth", "read_bandwidth"},
	{"router_energy", "router_energy"},
	{"rw_bandwidth", "shared_bandwidth"},
	{"shared_bandwidth", "shared_bandwidth"},
	{"sizekb", "sizeKB"},
	{"vector_access_energy", "vector_access_energy"},
	{"width", "width"},
	{"memory_width", "width"},
	{"data_storage_width", "width"},
	{"write_bandwidth", "write_bandwidth"},
};
enum { SPELLINGS = sizeof spellings / sizeof *spellings };

/* These change no count here: they choose among Accelergy's plug-ins, whose answers come as an
 * ERT, or are read elsewhere. */
static const char *const accepted[] = {"adder_width", "area_share", "global_cycle_seconds",
	"has_power_gating", "n_banks", "n_ports", "nports", "num_banks", "num_ports", "num-banks",
	"num-ports", "technology", "type", "version", NULL};

/* Timeloop prices wires, routers' tiles and address generators with these. */
static const char *const unpriced[] = {
	"adder_energy", "addr_gen_energy", "network_word_bits", "tile_width", "wire_energy", NULL};

/* Storages have these as they are; to what does not store they mean nothing. */
static const char *const of_storages[] = {
	"bandwidth", "entries", "per_dataspace_bandwidth_consumption_scale", "size", NULL};

/* A container says these of itself, not for what is inside; */
static const char *const own_keys[] = {"global_cycle_seconds", "has_power_gating", "instances",
	"meshX", "meshY", "power_gated_at", "systolic", "version", NULL};

/* and these of the machine. */
static const char *const machine_keys[] = {"bundle_overhead", "bundle_tensors", "clock",
	"core_overhead", "data_ring", "lane_bandwidth", "lane_cores", "link_energy_per_byte",
	"links", "ranks", "reduce_ring", "span_limit", NULL};

static bool is_among(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (text_equal(*keys, key))
			return true;
	return false;
}

static bool is_of_storages(const char *key)
{
	for (size_t i = 0; i < SPELLINGS; i++)
		if (text_equal(spellings[i].meant, key))
			return true;
	return is_among(key, of_storages);
}

bool arch_key_of_machine(const char *key)
{
	return is_among(key, machine_keys);
}

/* '-' read as '_'; false if it is too long to be a key of ours. */
static bool with_underscores(const char *key, char plain[KEY_MOST])
{
	size_t length = strlen(key);
	for (size_t i = 0; length < KEY_MOST && i <= length; i++)
		plain[i] = key[i] == '-' ? '_' : key[i];
	return length < KEY_MOST;
}

/* The row of a spelling; -1: not one of them. */
static int spelling_of(const char *key)
{
	char plain[KEY_MOST];
	if (!with_underscores(key, plain))
		return -1;
	for (size_t i = 0; i < SPELLINGS; i++)
		if (text_equal(plain, spellings[i].written))
			return (int)i;
	return -1;
}

static const char *name_of(const char *key)
{
	int spelling = spelling_of(key);
	return spelling < 0 ? key : spellings[spelling].meant;
}

static bool is_same_value(const struct node *a, const struct node *b)
{
	return a->kind == NODE_SCALAR && b->kind == NODE_SCALAR && text_equal(a->text, b->text);
}

/* `written` as the map of the spec has it. */
static const char *written_at(const struct node *map, struct span span)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->entries[i].key_span.line == span.line &&
			map->entries[i].key_span.column == span.column)
			return map->entries[i].key;
	return "";
}

/* Where two words say one thing, Timeloop takes the one that it asks for first. */
static void choose(struct arch_draft *draft, const struct node *own, struct node_entry *first,
	const struct node_entry *second, const char *what)
{
	struct diag *diag = draft->reading->diag;
	const char *word = written_at(own, first->key_span);
	const char *other = written_at(own, second->key_span);
	bool swap = spelling_of(other) < spelling_of(word);
	if (!is_same_value(first->value, second->value)) {
		diag_warning(diag, second->key_span,
			"'%s' in %s is another word for '%s', and they differ: '%s' counts, as in "
			"Timeloop",
			other, what, word, swap ? other : word);
		diag_note(diag, first->key_span, "first given here");
	}
	if (swap)
		*first = *second;
}

/* True if a value is the key's own word: `datawidth: datawidth`. */
static bool is_own_word(const struct node *value, const char *meant)
{
	return value->kind == NODE_SCALAR && !value->quoted &&
	       text_equal(name_of(value->text), meant);
}

/* The innermost value of a key that containers around give, other than its own word; NULL. */
static const struct node *outer_value(const struct arch_draft *draft, const char *meant)
{
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++)
			if (text_equal(name_of(outer->entries[i].key), meant) &&
				!is_own_word(outer->entries[i].value, meant))
				return outer->entries[i].value;
	}
	return NULL;
}

static const struct node *gather(
	struct arch_draft *draft, const struct node *own, const char *what, struct span span)
{
	struct arena *arena = draft->reading->arena;
	size_t most = own ? own->count : 0, count = 0;
	for (size_t c = 0; c < draft->scope.count; c++)
		most += draft->scope.at[c]->count;
	struct node *map = arena_new(arena, struct node);
	struct node_entry *entries = arena_array(arena, struct node_entry, most);
	struct names *index = arena_new(arena, struct names);
	for (size_t i = 0; own && i < own->count; i++) {
		struct node_entry entry = own->entries[i];
		entry.key = name_of(entry.key);
		const struct node *value =
			is_own_word(entry.value, entry.key) ? outer_value(draft, entry.key) : NULL;
		entry.value = value ? value : entry.value;
		int twin = names_find(index, entry.key);
		if (twin >= 0) {
			choose(draft, own, &entries[twin], &entry, what);
			continue;
		}
		names_add(arena, index, entry.key, (int)count);
		entries[count++] = entry;
	}
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++) {
			struct node_entry entry = outer->entries[i];
			entry.key = name_of(entry.key);
			const struct node *value = is_own_word(entry.value, entry.key)
							   ? outer_value(draft, entry.key)
							   : NULL;
			entry.value = value ? value : entry.value;
			if (is_among(entry.key, own_keys) || arch_key_of_machine(entry.key) ||
				names_find(index, entry.key) >= 0)
				continue;
			names_add(arena, index, entry.key, (int)count);
			entries[count++] = entry;
		}
	}
	*map = (struct node){.kind = NODE_MAP,
		.span = own ? own->span : span,
		.entries = entries,
		.count = count,
		.index = index};
	return map;
}

void arch_keys_open(struct arch_draft *draft, const struct node *own, const char *what,
	struct span span, struct reader *attributes)
{
	struct arena *arena = draft->reading->arena;
	struct reading *reading = arena_copy(arena, draft->reading, sizeof *reading);
	const struct node *map = gather(draft, own, what, span);
	reading->variables = variables_with(arena, draft->reading->variables, map);
	reader_open(attributes, reading, map, what);
	attributes->what = what;
}

/* What levels inherit may be settled by one of them. */
static bool is_settled(const struct arch_draft *draft, struct span span)
{
	for (size_t i = 0; i < draft->settled.count; i++)
		if (draft->settled.at[i].source == span.source &&
			draft->settled.at[i].line == span.line &&
			draft->settled.at[i].column == span.column)
			return true;
	return false;
}

void arch_keys_settle(struct arch_draft *draft, const struct reader *attributes)
{
	for (size_t i = 0; i < attributes->map->count; i++) {
		const struct node_entry *entry = &attributes->map->entries[i];
		if (variables_used(attributes->reading->variables, entry->key))
			*array_add(draft->reading->arena, &draft->settled) = entry->key_span;
	}
}

/* What a strange key may be a misspelling of: the keys asked for that are missing, in all their
 * words. */
static const char *const *missing_words(const struct reader *attributes)
{
	size_t count = 0, most = attributes->known_count + SPELLINGS;
	const char **missing = arena_array(attributes->reading->arena, const char *, most + 1);
	for (size_t i = 0; i < attributes->known_count; i++) {
		const char *name = attributes->known[i];
		if (node_find(attributes->map, name))
			continue;
		missing[count++] = name;
		for (size_t s = 0; s < SPELLINGS && count < most; s++)
			if (text_equal(spellings[s].meant, name) &&
				!text_equal(spellings[s].written, name))
				missing[count++] = spellings[s].written;
	}
	missing[count] = NULL;
	return missing;
}

/* Whether an entry stands in the node's own map, and is not inherited. */
static bool is_own(const struct node *own, const struct node_entry *entry)
{
	for (size_t i = 0; own && i < own->count; i++)
		if (own->entries[i].value == entry->value)
			return true;
	return false;
}

/* A key that nothing reads here, of which somebody else may. */
static bool is_read_elsewhere(
	const struct arch_draft *draft, const struct node_entry *entry, bool own)
{
	bool known = is_among(entry->key, accepted) || is_of_storages(entry->key);
	return is_settled(draft, entry->key_span) || (known && !own);
}

void arch_keys_done(struct arch_draft *draft, struct reader *attributes, const struct node *own)
{
	struct arena *arena = draft->reading->arena;
	struct diag *diag = draft->reading->diag;
	const char *const *missing = missing_words(attributes);
	arch_keys_settle(draft, attributes);
	for (size_t i = 0; i < attributes->map->count; i++) {
		const struct node_entry *entry = &attributes->map->entries[i];
		bool asked = reader_asked(attributes, entry->key), mine = is_own(own, entry);
		if (asked && !mine)
			*array_add(arena, &draft->settled) = entry->key_span;
		if (asked || is_read_elsewhere(draft, entry, mine))
			continue;
		bool known = is_among(entry->key, accepted) || is_of_storages(entry->key);
		const char *near =
			known || diag_full(diag) ? NULL : suggest_misspelt(entry->key, missing);
		if (!near && !arch_key_of_machine(entry->key)) {
			*array_add(arena, &draft->strangers) =
				(struct stranger){*entry, attributes->what};
			continue;
		}
		if (near)
			diag_error(diag, entry->key_span,
				"unknown key '%s' in %s; did you mean '%s'?", entry->key,
				attributes->what, near);
		else
			diag_error(diag, entry->key_span,
				"'%s' in %s is said of the machine; it stands in a !Container",
				entry->key, attributes->what);
		*array_add(arena, &draft->settled) = entry->key_span;
	}
}

static bool is_unpriced(const char *key)
{
	char plain[KEY_MOST];
	return with_underscores(key, plain) && is_among(plain, unpriced);
}

void arch_keys_note(const struct arch_draft *draft)
{
	struct unread *unread = draft->reading->unread;
	for (size_t i = 0; unread && i < draft->strangers.count; i++) {
		const struct stranger *stranger = &draft->strangers.at[i];
		if (is_settled(draft, stranger->entry.key_span))
			continue;
		if (is_unpriced(stranger->entry.key)) {
			diag_warning(draft->reading->diag, stranger->entry.key_span,
				"'%s' in %s has no effect here: what Timeloop charges for it is in "
				"no energy",
				stranger->entry.key, stranger->what);
			continue;
		}
		unread_add(draft->reading->arena, unread, &stranger->entry, stranger->what);
		unread->for_components = true;
	}
}

bool arch_keys_known(const char *key)
{
	return spelling_of(key) >= 0 || is_of_storages(key) || is_among(key, own_keys) ||
	       is_among(key, accepted);
}

const char *arch_keys_at(size_t i)
{
	static const char *const *const lists[] = {
		of_storages, own_keys, machine_keys, accepted, unpriced};
	if (i < 2 * (size_t)SPELLINGS)
		return i % 2 ? spellings[i / 2].meant : spellings[i / 2].written;
	i -= 2 * (size_t)SPELLINGS;
	for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
		for (const char *const *at = lists[k]; *at; at++)
			if (i-- == 0)
				return *at;
	return NULL;
}

const struct node *arch_keys_own(struct reader *node)
{
	const struct node *own = node_find(node->map, "attributes");
	bool empty = own && own->kind == NODE_SCALAR && !*own->text && !own->quoted;
	if (!empty)
		return read_map(node, "attributes", OPTIONAL);
	read_node(node, "attributes", OPTIONAL);
	return NULL;
}
