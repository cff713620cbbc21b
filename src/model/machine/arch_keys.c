#include "model/machine/arch_draft.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "model/machine/arch_read.h"
#include "spec/field.h"
#include "spec/reader.h"

#include <math.h>
#include <string.h>

/* A cycle time with more digits than a fraction has: the clock to the nearest hertz. */
static bool nearest_clock(double seconds, struct ratio *hertz)
{
	double most = 1e15, clock = seconds > 0 ? 1 / seconds : 0;
	return clock >= 1 && clock <= most && ratio_make((int64_t)(clock + 0.5), 1, hertz);
}

static const struct field clock_fields[] = {
	{"clock", FIELD_CLOCK,
		"the reference clock; all rates are kept per cycle of it. An attribute in seconds "
		"needs it, or `global_cycle_seconds`",
		.usual = "1 GHz", INTO(struct clock_form, hertz)},
	{0},
};
const struct noun clock_noun = {.name = "clock", .fields = clock_fields};

static const struct field seconds_fields[] = {
	{"global_cycle_seconds", FIELD_NUMBER, "a cycle in seconds, instead of a `clock`",
		.usual = "1e-9", .marks = ATTRIBUTE_OWN | ATTRIBUTE_ACCEPTED,
		INTO(struct clock_form, seconds)},
	{0},
};
const struct noun seconds_noun = {.name = "cycle_seconds", .fields = seconds_fields};

bool attributes_clock(struct reader *attributes, struct ratio *hertz)
{
	struct clock_form form = {.seconds = NAN};
	struct value value;
	struct ratio period;
	if (node_find(attributes->map, "clock") &&
		node_find(attributes->map, "global_cycle_seconds"))
		diag_error(attributes->reading->diag, attributes->map->span,
			"%s has a 'clock' and 'global_cycle_seconds'; give one of them",
			attributes->what);
	fields_read(attributes, &clock_noun, &form, NULL);
	if (form.hertz.num) {
		*hertz = form.hertz;
		return true;
	}
	fields_read(attributes, &seconds_noun, &form, NULL);
	const struct node *node = node_find(attributes->map, "global_cycle_seconds");
	if (isnan(form.seconds))
		return false;
	if (form.seconds < 0) {
		diag_warning(attributes->reading->diag, node->span,
			"'global_cycle_seconds' in %s is not a cycle time and is left out",
			attributes->what);
		return false;
	}
	bool exact = expr_read(attributes->reading->diag, attributes->reading->variables, node,
			     "global_cycle_seconds", &value) &&
		     value.exact && value.num > 0;
	if (exact && ratio_make(value.num, value.den, &period) &&
		ratio_div((struct ratio){1, 1}, period, hertz))
		return true;
	if (!exact && nearest_clock(form.seconds, hertz))
		return true;
	return reader_refuse(attributes, "global_cycle_seconds", "is not a cycle time");
}

bool attributes_has_unit(struct reader *attributes, const struct node *node, const char *key)
{
	struct value value;
	/* the reader of the value complains about it */
	return node->kind == NODE_SCALAR &&
	       expr_read(diag_open(attributes->reading->arena), attributes->reading->variables,
		       node, key, &value) &&
	       value_quantity(value) != QUANTITY_BARE;
}

bool attributes_timed(struct reader *attributes, const char *key, struct ratio clock_hz)
{
	return clock_hz.num > 0 ||
	       reader_refuse(attributes, key,
		       "is in seconds, and no container has a clock; add one, such as 'clock: 1.5GHz'");
}

bool attributes_cycles(struct reader *attributes, const char *key, struct ratio nanoseconds,
	struct ratio clock_hz, struct ratio *cycles)
{
	struct ratio per_nanosecond;
	if (!attributes_timed(attributes, key, clock_hz))
		return false;
	return (ratio_div(clock_hz, (struct ratio){1000000000, 1}, &per_nanosecond) &&
		       ratio_mul(nanoseconds, per_nanosecond, cycles)) ||
	       reader_refuse(attributes, key, "is too large");
}

bool attributes_bandwidth(struct reader *attributes, const char *key, struct ratio clock_hz,
	int64_t word_bits, struct ratio *out)
{
	const struct node *node = read_node(attributes, key, OPTIONAL);
	struct ratio rate, word;
	if (!node)
		return false;
	if (attributes_has_unit(attributes, node, key)) {
		if (!read_rate(attributes, key, OPTIONAL, &rate) ||
			!attributes_timed(attributes, key, clock_hz))
			return false;
		return ratio_div(rate, clock_hz, out) ||
		       reader_refuse(attributes, key, "is too large");
	}
	if (!read_ratio(attributes, key, OPTIONAL, &rate))
		return false;
	if (!rate.num)
		return reader_refuse(attributes, key, "is 0; leave it out where nothing limits it");
	return (ratio_make(word_bits, 8, &word) && ratio_mul(rate, word, out)) ||
	       reader_refuse(attributes, key, "is too large");
}

bool arch_read_reserve(struct reader *reader, const char *key, int64_t capacity, int64_t *bytes)
{
	const struct node *node = read_node(reader, key, OPTIONAL);
	struct ratio fraction;
	if (!node)
		return false;
	if (attributes_has_unit(reader, node, key))
		return read_size(reader, key, OPTIONAL, 0, capacity, bytes);
	if (!read_ratio(reader, key, OPTIONAL, &fraction))
		return false;
	if (fraction.num > fraction.den)
		return reader_refuse(reader, key,
			"is %.10g; a fraction up to 1 is expected, or a size with a unit",
			ratio_double(fraction));
	*bytes = arch_reserve(capacity, fraction);
	return true;
}

/* The row of an attribute of any kind of level; NULL: it is none. */
static const struct field *arch_key_row(const char *key)
{
	return noun_find(&attributes_noun, key);
}

static bool has_mark(const char *key, unsigned mark)
{
	const struct field *row = arch_key_row(key);
	return row && row->marks & mark;
}

bool arch_key_of_machine(const char *key)
{
	return noun_find(&machine_noun, key) != NULL;
}

/* True if a key that a level does not read is right elsewhere: in a storage, or for Accelergy. */
static bool is_of_others(const char *key)
{
	return noun_find(&storage_noun, key) || has_mark(key, ATTRIBUTE_ACCEPTED);
}

static const char *arch_key_name(const char *key)
{
	const struct field *row = arch_key_row(key);
	return row ? row->key : key;
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

/* Chooses between two spellings of one key: Timeloop takes the one that it reads first. */
static void spelling_choose(struct arch_draft *draft, const struct node *own,
	struct node_entry *first, const struct node_entry *second, const char *what)
{
	struct diag *diag = draft->reading->diag;
	const char *word = written_at(own, first->key_span);
	const char *other = written_at(own, second->key_span);
	const struct field *row = arch_key_row(word);
	bool swap = field_spelling(row, other) < field_spelling(row, word);
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
	       text_equal(arch_key_name(value->text), meant);
}

/* The innermost value of a key that containers around give, other than its own word; NULL. */
static const struct node *outer_value(const struct arch_draft *draft, const char *meant)
{
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++)
			if (text_equal(arch_key_name(outer->entries[i].key), meant) &&
				!is_own_word(outer->entries[i].value, meant))
				return outer->entries[i].value;
	}
	return NULL;
}

static const struct node *arch_draft_gather(
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
		entry.key = arch_key_name(entry.key);
		const struct node *value =
			is_own_word(entry.value, entry.key) ? outer_value(draft, entry.key) : NULL;
		entry.value = value ? value : entry.value;
		int twin = names_find(index, entry.key);
		if (twin >= 0) {
			spelling_choose(draft, own, &entries[twin], &entry, what);
			continue;
		}
		names_add(arena, index, entry.key, (int)count);
		entries[count++] = entry;
	}
	for (size_t c = draft->scope.count; c-- > 0;) {
		const struct node *outer = draft->scope.at[c];
		for (size_t i = 0; i < outer->count; i++) {
			struct node_entry entry = outer->entries[i];
			entry.key = arch_key_name(entry.key);
			const struct node *value = is_own_word(entry.value, entry.key)
							   ? outer_value(draft, entry.key)
							   : NULL;
			entry.value = value ? value : entry.value;
			if (has_mark(entry.key, ATTRIBUTE_OWN) || arch_key_of_machine(entry.key) ||
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
	const struct node *map = arch_draft_gather(draft, own, what, span);
	reading->variables = variables_with(arena, draft->reading->variables, map);
	reader_open(attributes, reading, map, what);
	attributes->what = what;
}

/* True if one of the levels that inherit a key has settled it. */
static bool arch_draft_is_settled(const struct arch_draft *draft, struct span span)
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

/* Lists the keys that a strange key may misspell: those read that are missing, in all their spellings. */
static const char *const *missing_words(const struct reader *attributes)
{
	struct arena *arena = attributes->reading->arena;
	struct array(const char *) missing = {0};
	for (size_t i = 0; i < attributes->known_count; i++) {
		const char *name = attributes->known[i], *other;
		const struct field *row = arch_key_row(name);
		if (node_find(attributes->map, name))
			continue;
		*array_add(arena, &missing) = name;
		for (int s = 0; row && (other = field_spelling_at(arena, row, s)); s++)
			if (!text_equal(other, name))
				*array_add(arena, &missing) = other;
	}
	*array_add(arena, &missing) = NULL;
	return missing.at;
}

/* True if an entry stands in the node's own map, and is not inherited. */
static bool is_own(const struct node *own, const struct node_entry *entry)
{
	for (size_t i = 0; own && i < own->count; i++)
		if (own->entries[i].value == entry->value)
			return true;
	return false;
}

/* True if a key that nothing reads here may be read elsewhere. */
static bool is_read_elsewhere(
	const struct arch_draft *draft, const struct node_entry *entry, bool own)
{
	return arch_draft_is_settled(draft, entry->key_span) || (is_of_others(entry->key) && !own);
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
		const char *near = is_of_others(entry->key) || diag_full(diag)
					   ? NULL
					   : suggest_misspelt(entry->key, missing);
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
				"'%s' in %s is a machine attribute; move it to a !Container",
				entry->key, attributes->what);
		*array_add(arena, &draft->settled) = entry->key_span;
	}
}

/* A key with '_' for '-'. */
static const char *plain_key(struct arena *arena, const char *key)
{
	char *plain = arena_text(arena, key);
	for (char *at = plain; (at = strchr(at, '-'));)
		*at = '_';
	return plain;
}

void arch_keys_note(const struct arch_draft *draft)
{
	struct unread *unread = draft->reading->unread;
	for (size_t i = 0; unread && i < draft->strangers.count; i++) {
		const struct stranger *stranger = &draft->strangers.at[i];
		if (arch_draft_is_settled(draft, stranger->entry.key_span))
			continue;
		if (has_mark(plain_key(draft->reading->arena, stranger->entry.key),
			    ATTRIBUTE_UNPRICED)) {
			diag_warning(draft->reading->diag, stranger->entry.key_span,
				"'%s' in %s has no effect: energies do not include what Timeloop charges for it",
				stranger->entry.key, stranger->what);
			continue;
		}
		unread_add(draft->reading->arena, unread, &stranger->entry, stranger->what);
		unread->for_components = true;
	}
}

bool arch_keys_known(const char *key)
{
	return arch_key_row(key) != NULL;
}
