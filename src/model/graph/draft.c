#include "model/graph/draft.h"

#include "base/fatal.h"
#include "base/text.h"

enum { LISTED_MOST = 8 };

static const char *near_text(const struct draft *draft, const char *name, const char *const *known)
{
	return suggestion(draft->reading->arena, suggest(name, known), "");
}

/* Past the complaints that are printed nobody reads suggestions, and they take time. */
static bool is_quiet(const struct draft *draft)
{
	return diag_full(draft->reading->diag);
}

const char *draft_near_dimension(const struct draft *draft, const char *name)
{
	if (is_quiet(draft))
		return "";
	const char **known =
		arena_array(draft->reading->arena, const char *, draft->dimensions.count + 1);
	for (size_t i = 0; i < draft->dimensions.count; i++)
		known[i] = draft->dimensions.at[i].name;
	const char *near = near_text(draft, name, known);
	if (*near || !draft->dimensions.count || draft->dimensions.count > LISTED_MOST)
		return near;
	struct text list = text_open(draft->reading->arena);
	for (size_t i = 0; i < draft->dimensions.count; i++)
		text_add(&list, "%s%s", i ? ", " : "; the dimensions are ", known[i]);
	return text_read(&list);
}

const char *draft_near_tensor(const struct draft *draft, const char *name)
{
	if (is_quiet(draft))
		return "";
	size_t count = 0;
	const char **known =
		arena_array(draft->reading->arena, const char *, draft->tensors.count + 1);
	for (size_t t = 0; t < draft->tensors.count; t++) {
		if (draft->sketches.at[t].used && !text_equal(draft->tensors.at[t].name, name))
			known[count++] = draft->tensors.at[t].name;
	}
	return near_text(draft, name, known);
}

int draft_tensor(struct draft *draft, const char *name, struct span at)
{
	struct arena *arena = draft->reading->arena;
	int t = names_find(&draft->tensor_names, name);
	if (t >= 0)
		return t;
	t = (int)draft->tensors.count;
	name = arena_text(arena, name);
	*array_add(arena, &draft->tensors) =
		(struct tensor){.name = name, .producer = -1, .span = at};
	*array_add(arena, &draft->sketches) =
		(struct sketch){.dtype = draft->dtype, .rank = -1, .reader = -1};
	names_add(arena, &draft->tensor_names, name, t);
	return t;
}

struct span draft_place(const struct draft *draft, int tensor)
{
	const struct sketch *sketch = &draft->sketches.at[tensor];
	return sketch->text ? node_part(sketch->text, sketch->place.at, sketch->place.end)
			    : draft->tensors.at[tensor].span;
}

/* An entry of `shape:`: a dimension's name or a number. */
static bool read_extent(
	struct draft *draft, const struct node *node, int64_t *extent, const char **name)
{
	int d = node->kind == NODE_SCALAR ? names_find(&draft->dimension_names, node->text) : -1;
	*name = NULL;
	if (d < 0)
		return node_integer(draft->reading, node, "extent", 1, EXTENT_MOST, extent);
	draft->dimensions.at[d].used = true;
	*extent = draft->dimensions.at[d].extent;
	*name = draft->dimensions.at[d].name;
	return true;
}

static void read_shape(
	struct draft *draft, const struct node *list, const char *name, struct sketch *sketch)
{
	if (list->count > LAYOUT_HOST_RANK_MOST) {
		diag_error(draft->reading->diag, list->span,
			"tensor '%s' has %zu dimensions; at most %d", name, list->count,
			LAYOUT_HOST_RANK_MOST);
		return;
	}
	for (size_t h = 0; h < list->count; h++) {
		if (!read_extent(draft, list->items[h], &sketch->size[h], &sketch->names[h]))
			return;
	}
	sketch->rank = (int)list->count;
	sketch->shape_given = true;
}

static void read_tensor(struct draft *draft, const struct node_entry *entry)
{
	struct reader reader;
	const struct node *shape;
	int dtype;
	int t = draft_tensor(draft, entry->key, entry->key_span);
	struct sketch *sketch = &draft->sketches.at[t];
	const char *what = arena_format(draft->reading->arena, "tensor '%s'", entry->key);
	if (!reader_open(&reader, draft->reading, entry->value, what))
		return;
	/* a machine of words has what it has, whatever the model was trained in */
	if (read_word(&reader, "dtype", OPTIONAL, dtype_names, &dtype) &&
		!(draft->fits && draft->linear))
		sketch->dtype = (enum dtype)dtype;
	shape = read_list(&reader, "shape", OPTIONAL);
	if (shape)
		read_shape(draft, shape, entry->key, sketch);
	sketch->layout = read_list(&reader, "layout", OPTIONAL);
	reader_done(&reader);
}

void draft_read_tensors(struct draft *draft, const struct node *map)
{
	for (size_t i = 0; i < map->count; i++)
		read_tensor(draft, &map->entries[i]);
}

/* "[h, k, d]": a tensor's dimensions by name, by number where they have none. */
static const char *list_dimensions(struct draft *draft, const struct sketch *sketch)
{
	struct text text = text_open(draft->reading->arena);
	for (int h = 0; h < sketch->rank; h++) {
		text_add(&text, h ? ", " : "");
		if (sketch->names[h])
			text_add(&text, "%s", sketch->names[h]);
		else
			text_add(&text, "%d", h);
	}
	return text_read(&text);
}

/* Which host dimension a word of `layout:` means; -1 for the last word "sparse". */
static bool find_host_dimension(
	struct draft *draft, int tensor, const struct node *node, bool last, int *out)
{
	const struct sketch *sketch = &draft->sketches.at[tensor];
	if (last && node->kind == NODE_SCALAR && text_equal(node->text, "sparse")) {
		*out = -1;
		return true;
	}
	for (int h = 0; h < sketch->rank && node->kind == NODE_SCALAR; h++) {
		const char *number = arena_format(draft->reading->arena, "%d", h);
		if ((sketch->names[h] && text_equal(sketch->names[h], node->text)) ||
			text_equal(number, node->text)) {
			*out = h;
			return true;
		}
	}
	diag_error(draft->reading->diag, node->span,
		"the layout of '%s' lists its dimensions %s, stick last, or sparse after them",
		draft->tensors.at[tensor].name, list_dimensions(draft, sketch));
	return false;
}

/* The order that `layout:` gives; its length, -1 after complaining. */
static int read_layout(struct draft *draft, int tensor, int *order)
{
	const struct sketch *sketch = &draft->sketches.at[tensor];
	const struct node *list = sketch->layout;
	unsigned seen = 0, all = (1u << sketch->rank) - 1;
	size_t most = (size_t)sketch->rank + 1;
	for (size_t i = 0; i < list->count && i < most; i++) {
		bool last = i + 1 == list->count;
		if (!find_host_dimension(draft, tensor, list->items[i], last, &order[i]))
			return -1;
		seen |= order[i] < 0 ? 0 : 1u << order[i];
	}
	size_t named = list->count -
		       (list->count > 0 && list->count <= most && order[list->count - 1] < 0);
	if (seen == all && named == (size_t)sketch->rank)
		return (int)list->count;
	diag_error(draft->reading->diag, list->span,
		"the layout of '%s' must list each of its dimensions %s once, stick last",
		draft->tensors.at[tensor].name, list_dimensions(draft, sketch));
	return -1;
}

/* Row by row, whatever the spec wants. */
static bool lay_out_linear(struct draft *draft, int tensor)
{
	struct sketch *sketch = &draft->sketches.at[tensor];
	struct layout *out = &draft->tensors.at[tensor].layout;
	if (sketch->layout)
		diag_error(draft->reading->diag, sketch->layout->span,
			"'%s' has a device layout, and '%s' has no sticks: arrays lie there row by row; "
			"leave 'layout' out, or give '%s' 'stick: 128B' and the scratchpad 'transfer: "
			"box'",
			draft->tensors.at[tensor].name, draft->linear->name, draft->linear->name);
	sketch->layout = NULL; /* said once */
	return layout_linear(sketch->dtype, sketch->size, sketch->rank, out);
}

/* In the order given, or that of `layout:`. */
static bool lay_out_in_sticks(struct draft *draft, int tensor, const int *order, int order_count)
{
	struct sketch *sketch = &draft->sketches.at[tensor];
	struct tensor *out = &draft->tensors.at[tensor];
	int given[LAYOUT_HOST_RANK_MOST + 1];
	if (sketch->layout) {
		order = given;
		order_count = read_layout(draft, tensor, given);
		out->layout_given = true;
		if (order_count < 0) {
			sketch->layout = NULL; /* said once */
			order_count = 0;
		}
	}
	return layout_make(sketch->dtype, sketch->size, sketch->rank, order_count ? order : NULL,
		order_count, &out->layout);
}

bool draft_lay_out(struct draft *draft, int tensor, const int *order, int order_count)
{
	struct tensor *out = &draft->tensors.at[tensor];
	if ((draft->linear ? lay_out_linear(draft, tensor)
			   : lay_out_in_sticks(draft, tensor, order, order_count)) &&
		out->layout.bytes >> TENSOR_BYTES_MOST_LOG2 == 0)
		return true;
	diag_error(draft->reading->diag, draft_place(draft, tensor),
		"tensor '%s' takes more than 2^%d bytes on the device", out->name,
		TENSOR_BYTES_MOST_LOG2);
	layout_make(draft->sketches.at[tensor].dtype, NULL, 0, NULL, 0,
		&out->layout); /* something to go on with */
	return false;
}
