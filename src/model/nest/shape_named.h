#ifndef MODEL_SHAPE_NAMED_H
#define MODEL_SHAPE_NAMED_H

/*
 * The shapes that Timeloop ships in its folder problem-shapes and that a problem
 * may name: `shape: cnn-layer`.  As Timeloop does, a problem without any shape
 * has that of cnn-layer.
 */
struct node;
struct reading;

extern const char *const shape_named_names[]; /* NULL ends them */
extern const char *const shape_named_default;

/* The map that a `shape:` would hold; '-' counts as '_', and an ending .yaml, .yml or .cfg may
 * follow.  NULL: there is no such shape. */
const struct node *shape_named(const struct reading *reading, const char *name);

/* What a `shape:` means: itself, or of a word the value of that key of `shapes` (NULL: there are
 * none), or else the shape of that name.  NULL after complaining. */
const struct node *shape_named_find(
	const struct reading *reading, const struct node *written, const struct node *shapes);

#endif
