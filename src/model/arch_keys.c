#include "model/arch_keys.h"

#include "base/text.h"

#include <string.h>

enum { LISTED_MOST = 12, KEY_MOST = 64 };

/* Every spelling, '-' read as '_', and its name in 0.4. */
static const struct {
	const char *written, *meant;
} spellings[] = {
	{"block_size", "block_size"},
	{"cluster_size", "cluster_size"},
	{"data_width", "datawidth"},
	{"energy_per_hop", "energy_per_hop"},
	{"memory_depth", "depth"},
	{"memory_width", "width"},
	{"min_utilization", "min_utilization"},
	{"multiple_buffering", "multiple_buffering"},
	{"n_words", "block_size"},
	{"network_drain_latency", "network_drain_latency"},
	{"network_fill_latency", "network_fill_latency"},
	{"power_gated_at", "power_gated_at"},
	{"read_bandwidth", "read_bandwidth"},
	{"router_energy", "router_energy"},
	{"rw_bandwidth", "shared_bandwidth"},
	{"shared_bandwidth", "shared_bandwidth"},
	{"sizekb", "sizeKB"},
	{"vector_access_energy", "vector_access_energy"},
	{"word_bits", "datawidth"},
	{"word_width", "datawidth"},
	{"write_bandwidth", "write_bandwidth"},
};

/* These change no count here: they choose among Accelergy's plug-ins, whose answers come as an
 * ERT, or are read elsewhere. */
static const char *const accepted[] = {"adder_width", "area_share", "global_cycle_seconds",
	"has_power_gating", "n_banks", "n_ports", "nports", "num_banks", "num_ports", "num-banks",
	"num-ports", "technology", "type", "version", NULL};

/* Storages have these as they are; to what does not store they mean nothing. */
static const char *const of_storages[] = {"bandwidth", "depth", "entries",
	"per_dataspace_bandwidth_consumption_scale", "size", "width", NULL};

/* A container says these of itself, not for what is inside. */
static const char *const own_keys[] = {"global_cycle_seconds", "has_power_gating", "instances",
	"meshX", "meshY", "power_gated_at", "systolic", "version", NULL};

static const char *const graph_keys[] = {"alignment", "bundle_overhead", "bundle_tensors", "clock",
	"combine", "copy_in", "copy_out", "copy_sync", "core_overhead", "data_ring",
	"fill_bandwidth", "link_energy_per_byte", "links", "mac_energy", "mac_rate", "ranks",
	"read_energy_per_byte", "reduce_ring", "reserve", "scratchpad", "span_limit",
	"vector_energy", "vector_rate", "write_energy_per_byte", NULL};

static bool is_among(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (text_equal(*keys, key))
			return true;
	return false;
}

static bool is_of_storages(const char *key)
{
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
		if (text_equal(spellings[i].meant, key))
			return true;
	return is_among(key, of_storages);
}

bool arch_key_for_graphs(const char *key)
{
	return is_among(key, graph_keys);
}

static const char *name_of(const char *key)
{
	char plain[KEY_MOST];
	size_t length = strlen(key);
	if (length >= sizeof plain)
		return key;
	for (size_t i = 0; i <= length; i++)
		plain[i] = key[i] == '-' ? '_' : key[i];
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
		if (text_equal(plain, spellings[i].written))
			return spellings[i].meant;
	return key;
}

static const struct node_entry *find(
	const struct node_entry *entries, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(entries[i].key, key))
			return &entries[i];
	return NULL;
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

static const struct node *gather(
	struct arch_draft *draft, const struct node *own, const char *what, struct span span)
{
	size_t most = own ? own->count : 0, count = 0;
	for (size_t c = 0; c < draft->scope.count; c++)
		most += draft->scope.at[c]->count;
	struct node *map = arena_new(draft->reading->arena, struct node);
	struct node_entry *entries = arena_array(draft->reading->arena, struct node_entry, most);
	for (size_t i = 0; own && i < own->count; i++) {
		struct node_entry entry = own->entries[i];
		entry.key = name_of(entry.key);
		const struct node_entry *twin = find(entries, count, entry.key);
		if (!twin) {
			entries[count++] = entry;
			continue;
		}
		if (is_same_value(entry.value, twin->value))
			continue;
		diag_error(draft->reading->diag, entry.key_span,
			"'%s' in %s is another word for '%s', and they differ", own->entries[i].key,
			what, written_at(own, twin->key_span));
		diag_note(draft->reading->diag, twin->key_span, "first given here");
	}
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++) {
			struct node_entry entry = outer->entries[i];
			entry.key = name_of(entry.key);
			if (!is_among(entry.key, own_keys) && !find(entries, count, entry.key))
				entries[count++] = entry;
		}
	}
	*map = (struct node){.kind = NODE_MAP,
		.span = own ? own->span : span,
		.entries = entries,
		.count = count};
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

void arch_keys_done(struct arch_draft *draft, struct reader *attributes)
{
	struct arena *arena = draft->reading->arena;
	const char **asked = arena_array(arena, const char *, attributes->known_count + 1);
	arch_keys_settle(draft, attributes);
	if (attributes->known_count)
		memcpy(asked, attributes->known, attributes->known_count * sizeof *asked);
	for (size_t i = 0; i < attributes->map->count; i++) {
		const struct node_entry *entry = &attributes->map->entries[i];
		if (is_among(entry->key, asked))
			continue;
		if (is_among(entry->key, accepted) || is_of_storages(entry->key) ||
			is_settled(draft, entry->key_span)) {
			read_node(attributes, entry->key, OPTIONAL);
		} else if (suggest(entry->key, asked)) {
			*array_add(arena, &draft->settled) = entry->key_span;
		} else {
			*array_add(arena, &draft->strangers) = *entry;
			read_node(attributes, entry->key, OPTIONAL);
		}
	}
	reader_done(attributes);
}

void arch_keys_note(const struct arch_draft *draft)
{
	struct text list = text_open(draft->reading->arena);
	struct span first = {0};
	size_t listed = 0, more = 0;
	for (size_t i = 0; i < draft->strangers.count; i++) {
		const char *key = draft->strangers.at[i].key;
		if (find(draft->strangers.at, i, key) ||
			is_settled(draft, draft->strangers.at[i].key_span))
			continue;
		if (!listed)
			first = draft->strangers.at[i].key_span;
		if (listed == LISTED_MOST)
			more++;
		else
			text_add(&list, "%s'%s'", listed++ ? ", " : "", key);
	}
	if (more)
		text_add(&list, " and %zu more", more);
	if (listed)
		diag_note(draft->reading->diag, first,
			"no use is made of %s; Accelergy's plug-ins may know %s", text_read(&list),
			listed == 1 ? "it" : "them");
}
