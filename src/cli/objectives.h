#ifndef CLI_OBJECTIVES_H
#define CLI_OBJECTIVES_H

#include "cli/settings.h"
#include "model/nest/hierarchy.h"
#include "search/drive/frontier.h"
#include "spec/reader.h"

/*
 * Objectives by name, as specs and options list them; all of these complain.  accesses:LEVEL is
 * for problems and names a level that keeps words.
 */
struct objective_scope {
	struct arena *arena;
	struct diag *diag;
	enum subject subject;
	const struct hierarchy *hierarchy; /* of a problem; NULL: it could not be read */
};

void objectives_add(struct objectives *objectives, const char *name, struct span span,
	const struct objective_scope *scope);

/* Accesses of a level of scope->hierarchy that keeps words. */
void objectives_add_level(struct objectives *objectives, int level, struct span span,
	const struct objective_scope *scope);

/* `objectives:` of a search map replaces the list; nothing happens without it. */
void objectives_read(
	struct reader *search, struct objectives *objectives, const struct objective_scope *scope);

/* `--objective` replaces it too. */
void objectives_take(const struct arguments *arguments, struct objectives *objectives,
	const struct objective_scope *scope);

#endif
