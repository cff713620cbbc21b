#ifndef SPEC_QUOTE_H
#define SPEC_QUOTE_H

#include "base/text.h"

/*
 * Adds a word as a YAML scalar on one line: bare where every reader takes it for
 * the same word, in double quotes otherwise.  The word is UTF-8.
 */
void quote_yaml(struct text *text, const char *word);

#endif
