#ifndef SUPPORT_XML_CHECK_H
#define SUPPORT_XML_CHECK_H

/*
 * Checks that a text is well-formed XML, as far as we write any: a declaration, one root, tags that
 * close in order, attributes in double quotes and none twice, no bare `<`, `>` or `&`.  NULL, or what is
 * wrong.
 */
struct arena;
const char *xml_check(struct arena *arena, const char *text);

#endif
