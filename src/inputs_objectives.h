#ifndef INPUTS_OBJECTIVES_H
#define INPUTS_OBJECTIVES_H

#include "base/option.h"
#include "search/explore.h"
#include "spec/reader.h"

/* Objectives by name, as specs and options list them; all of these complain. */
void objectives_add(
	struct objectives *objectives, const char *name, struct span span, struct diag *diag);

/* `objectives:` of a search map replaces the list; nothing happens without it. */
void objectives_read(struct reader *search, struct objectives *objectives);

/* `--objective` replaces it too. */
void objectives_take(const struct arguments *arguments, struct objectives *objectives,
	struct arena *arena, struct diag *diag);

#endif
