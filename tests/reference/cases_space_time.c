#include "base/arena.h"
#include "cost/recurrence/projection.h"
#include "spec/node.h"
#include "tests/support/case_json.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <math.h>
#include <string.h>

/*
 * Family space-time: designs.json (facts of one projection).  Each case is written as a spec and
 * read back.
 */
static void add_numbers(struct text *text, const json_t *list)
{
	size_t i;
	const json_t *item;
	text_add(text, "[");
	json_array_foreach(list, i, item)
		text_add(text, "%s%lld", i ? ", " : "", (long long)json_integer_value(item));
	text_add(text, "]");
}

/* The cases compare the dependence itself as e: here it is known. */
static void add_condition(struct text *text, const char *when, const json_t *vector)
{
	while (*when) {
		const char *end = strchr(when, ')');
		bool equal = strncmp(when, "e==(", 4) == 0;
		if (!end || (!equal && strncmp(when, "e!=(", 4) != 0)) {
			text_bytes(text, when++, 1);
			continue;
		}
		struct text tuple = text_open(text->arena);
		size_t i;
		const json_t *item;
		json_array_foreach(vector, i, item)
			text_add(&tuple, "%s%lld", i ? "," : "",
				(long long)json_integer_value(item));
		bool same = strlen(text_read(&tuple)) == (size_t)(end - when - 4) &&
			    strncmp(text_read(&tuple), when + 4, tuple.length) == 0;
		text_add(text, "1 == %d", same == equal);
		when = end + 1;
	}
}

static void add_dependences(struct text *text, const json_t *record)
{
	const char *name;
	json_t *vectors;
	const json_t *vector;
	size_t i;
	text_add(text, "  dependences:%s\n",
		json_object_size(json_object_get(record, "deps")) ? "" : " {}");
	json_object_foreach((json_t *)json_object_get(record, "deps"), name, vectors) {
		const char *when =
			json_string_value(json_object_get(json_object_get(record, "when"), name));
		text_add(text, "    %s:\n", name);
		json_array_foreach(vectors, i, vector) {
			text_add(text, "      - {vector: ");
			add_numbers(text, vector);
			if (when) {
				text_add(text, ", when: \"");
				add_condition(text, when, vector);
				text_add(text, "\"");
			}
			text_add(text, "}\n");
		}
	}
}

static const char *write_spec(struct arena *arena, const json_t *record)
{
	struct text text = text_open(arena);
	const json_t *loops = json_object_get(record, "loops"), *item;
	const json_t *predicate = json_object_get(record, "domain_predicate");
	size_t i;
	text_add(&text, "space_time:\n  loops:\n");
	json_array_foreach(loops, i, item) {
		long long least =
			json_integer_value(json_array_get(json_object_get(record, "mins"), i));
		long long extent =
			json_integer_value(json_array_get(json_object_get(record, "extents"), i));
		text_add(&text, "    %s: [%lld, %lld]\n", json_string_value(item), least,
			least + extent);
	}
	if (json_is_string(predicate))
		text_add(&text, "  domain: \"%s\"\n", json_string_value(predicate));
	add_dependences(&text, record);
	text_add(&text, "  allocation:\n");
	json_array_foreach(json_object_get(record, "P"), i, item) {
		text_add(&text, "    - ");
		add_numbers(&text, item);
		text_add(&text, "\n");
	}
	text_add(&text, "  schedule: ");
	add_numbers(&text, json_object_get(record, "s"));
	text_add(&text, "\n  wires: [");
	json_array_foreach(json_object_get(record, "broadcast"), i, item)
		text_add(&text, "%s%s", i ? ", " : "", json_string_value(item));
	text_add(&text, "]\n");
	return text_read(&text);
}

static json_t *numbers(const int64_t *at, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_integer(at[i]));
	return list;
}

static json_t *bounds(struct bounds bounds)
{
	return json_pack("[I, I]", (json_int_t)bounds.least, (json_int_t)bounds.extent);
}

/* Any basis will do: the case's is expected to be one of what we found. */
static json_t *vectors(const struct projection *projection, const json_t *expected,
	const struct projection_facts *facts)
{
	size_t i, k;
	const json_t *vector, *entry;
	if (json_array_size(expected) != (size_t)facts->vector_count)
		return json_integer(facts->vector_count);
	json_array_foreach(expected, i, vector)
		for (int r = 0; r < projection->space_count; r++) {
			int64_t sum = 0;
			json_array_foreach(vector, k, entry)
				sum += json_integer_value(entry) * projection->space[r][k];
			if (sum)
				return json_string("a vector moves");
		}
	return json_deep_copy(expected);
}

static json_t *busy(const json_t *expected, const struct projection_facts *facts)
{
	json_t *list = json_array();
	size_t i, k;
	const json_t *vector, *entry;
	json_array_foreach(expected, i, vector) {
		int64_t sum = 0;
		json_array_foreach(vector, k, entry)
			sum += json_integer_value(entry) * facts->schedule[k];
		json_array_append_new(list, json_pack("[I]", (json_int_t)sum));
	}
	return list;
}

static int compare_channels(const json_t *a, const json_t *b)
{
	for (size_t i = 0; i < json_array_size(json_array_get(a, 0)); i++) {
		json_int_t x = json_integer_value(json_array_get(json_array_get(a, 0), i));
		json_int_t y = json_integer_value(json_array_get(json_array_get(b, 0), i));
		if (x != y)
			return x < y ? -1 : 1;
	}
	json_int_t x = json_integer_value(json_array_get(a, 1));
	json_int_t y = json_integer_value(json_array_get(b, 1));
	return (x > y) - (x < y);
}

/* The cases list the channels of a stream in the order of their numbers, each once. */
static void insert_channel(json_t *list, json_t *channel)
{
	size_t at = 0;
	for (; at < json_array_size(list); at++) {
		int order = compare_channels(json_array_get(list, at), channel);
		if (order > 0)
			break;
		if (!order) {
			json_decref(channel);
			return;
		}
	}
	json_array_insert_new(list, at, channel);
}

static json_t *channels(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts)
{
	json_t *all = json_object();
	for (int s = 0; s < recurrence->stream_count; s++) {
		json_t *list = json_array();
		for (int d = 0; d < recurrence->dependence_count; d++)
			if (recurrence->dependences[d].stream == s)
				insert_channel(list, json_pack("[o, I]",
							     numbers(facts->channels[d].move,
								     projection->space_count),
							     (json_int_t)facts->channels[d].delay));
		json_object_set_new(all, recurrence->streams[s].name, list);
	}
	return all;
}

static json_t *registers(const struct recurrence *recurrence, const struct projection_facts *facts)
{
	json_t *all = json_object();
	for (int s = 0; s < recurrence->stream_count; s++)
		json_object_set_new(
			all, recurrence->streams[s].name, json_integer(facts->registers[s]));
	return all;
}

static json_t *violation(const struct recurrence *recurrence, const struct projection_facts *facts)
{
	if (facts->causal)
		return json_null();
	const struct dependence *dependence = &recurrence->dependences[facts->dependence];
	return json_pack("{s:s, s:o, s:o, s:I}", "var",
		recurrence->streams[dependence->stream].name, "dep",
		numbers(dependence->vector, recurrence->loop_count), "at",
		numbers(facts->late.at, recurrence->loop_count), "dt",
		(json_int_t)facts->channels[facts->dependence].delay);
}

static json_t *conflict(const struct recurrence *recurrence, const struct projection_facts *facts)
{
	return json_pack("[o, o]", numbers(facts->meeting[0].at, recurrence->loop_count),
		numbers(facts->meeting[1].at, recurrence->loop_count));
}

static void compare(struct family *family, const json_t *expect, const struct space_time *spec)
{
	const struct recurrence *recurrence = &spec->recurrence;
	const struct projection *projection = &spec->projection;
	struct projection_facts facts = projection_facts(recurrence, projection, NULL);
	json_t *space = json_array();
	for (int r = 0; r < projection->space_count; r++)
		json_array_append_new(space, bounds(facts.space[r]));
	double utilisation = (double)facts.points / ((double)facts.pes * (double)facts.cycles);
	const json_t *basis = json_object_get(expect, "projection_vectors");
	const json_t *recorded = json_object_get(expect, "utilisation"); /* to six decimals */
	family_expect(family, "legal", json_object_get(expect, "legal"),
		json_boolean(facts.fault == PROJECTION_FINE));
	family_expect(
		family, "causal", json_object_get(expect, "causal"), json_boolean(facts.causal));
	family_expect(family, "conflicts", json_object_get(expect, "conflicts"),
		json_integer(facts.conflicts));
	family_expect(
		family, "points", json_object_get(expect, "points"), json_integer(facts.points));
	family_expect(family, "pes", json_object_get(expect, "pes"), json_integer(facts.pes));
	family_expect(
		family, "cycles", json_object_get(expect, "cycles"), json_integer(facts.cycles));
	family_expect(family, "space_bounds", json_object_get(expect, "space_bounds"), space);
	family_expect(family, "time_bounds", json_object_get(expect, "time_bounds"),
		json_pack("[o]", bounds(facts.time)));
	bool near = fabs(json_number_value(recorded) - utilisation) <= 0.5000001e-6;
	family_expect(family, "utilisation", recorded,
		near ? json_deep_copy(recorded) : json_real(utilisation));
	family_expect(family, "projection_vectors", basis, vectors(projection, basis, &facts));
	family_expect(family, "s_dot_d", json_object_get(expect, "s_dot_d"), busy(basis, &facts));
	family_expect(family, "regs_per_var", json_object_get(expect, "regs_per_var"),
		registers(recurrence, &facts));
	family_expect(family, "channels", json_object_get(expect, "channels"),
		channels(recurrence, projection, &facts));
	family_expect(family, "violation", json_object_get(expect, "violation"),
		violation(recurrence, &facts));
	if (facts.conflicts)
		family_expect(family, "first_conflict", json_object_get(expect, "first_conflict"),
			conflict(recurrence, &facts));
}

static void check(struct family *family, const json_t *record)
{
	family_case(family, "designs/%s", case_text(record, "id"));
	struct diag *diag = diag_open(family->arena);
	const char *text = write_spec(family->arena, record);
	const struct node *node =
		node_read_text(family->arena, "case.yaml", text, strlen(text), diag);
	struct reading reading = {.arena = family->arena, .diag = diag};
	struct space_time spec;
	if (!node || !space_time_read(&reading, node_find(node, "space_time"), NULL, &spec)) {
		family_note(family, "refused", complaints_text(family->arena, diag));
		return;
	}
	compare(family, json_object_get(record, "expect"), &spec);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "space-time/designs", root, "space-time"))
		return 0;
	json_t *file = family_file(&family, root, "space-time/designs.json");
	size_t i;
	const json_t *record;
	json_array_foreach(json_object_get(file, "cases"), i, record)
		check(&family, record);
	json_decref(file);
	return family_close(&family);
}
