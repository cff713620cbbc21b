#include "calibrate/machine_file.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct file_reading {
	struct arena *arena;
	struct diag *diag;
	const struct source *source;
	struct free_attribute *free;
	size_t count;
};

/* A number and its unit. */
static bool split(const struct node *node, double *value, const char **unit)
{
	char *end;
	if (node->kind != NODE_SCALAR)
		return false;
	*value = strtod(node->text, &end);
	*unit = end;
	return end != node->text && isfinite(*value);
}

/* One end of a range, in the unit of the attribute. */
static bool read_end(struct file_reading *reading, const struct node *node,
	const struct free_attribute *attribute, double *out)
{
	const char *unit;
	if (split(node, out, &unit) && text_equal(unit, attribute->unit))
		return true;
	diag_error(reading->diag, node->span,
		"the range of '%s' is in another unit; write a number%s%s", attribute->key,
		*attribute->unit ? " and " : " alone", attribute->unit);
	return false;
}

static void read_attribute(struct file_reading *reading, const char *level,
	const struct node_entry *entry, const struct node *attributes)
{
	struct diag *diag = reading->diag;
	struct free_attribute *out = &reading->free[reading->count];
	const struct node *given = attributes && attributes->kind == NODE_MAP
					   ? node_find(attributes, entry->key)
					   : NULL;
	*out = (struct free_attribute){.level = level, .key = entry->key};
	if (!given || !split(given, &out->value, &out->unit)) {
		diag_error(diag, entry->key_span, "'%s' is free, and '%s' gives no number for it",
			entry->key, level);
		return;
	}
	if (entry->value->kind != NODE_LIST || entry->value->count != 2) {
		diag_error(diag, entry->value->span, "the range of '%s' is a list: [least, most]",
			entry->key);
		return;
	}
	if (!read_end(reading, entry->value->items[0], out, &out->least) ||
		!read_end(reading, entry->value->items[1], out, &out->most))
		return;
	if (out->least >= out->most || out->value < out->least || out->value > out->most) {
		diag_error(diag, entry->value->span,
			"the range of '%s' does not have its value in it", entry->key);
		return;
	}
	out->whole = !*out->unit && !strchr(given->text, '.') &&
		     !strchr(entry->value->items[0]->text, '.') &&
		     !strchr(entry->value->items[1]->text, '.');
	out->from = source_offset(reading->source, given->span.line, given->span.column);
	out->to = source_offset(reading->source, given->span.end_line, given->span.end_column);
	if (reading->count + 1 < FREE_MOST)
		reading->count++;
	else
		diag_error(
			diag, entry->key_span, "at most %d attributes can be free", FREE_MOST - 1);
}

/* Every map with `attributes` and `free`, wherever it is. */
static void visit(struct file_reading *reading, const struct node *node)
{
	for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
		visit(reading, node->items[i]);
	if (node->kind != NODE_MAP)
		return;
	const struct node *name = node_find(node, "name"), *free = node_find(node, "free");
	if (free && name && name->kind == NODE_SCALAR && free->kind == NODE_MAP)
		for (size_t i = 0; i < free->count; i++)
			read_attribute(reading, name->text, &free->entries[i],
				node_find(node, "attributes"));
	for (size_t i = 0; i < node->count; i++)
		if (node->entries[i].value != free)
			visit(reading, node->entries[i].value);
}

static int compare_places(const void *a, const void *b)
{
	const struct free_attribute *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

bool machine_file_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct machine_file *out)
{
	const struct node *root =
		node_read_text(arena, source->name, source->bytes, source->length, diag);
	struct file_reading reading = {.arena = arena,
		.diag = diag,
		.source = source,
		.free = arena_array(arena, struct free_attribute, FREE_MOST)};
	if (!root)
		return false;
	visit(&reading, root);
	qsort(reading.free, reading.count, sizeof *reading.free, compare_places);
	*out = (struct machine_file){source, reading.count, reading.free};
	return !diag_failed(diag);
}

const char *machine_file_text(
	struct arena *arena, const struct machine_file *file, const double *values)
{
	struct text text = text_open(arena);
	size_t at = 0;
	for (size_t i = 0; i < file->count; i++) {
		const struct free_attribute *attribute = &file->free[i];
		double value = attribute->whole ? nearbyint(values[i]) : values[i];
		text_add(&text, "%.*s", (int)(attribute->from - at), file->source->bytes + at);
		text_add(&text, "%.6g%s", value, attribute->unit);
		at = attribute->to;
	}
	text_add(&text, "%.*s", (int)(file->source->length - at), file->source->bytes + at);
	return text_read(&text);
}

const struct arch *machine_file_make(struct arena *arena, const struct machine_file *file,
	const double *values, struct diag *diag)
{
	const char *text = machine_file_text(arena, file, values);
	const struct node *root =
		node_read_text(arena, file->source->name, text, strlen(text), diag);
	const struct node *node =
		root && root->kind == NODE_MAP ? node_find(root, "architecture") : NULL;
	struct reading reading = {.arena = arena, .diag = diag};
	if (root && !node)
		diag_error(diag, root->span, "there is no 'architecture:'");
	const struct arch *arch = node ? arch_read(&reading, node) : NULL;
	return arch && arch_fits_graphs(arch, diag) && !diag_failed(diag) ? arch : NULL;
}
