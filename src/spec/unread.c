#include "spec/unread.h"

#include "base/text.h"
#include "spec/node.h"

enum { LISTED_MOST = 12 }; /* keys that the note lists */

void unread_add(struct arena *arena, struct unread *unread, const struct node_entry *entry,
	const char *what)
{
	if (names_find(&unread->names, entry->key) >= 0)
		return;
	names_add(arena, &unread->names, entry->key, (int)unread->keys.count);
	*array_add(arena, &unread->keys) = (struct unread_key){entry->key, what, entry->key_span};
}

void unread_note(struct arena *arena, const struct unread *unread, struct diag *diag)
{
	size_t count = unread->keys.count;
	struct text list = text_open(arena);
	for (size_t i = 0; i < count && i < LISTED_MOST; i++)
		text_add(&list, "%s'%s' in %s", i ? ", " : "", unread->keys.at[i].key,
			unread->keys.at[i].what);
	if (count > LISTED_MOST)
		text_add(&list, " and %zu more", count - LISTED_MOST);
	if (count)
		diag_remark(diag, unread->keys.at[0].span, "not read, as in Timeloop: %s%s%s",
			text_read(&list),
			unread->for_components ? "; Accelergy's plug-ins may know " : "",
			!unread->for_components ? ""
			: count == 1            ? "it"
						: "them");
}
