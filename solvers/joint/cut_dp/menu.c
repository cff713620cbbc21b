#include "solvers/joint/cut_dp/menu.h"

#include "base/arena.h"
#include "base/array.h"
#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/move.h"

#include <string.h>

/* What belongs to one cut. */
struct card {
	bool is_made;
	struct moves moves;
	size_t words; /* of a set of moves */
	int slot_count;
	int slots[CUT_SLOTS_MOST];         /* that its options use */
	uint64_t *readers[CUT_SLOTS_MOST]; /* moves that read it in LX */
	uint64_t *allowed[CUT_SLOTS_MOST]; /* by the i-th of them, then code: a set of moves */
};

struct made_menus array(struct menu);
struct entries array(struct menu_entry);

struct menus {
	const struct frame *frame;
	struct arena *arena;
	struct card *cards; /* by cut */

	/* menus of one cut */
	int cut;
	struct arena *kept;
	struct cut_layer *asked; /* codes of the slots that its options use, those of others 0 */
	struct made_menus made;  /* by state of it */
};

struct menus *menus_open(const struct frame *frame, struct arena *arena)
{
	struct menus *menus = arena_new(arena, struct menus);
	menus->frame = frame;
	menus->arena = arena;
	menus->cards = arena_array(arena, struct card, frame->cut_count);
	menus->cut = -1;
	return menus;
}

void menus_close(struct menus *menus)
{
	arena_close(menus->kept);
}

static uint64_t find_used(const struct menus *menus, int cut)
{
	const struct joint_space *space = menus->frame->space;
	uint64_t used = 0;
	for (size_t i = space->first_option[cut]; i < space->first_option[cut + 1]; i++)
		for (int u = 0; u < space->options[i].use_count; u++) {
			int slot = frame_slot(menus->frame, cut, space->options[i].uses[u].tensor);
			used |= slot == CUT_NO_SLOT ? 0 : UINT64_C(1) << slot;
		}
	return used;
}

static void make_card(struct menus *menus, int cut)
{
	const struct frame *frame = menus->frame;
	struct card *card = &menus->cards[cut];
	uint64_t used = find_used(menus, cut);
	card->is_made = true;
	card->moves = moves_make(frame, cut, menus->arena);
	card->words = card->moves.count / 64 + 1;
	for (int s = 0; s < frame->cuts[cut].slot_count; s++) {
		if (!(used >> s & 1))
			continue;
		int codes = 2 * (frame->space->tensors[frame->cuts[cut].tensors[s]].view_count + 1);
		uint64_t *allowed =
			arena_array(menus->arena, uint64_t, (size_t)codes * card->words);
		for (int code = 0; code < codes; code++)
			for (size_t m = 0; m < card->moves.count; m++)
				if (move_allows(frame, cut, &card->moves.at[m], s, (uint16_t)code))
					allowed[(size_t)code * card->words + m / 64] |= UINT64_C(1)
											<< m % 64;
		uint64_t *readers = arena_array(menus->arena, uint64_t, card->words);
		for (size_t m = 0; m < card->moves.count; m++)
			if ((card->moves.at[m].held & ~card->moves.at[m].replaced) >> s & 1)
				readers[m / 64] |= UINT64_C(1) << m % 64;
		card->readers[card->slot_count] = readers;
		card->allowed[card->slot_count] = allowed;
		card->slots[card->slot_count++] = s;
	}
}

/* --- one menu */

static int64_t bytes_from(
	const struct frame *frame, int cut, const struct menu_move *move, const uint16_t *codes)
{
	const struct cut *at = &frame->cuts[cut];
	int64_t bytes = move->bytes;
	for (uint64_t left = move->replaced; left; left &= left - 1) {
		int slot = __builtin_ctzll(left);
		bytes -= cut_bytes(&frame->space->tensors[at->tensors[slot]], codes[slot]);
	}
	for (int i = 0; i < move->saving_count; i++)
		if (codes[move->savings[i].slot] == move->savings[i].code)
			bytes -= move->savings[i].bytes;
	return bytes;
}

static bool does_as_well(const struct menu_entry *a, const struct menu_entry *b)
{
	return a->move->value <= b->move->value && a->move->fresh <= b->move->fresh &&
	       a->bytes <= b->bytes && a->move->cores <= b->move->cores;
}

static void add_entry(
	struct entries *entries, size_t *group, struct arena *arena, const struct menu_entry *entry)
{
	if (entries->count > *group && entries->at[*group].move->group != entry->move->group)
		*group = entries->count;
	for (size_t k = *group; k < entries->count; k++)
		if (does_as_well(&entries->at[k], entry))
			return;
	*array_add(arena, entries) = *entry;
}

static struct menu make_menu(struct menus *menus, const struct card *card, const uint16_t *codes)
{
	struct arena *scratch = arena_open();
	struct entries entries = {0};
	size_t group = 0;
	for (size_t w = 0; w < card->words; w++) {
		uint64_t left = ~UINT64_C(0);
		for (int i = 0; i < card->slot_count; i++)
			left &= card->allowed[i][codes[card->slots[i]] * card->words + w];
		if (w == card->words - 1)
			left &= (UINT64_C(1) << card->moves.count % 64) - 1;
		for (; left; left &= left - 1) {
			struct menu_entry entry = {
				.move = &card->moves.at[w * 64 + (size_t)__builtin_ctzll(left)]};
			entry.bytes = bytes_from(menus->frame, menus->cut, entry.move, codes);
			add_entry(&entries, &group, scratch, &entry);
		}
	}
	struct menu menu = {entries.count,
		arena_copy(menus->kept, entries.at, entries.count * sizeof *entries.at)};
	arena_close(scratch);
	return menu;
}

/* --- all of a cut */

static void turn_to(struct menus *menus, int cut)
{
	arena_close(menus->kept);
	menus->kept = arena_open();
	menus->cut = cut;
	menus->asked = layer_open(menus->frame, cut, menus->kept);
	menus->made = (struct made_menus){0};
	if (!menus->cards[cut].is_made)
		make_card(menus, cut);
}

static const struct card *card_at(struct menus *menus, int cut)
{
	if (cut != menus->cut)
		turn_to(menus, cut);
	return &menus->cards[cut];
}

const struct menu *menus_find(struct menus *menus, int cut, const uint16_t *codes)
{
	const struct card *card = card_at(menus, cut);
	uint16_t asked[CUT_SLOTS_MOST] = {0};
	for (int i = 0; i < card->slot_count; i++)
		asked[card->slots[i]] = codes[card->slots[i]];
	uint32_t state = layer_state(menus->asked, asked);
	if (state == menus->made.count) {
		struct menu menu = make_menu(menus, card, codes);
		*array_add(menus->kept, &menus->made) = menu;
	}
	return &menus->made.at[state];
}

/* --- sets of moves */

size_t menus_words(struct menus *menus, int cut)
{
	return card_at(menus, cut)->words;
}

void menus_all(struct menus *menus, int cut, uint64_t *left)
{
	memset(left, 0xff, card_at(menus, cut)->words * sizeof *left);
}

bool menus_read(struct menus *menus, int cut, int slot, uint16_t code, const uint64_t *before,
	uint64_t *left)
{
	const struct card *card = card_at(menus, cut);
	uint64_t any = 0;
	int i = 0;
	while (card->slots[i] != slot)
		i++;
	for (size_t w = 0; w < card->words; w++) {
		left[w] =
			before[w] & card->readers[i][w] & card->allowed[i][code * card->words + w];
		any |= left[w];
	}
	return any;
}
