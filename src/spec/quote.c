#include "spec/quote.h"

#include "base/text.h"

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

void quote_yaml(struct text *text, const char *word)
{
	if (is_plain(word)) {
		text_add(text, "%s", word);
		return;
	}
	const char *at = word;
	text_add(text, "\"");
	while (*at) {
		unsigned number;
		size_t length = utf8_special(at, &number);
		if (length)
			text_add(text, "\\u%04x", number);
		else if (*at == '"' || *at == '\\')
			text_add(text, "\\%c", *at);
		else
			text_bytes(text, at, 1);
		at += length ? length : 1;
	}
	text_add(text, "\"");
}
