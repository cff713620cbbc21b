#include "spec/quote.h"

#include <string.h>
#include <strings.h>

/* Letters, digits, '_', '.', '-' and '/' in words that begin with a letter or '_'. */
static bool is_plain(const char *word)
{
	static const char *const reserved[] = {"null", "true", "false", "yes", "no", "on", "off"};
	static const char first[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/.-0123456789";
	if (!*word || strspn(word, first) != strlen(word) || strspn(word, "/.-0123456789") > 0)
		return false;
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		if (strcasecmp(word, reserved[i]) == 0)
			return false;
	}
	return true;
}

/* Bytes of a character that YAML does not take as it is, and its number; 0 if it does. */
static size_t special(const unsigned char *at, unsigned *number)
{
	if (at[0] < 0x20 || at[0] == 0x7f)
		*number = at[0];
	else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
		*number = at[1];
	else if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
		*number = 0x2000u + (at[2] & 0x3f);
	else if (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf)
		*number = 0xfeff;
	else
		return 0;
	return *number < 0x80 ? 1 : *number < 0x800 ? 2 : 3;
}

void quote_yaml(struct text *text, const char *word)
{
	if (is_plain(word)) {
		text_add(text, "%s", word);
		return;
	}
	const unsigned char *at = (const unsigned char *)word;
	text_add(text, "\"");
	while (*at) {
		unsigned number;
		size_t length = special(at, &number);
		if (length)
			text_add(text, "\\u%04x", number);
		else if (*at == '"' || *at == '\\')
			text_add(text, "\\%c", *at);
		else
			text_bytes(text, (const char *)at, 1);
		at += length ? length : 1;
	}
	text_add(text, "\"");
}
