#ifndef SPEC_STEP_H
#define SPEC_STEP_H

#include "base/diag.h"

#include <yaml.h>

/*
 * libyaml's events, one after the other, as steps in our own memory.  Tags that
 * only say what we read anyway (`!!int`, `!!map`) are dropped; `!!str` and `!`
 * make a scalar count as quoted.
 */
struct arena;

struct yaml_step {
	yaml_event_type_t type;
	const char *anchor, *tag; /* NULL when none is written */
	const char *text;         /* of a scalar */
	bool quoted, flow;
	struct span span;
};

struct stepper {
	yaml_parser_t parser;
	const struct source *source;
	struct span end; /* of the text: libyaml's marks may lie behind it */
	struct arena *arena;
	struct diag *diag;
};

void stepper_open(struct stepper *stepper, struct arena *arena, const struct source *source,
	struct diag *diag);
void stepper_close(struct stepper *stepper);

struct span stepper_span(const struct stepper *stepper, yaml_mark_t from, yaml_mark_t to);

/* False after complaining about what is no YAML: there is no next step. */
bool stepper_next(struct stepper *stepper, struct yaml_step *step);

#endif
