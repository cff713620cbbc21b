#include "tests/support/mutated_text.h"

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_pieces.h"

#include <string.h>

enum { GROWN_MOST = 1 << 15 };

struct change {
	struct arena *arena;
	struct random *random;
	const char *text, *other;
	struct piece *pieces;
	size_t count;
};

static const char *part(const struct change *change, const char *text, size_t from, size_t to)
{
	return arena_format(change->arena, "%.*s", (int)(to - from), text + from);
}

static const struct piece *any_piece(const struct change *change)
{
	return &change->pieces[random_below(change->random, change->count)];
}

/* Another one that `good` says yes to, or NULL. */
static const struct piece *any_other(const struct change *change, const struct piece *piece,
	bool (*good)(const struct piece *, const struct piece *))
{
	const struct piece *found = NULL;
	uint64_t seen = 0;
	for (size_t i = 0; i < change->count; i++) {
		const struct piece *at = &change->pieces[i];
		bool apart = at->to <= piece->from || piece->to <= at->from;
		if (apart && good(piece, at) && random_below(change->random, ++seen) == 0)
			found = at;
	}
	return found;
}

static bool are_neighbours(const struct piece *a, const struct piece *b)
{
	return a->indent == b->indent && a->group == b->group;
}

static bool are_alike(const struct piece *a, const struct piece *b)
{
	return (a->indent < 0) == (b->indent < 0);
}

/* Lines moved to another depth. */
static const char *indented(const struct change *change, const char *block, int by)
{
	struct text made = text_open(change->arena);
	for (const char *line = block; *line;) {
		size_t spaces = strspn(line, " "), length = strcspn(line, "\n");
		int depth = (int)spaces + by;
		text_add(&made, "%*s%.*s\n", depth > 0 ? depth : 0, "", (int)(length - spaces),
			line + spaces);
		line += length + (line[length] == '\n');
	}
	return text_read(&made);
}

static const char *drop(const struct change *change)
{
	const struct piece *piece = any_piece(change);
	size_t from = piece->from, to = piece->to;
	if (piece->indent < 0 && change->text[to] == ',')
		to++;
	else if (piece->indent < 0 && from && change->text[from - 1] == ',')
		from--;
	return spliced_text(change->arena, change->text, from, to, "");
}

/* The name in an entry gets a letter more. */
static const char *renamed(const struct change *change, const char *entry)
{
	const char *name = strstr(entry, "name: ");
	if (!name)
		return entry;
	size_t end = (size_t)(name - entry) + 6;
	end += strcspn(entry + end, ", }\n[");
	return spliced_text(change->arena, entry, end, end, "x");
}

static const char *say_again(const struct change *change)
{
	const struct piece *piece = any_piece(change);
	const char *entry = part(change, change->text, piece->from, piece->to),
		   *text = change->text;
	uint64_t times = draw_chance(change->random, 8) ? 2 + random_below(change->random, 40) : 1;
	for (uint64_t i = 0; i < times && strlen(text) < GROWN_MOST; i++) {
		if (!draw_chance(change->random, 3))
			entry = renamed(change, entry);
		text = spliced_text(change->arena, text, piece->to, piece->to,
			piece->indent < 0 ? arena_format(change->arena, ",%s", entry) : entry);
	}
	return text;
}

static const char *swap(const struct change *change)
{
	const struct piece *piece = any_piece(change);
	const struct piece *other = any_other(change, piece, are_neighbours);
	if (!other)
		return NULL;
	const struct piece *first = piece->from < other->from ? piece : other;
	const struct piece *last = first == piece ? other : piece;
	const char *text = spliced_text(change->arena, change->text, last->from, last->to,
		part(change, change->text, first->from, first->to));
	return spliced_text(change->arena, text, first->from, first->to,
		part(change, change->text, last->from, last->to));
}

/* `entry` behind a piece. */
static const char *put_behind(
	const struct change *change, const struct piece *piece, const char *entry, int indent)
{
	return spliced_text(change->arena, change->text, piece->to, piece->to,
		piece->indent < 0 ? arena_format(change->arena, ",%s", entry)
				  : indented(change, entry, piece->indent - indent));
}

static const char *move(const struct change *change)
{
	const struct piece *piece = any_piece(change);
	const struct piece *to = any_other(change, piece, are_alike);
	if (!to)
		return NULL;
	const char *entry = part(change, change->text, piece->from, piece->to);
	const char *text = put_behind(change, to, entry, piece->indent);
	size_t shift = to->to <= piece->from ? strlen(text) - strlen(change->text) : 0;
	return spliced_text(change->arena, text, piece->from + shift, piece->to + shift, "");
}

/* A piece of the other text behind one of ours, or in its place. */
static const char *graft(const struct change *change)
{
	struct piece *theirs = arena_array(change->arena, struct piece, PIECES_MOST);
	size_t count = find_pieces(change->other, theirs);
	const struct piece *piece = any_piece(change);
	const struct piece *from = count ? &theirs[random_below(change->random, count)] : NULL;
	if (!from || !are_alike(piece, from))
		return NULL;
	const char *entry = part(change, change->other, from->from, from->to);
	if (!draw_chance(change->random, 2))
		return put_behind(change, piece, entry, from->indent);
	if (piece->indent >= 0)
		entry = indented(change, entry, piece->indent - from->indent);
	return spliced_text(change->arena, change->text, piece->from, piece->to, entry);
}

/* The value of a key becomes that of an equal key, here or there. */
static const char *take_value(const struct change *change)
{
	const char *source = draw_chance(change->random, 2) ? change->text : change->other;
	struct pair *ours = arena_array(change->arena, struct pair, PIECES_MOST);
	struct pair *theirs = arena_array(change->arena, struct pair, PIECES_MOST);
	size_t count = find_pairs(change->text, ours), many = find_pairs(source, theirs);
	if (!count || !many)
		return NULL;
	const struct pair *pair = &ours[random_below(change->random, count)];
	const char *key = part(change, change->text, pair->key, pair->key_end);
	size_t first = (size_t)random_below(change->random, many);
	for (size_t i = 0; i < many; i++) {
		const struct pair *from = &theirs[(first + i) % many];
		if (text_equal(key, part(change, source, from->key, from->key_end)))
			return spliced_text(change->arena, change->text, pair->value,
				pair->value_end,
				part(change, source, from->value, from->value_end));
	}
	return NULL;
}

static const char *set_value(const struct change *change)
{
	static const char *const values[] = {"", "null", "~", "''", "[]", "{}", "true", "false",
		"'*'", "-", "\"\\x00\"", "all", "*a", "&a 1", "!t 1", "[[]]", "{a: 1}", "|", ">",
		"\"a b\"", "é"};
	struct pair *ours = arena_array(change->arena, struct pair, PIECES_MOST);
	size_t count = find_pairs(change->text, ours);
	if (!count)
		return NULL;
	const struct pair *pair = &ours[random_below(change->random, count)];
	const char *value = part(change, change->text, pair->value, pair->value_end);
	switch (random_below(change->random, 6)) {
	case 0:
		value = arena_format(change->arena, "[%s]", value);
		break;
	case 1:
		value = arena_format(change->arena, "{%s}", value);
		break;
	case 2:
		value = arena_format(change->arena, "\"%s\"", value);
		break;
	default:
		value = values[random_below(change->random, sizeof values / sizeof *values)];
	}
	return spliced_text(change->arena, change->text, pair->value, pair->value_end, value);
}

/* Everywhere, so that what refers to it still does, or in one place. */
static const char *rename_word(const struct change *change, bool everywhere)
{
	struct piece_word *words = arena_array(change->arena, struct piece_word, PIECES_MOST);
	struct piece_word *theirs = arena_array(change->arena, struct piece_word, PIECES_MOST);
	size_t count = find_words(change->text, words), many = find_words(change->other, theirs);
	if (!count || !many)
		return NULL;
	const struct piece_word *word = &words[random_below(change->random, count)];
	const struct piece_word *new = &theirs[random_below(change->random, many)];
	const char *old = part(change, change->text, word->from, word->to), *text = change->text;
	const char *with = part(change, change->other, new->from, new->to);
	if (draw_chance(change->random, 4))
		with = arena_format(change->arena, "%s_2", old);
	if (!everywhere)
		return spliced_text(change->arena, text, word->from, word->to, with);
	for (size_t i = count; i > 0; i--)
		if (text_equal(old, part(change, change->text, words[i - 1].from, words[i - 1].to)))
			text = spliced_text(
				change->arena, text, words[i - 1].from, words[i - 1].to, with);
	return text;
}

static const char *change_once(const struct change *change)
{
	switch (random_below(change->random, 12)) {
	case 0:
	case 1:
		return drop(change);
	case 2:
	case 3:
		return say_again(change);
	case 4:
		return swap(change);
	case 5:
		return move(change);
	case 6:
		return graft(change);
	case 7:
	case 8:
		return take_value(change);
	case 9:
		return set_value(change);
	case 10:
		return rename_word(change, true);
	default:
		return rename_word(change, false);
	}
}

const char *mutated_structure(
	struct arena *arena, struct random *random, const char *seed, const char *other)
{
	struct change change = {
		arena, random, seed, other, arena_array(arena, struct piece, PIECES_MOST), 0};
	uint64_t changes = draw_chance(random, 3) ? 2 : 1;
	for (int tries = 0; changes > 0 && tries < 8; tries++) {
		change.count = find_pieces(change.text, change.pieces);
		if (!change.count)
			break;
		const char *text = change_once(&change);
		if (!text || !*text || strlen(text) > 2 * GROWN_MOST)
			continue;
		change.text = text;
		changes--;
	}
	return change.text;
}
