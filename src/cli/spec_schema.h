#ifndef CLI_SPEC_SCHEMA_H
#define CLI_SPEC_SCHEMA_H

/*
 * The JSON schema of spec files, draft 7, for editors: spec_schema.json with what tables of the
 * program have: settings, solvers, objectives, kinds of constraints, attributes, keys of files.
 */
struct arena;

const char *spec_schema(struct arena *arena);

#endif
