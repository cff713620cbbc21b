#include "tests/support/xml_check.h"

#include "base/arena.h"
#include "base/array.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct tag {
	const char *name;
	size_t length;
};

struct xml {
	struct arena *arena;
	const char *at;
	struct array(struct tag) open;
	int roots;
};

static size_t name_length(const char *at)
{
	size_t length = isalpha((unsigned char)*at) ? 1 : 0;
	while (length && (isalnum((unsigned char)at[length]) || strchr("-_:.", at[length])) &&
		at[length])
		length++;
	return length;
}

/* Plain text up to one of the marks. */
static const char *check_text(struct xml *xml, const char *marks)
{
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	for (; *xml->at && !strchr(marks, *xml->at); xml->at++) {
		bool known = false;
		for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
			known |= strncmp(xml->at, entities[i], strlen(entities[i])) == 0;
		if (*xml->at == '&' && !known)
			return "a bare &";
		if (*xml->at == '<' || *xml->at == '>')
			return "a bare < or >";
		if ((unsigned char)*xml->at < ' ' && !strchr("\n\t\r", *xml->at))
			return "a control character";
	}
	return NULL;
}

static const char *check_attributes(struct xml *xml)
{
	struct array(struct tag) seen = {0};
	for (;;) {
		size_t blanks = strspn(xml->at, " \n\t");
		xml->at += blanks;
		if (strchr("/>?", *xml->at))
			return *xml->at ? NULL : "a tag without end";
		size_t length = name_length(xml->at);
		if (!length || !blanks)
			return "no attribute where one is expected";
		for (size_t i = 0; i < seen.count; i++)
			if (seen.at[i].length == length &&
				strncmp(seen.at[i].name, xml->at, length) == 0)
				return "an attribute twice";
		*array_add(xml->arena, &seen) = (struct tag){xml->at, length};
		xml->at += length;
		if (strncmp(xml->at, "=\"", 2) != 0)
			return "an attribute without a value in quotes";
		xml->at += 2;
		const char *why = check_text(xml, "\"");
		if (why || *xml->at != '"')
			return why ? why : "a value without end";
		xml->at++;
	}
}

static const char *check_close(struct xml *xml)
{
	size_t length = name_length(xml->at += 2);
	const struct tag *open = xml->open.count ? &xml->open.at[xml->open.count - 1] : NULL;
	if (!open || open->length != length || strncmp(open->name, xml->at, length) != 0)
		return "a tag closes that is not open";
	xml->at += length;
	if (*xml->at++ != '>')
		return "a closing tag without end";
	xml->open.count--;
	return NULL;
}

static const char *check_tag(struct xml *xml)
{
	if (xml->at[1] == '/')
		return check_close(xml);
	struct tag tag = {xml->at + 1, name_length(xml->at + 1)};
	if (!tag.length)
		return "a tag without a name";
	xml->roots += !xml->open.count;
	xml->at += 1 + tag.length;
	const char *why = check_attributes(xml);
	bool empty = *xml->at == '/';
	xml->at += empty;
	if (why || *xml->at++ != '>')
		return why ? why : "a tag without end";
	if (!empty)
		*array_add(xml->arena, &xml->open) = tag;
	return NULL;
}

const char *xml_check(struct arena *arena, const char *text)
{
	static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
	struct xml xml = {.arena = arena, .at = text};
	if (strncmp(text, head, sizeof head - 1) != 0)
		return "no declaration";
	xml.at += sizeof head - 1;
	while (*xml.at) {
		const char *from = xml.at, *why = check_text(&xml, "<");
		for (; !xml.open.count && from < xml.at; from++)
			if (!isspace((unsigned char)*from))
				return "text outside the root";
		if (!why && *xml.at)
			why = check_tag(&xml);
		if (why)
			return why;
	}
	return xml.open.count ? "a tag is not closed" : xml.roots != 1 ? "not one root" : NULL;
}
