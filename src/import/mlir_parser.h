#ifndef IMPORT_MLIR_PARSER_H
#define IMPORT_MLIR_PARSER_H

#include "base/text.h"
#include "import/mlir.h"

/* The state of the parser, and the types and attributes inside its calls.  What answers false has complained. */
enum { NESTING_MOST = 64 };

/* What stands between the keys of one call, while it is collected. */
struct gathering {
	const char *key;
	struct array(int64_t) ints;
	struct array(double) numbers;
	bool fraction, hex;
	size_t count;     /* of numbers, those past CONSTANT_MOST too */
	struct text text; /* words and strings */
	struct mlir_type type;
};

struct mlir_parser {
	struct model *model;
	struct arena *arena;
	struct mlir_scan scan;
	struct mlir_functions *functions;
	struct mlir_function *function; /* in work; NULL outside of functions */
	bool failed;
	int depth;
};

bool mlir_fail(struct mlir_parser *p, int line, const char *text);
bool mlir_fail_here(struct mlir_parser *p, const char *text);
bool mlir_ended(const struct mlir_parser *p);
void mlir_skip_balanced(struct mlir_parser *p, int line);
bool mlir_read_type(struct mlir_parser *p, struct mlir_type *out);
void mlir_skip_location(struct mlir_parser *p);
void mlir_gather_number(struct mlir_parser *p, struct gathering *g);
void mlir_end_key(
	struct mlir_parser *p, struct mlir_call *call, struct gathering *g, const char *next);
void mlir_gather_word(struct mlir_parser *p, struct mlir_call *call, struct gathering *g);
void mlir_gather_inside(
	struct mlir_parser *p, struct mlir_call *call, struct gathering *g, int line);

#endif
