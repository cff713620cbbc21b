#include "base/arena.h"
#include "base/text.h"
#include "spec/expr.h"
#include "tests/support/complaints.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/* "7/2", "1.41421", with the powers of B, ns and pJ behind it; or the complaint. */
static const char *computed(struct arena *arena, const char *variables, const char *text)
{
	struct diag *diag = diag_open(arena);
	const char *spec = arena_format(arena, "variables: {%s}\nx: %s\n", variables, text);
	const struct node *root = node_read_text(arena, "f", spec, strlen(spec), diag);
	if (!root)
		return complaints_text(arena, diag);
	struct variables *table = variables_read(arena, diag, node_find(root, "variables"));
	struct value value;
	bool fine = expr_read(diag, table, node_find(root, "x"), "'x'", &value);
	assert_int_equal(fine, !diag_failed(diag));
	if (!fine)
		return complaints_text(arena, diag);
	struct text out = text_open(arena);
	if (!value.exact)
		text_add(&out, "%.6g", value.real);
	else if (value.den == 1)
		text_add(&out, "%" PRId64, value.num);
	else
		text_add(&out, "%" PRId64 "/%" PRId64, value.num, value.den);
	if (value.exact)
		assert_true((double)value.num / (double)value.den == value.real);
	if (value_quantity(value) != QUANTITY_BARE)
		text_add(&out, " B%d ns%d pJ%d", value.bytes, value.time, value.energy);
	return text_read(&out);
}

struct row {
	const char *text, *result;
};

static void check(struct arena *arena, const char *variables, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_string_equal(computed(arena, variables, rows[i].text), rows[i].result);
}
#define CHECK(arena, variables, rows) check(arena, variables, rows, sizeof rows / sizeof *rows)

TEST(numbers_are_read_as_users_write_them)
{
	static const struct row rows[] = {
		{"12", "12"},
		{"-3", "-3"},
		{"+3", "3"},
		{"0x1F", "31"},
		{"0b101", "5"},
		{"0o17", "15"},
		{"1_000_000", "1000000"},
		{"1e6", "1000000"},
		{"1.5E+3", "1500"},
		{"1e-9", "1/1000000000"},
		{"0.1", "1/10"},
		{".5", "1/2"},
		{"5.", "5"},
		{"'12'", "12"},
		{"9223372036854775807", "9223372036854775807"},
		{"1e30", "1e+30"},
		{"3.14159265358979323846", "3.14159"},
		{"0", "0"},
		{"0.0", "0"},
	};
	CHECK(arena, "", rows);
}

TEST(arithmetic_is_exact)
{
	static const struct row rows[] = {
		{"1/3 + 1/6", "1/2"},
		{"0.1 + 0.2", "3/10"},
		{"2 + 3 * 4", "14"},
		{"(2 + 3) * 4", "20"},
		{"10 - 3 - 2", "5"},
		{"7 // 2", "3"},
		{"-7 // 2", "-4"},
		{"-7 % 3", "2"},
		{"7 % -3", "-2"},
		{"7.5 % 2", "3/2"},
		{"2 ** 10", "1024"},
		{"2 ** 3 ** 2", "512"},
		{"-2 ** 2", "-4"},
		{"2 ** -2", "1/4"},
		{"(2/3) ** 3", "8/27"},
		{"0 ** 0", "1"},
		{"--3", "3"},
		{"min(3, 1, 2)", "1"},
		{"max(1/3, 0.3)", "1/3"},
		{"ceil(7/2)", "4"},
		{"floor(-7/2)", "-4"},
		{"int(7/2)", "3"},
		{"int(-7/2)", "-3"},
		{"trunc(1e30 / 3e29)", "3"},
		{"round(7/2)", "4"},
		{"round(5/2)", "2"},
		{"round(-5/2)", "-2"},
		{"round(-2.6)", "-3"},
		{"abs(3 - 10)", "7"},
		{"float(12)", "12"},
		{"pow(2, 10)", "1024"},
		{"log2(1024)", "10"},
		{"log2(1/8)", "-3"},
		{"log2(3)", "1.58496"},
		{"ceil(log2(1000))", "10"},
		{"sqrt(49/4)", "7/2"},
		{"sqrt(2)", "1.41421"},
		{"floor(sqrt(2) * 100)", "141"},
		{"1000 ** (1/3)", "10"},
		{"9223372036854775807 * (1/3) * 3", "9223372036854775807"},
	};
	CHECK(arena, "", rows);
}

TEST(units_go_along)
{
	static const struct row rows[] = {
		{"64KiB", "65536 B1 ns0 pJ0"},
		{"64 KiB", "65536 B1 ns0 pJ0"},
		{"2*MiB", "2097152 B1 ns0 pJ0"},
		{"(1 + 1) MB", "2000000 B1 ns0 pJ0"},
		{"1.5GHz", "3/2 B0 ns-1 pJ0"},
		{"204.8GB/s", "1024/5 B1 ns-1 pJ0"},
		{"204.8 GB / s", "1024/5 B1 ns-1 pJ0"},
		{"12pJ", "12 B0 ns0 pJ1"},
		{"12pJ/B", "12 B-1 ns0 pJ1"},
		{"250ns", "250 B0 ns1 pJ0"},
		{"128B * 1.5GHz", "192 B1 ns-1 pJ0"},
		{"1.5GHz * 2ns", "3"},
		{"1MiB / 64KiB", "16"},
		{"1MiB // 64", "16384 B1 ns0 pJ0"},
		{"2MiB - 64*1024", "2031616 B1 ns0 pJ0"},
		{"max(1KiB, 2000)", "2000 B1 ns0 pJ0"},
		{"2ns ** 2", "4 B0 ns2 pJ0"},
		{"1 / 2ns", "1/2 B0 ns-1 pJ0"},
		{"ceil(1.5 B)", "2 B1 ns0 pJ0"},
		{"3fJ", "3/1000 B0 ns0 pJ1"},
	};
	CHECK(arena, "", rows);
}

TEST(every_unit_has_its_factor)
{
	static const struct row rows[] = {
		{"1kB / B", "1000"},
		{"1KB / B", "1000"},
		{"1MB / kB", "1000"},
		{"1GB / MB", "1000"},
		{"1TB / GB", "1000"},
		{"1KiB / B", "1024"},
		{"1MiB / KiB", "1024"},
		{"1GiB / MiB", "1024"},
		{"1TiB / GiB", "1024"},
		{"1B/s * 1s", "1 B1 ns0 pJ0"},
		{"1kB/s * 1s", "1000 B1 ns0 pJ0"},
		{"1KB/s * 1s", "1000 B1 ns0 pJ0"},
		{"1MB/s * 1ms", "1000 B1 ns0 pJ0"},
		{"1GB/s * 1us", "1000 B1 ns0 pJ0"},
		{"1TB/s * 1ns", "1000 B1 ns0 pJ0"},
		{"1KiB/s * 1s", "1024 B1 ns0 pJ0"},
		{"1MiB/s * 1s / KiB", "1024"},
		{"1GiB/s * 1s / MiB", "1024"},
		{"1TiB/s * 1s / GiB", "1024"},
		{"1Hz * 1s", "1"},
		{"1kHz * 1ms", "1"},
		{"1KHz * 1ms", "1"},
		{"1MHz * 1us", "1"},
		{"1GHz * 1ns", "1"},
		{"1ns / ps", "1000"},
		{"1us / ns", "1000"},
		{"1ms / us", "1000"},
		{"1s / ms", "1000"},
		{"1fJ / aJ", "1000"},
		{"1pJ / fJ", "1000"},
		{"1nJ / pJ", "1000"},
		{"1uJ / nJ", "1000"},
		{"1mJ / uJ", "1000"},
		{"1J / mJ", "1000"},
	};
	CHECK(arena, "", rows);
}

TEST(variables_are_computed_from_each_other)
{
	static const struct row rows[] = {
		{"a", "12"},
		{"2*M", "6"},
		{"glb", "65536 B1 ns0 pJ0"},
		{"glb / M", "65536/3 B1 ns0 pJ0"},
		{"s", "5"},
		{"5 s", "5000000000 B0 ns1 pJ0"},
		{"min(min, M)", "2"},
		{"größe", "7"},
		{"quoted", "8"},
	};
	CHECK(arena,
		"a: b * M, b: M + 1, M: 3, glb: 64KiB, s: 5, min: 2, größe: 7, quoted: '2 * 4'",
		rows);
}

TEST(a_cycle_names_its_chain)
{
	const char *said = computed(arena, "a: b + 1, b: c, c: a * 2", "a");
	assert_non_null(strstr(said, "variable 'a' needs itself: a -> b -> c -> a\n"));
	assert_non_null(strstr(computed(arena, "a: a", "a"), "variable 'a' needs itself: a -> a"));
}

TEST(a_wrong_variable_is_reported_once)
{
	const char *said = computed(arena, "a: 1 /, b: a, c: a + b", "a + b + c");
	const char *first = strstr(said, "error:");
	assert_non_null(first);
	assert_null(strstr(first + 1, "error:"));
	assert_non_null(strstr(said, "variable 'a': a number is expected after this"));
}

TEST(depth_is_limited_over_all_variables)
{
	struct text text = text_open(arena);
	for (int i = 0; i < 2000; i++)
		text_add(&text, "v%d: (v%d), ", i, i + 1);
	assert_non_null(
		strstr(computed(arena, text_read(&text), "v0"), "nested more than 100 deep"));
	text = text_open(arena);
	for (int i = 0; i < EXPR_DEPTH_MOST - 1; i++)
		text_add(&text, "(");
	text_add(&text, "7");
	for (int i = 0; i < EXPR_DEPTH_MOST - 1; i++)
		text_add(&text, ")");
	assert_string_equal(computed(arena, "", text_read(&text)), "7");
	assert_non_null(strstr(computed(arena, "", arena_format(arena, "(%s)", text_read(&text))),
		"nested more than 100 deep"));
	static const char *const openings[] = {"(", "-", "2**", "ceil("};
	for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
		text = text_open(arena);
		for (int k = 0; k < 20000; k++)
			text_add(&text, "%s", openings[i]);
		assert_non_null(
			strstr(computed(arena, "", text_read(&text)), "nested more than 100 deep"));
	}
}

/* Each variable adds the one before to itself: 2^40 additions if none were kept. */
TEST(each_variable_is_computed_once)
{
	struct text text = text_open(arena);
	text_add(&text, "v0: 1, ");
	for (int i = 1; i <= 40; i++)
		text_add(&text, "v%d: v%d + v%d, ", i, i - 1, i - 1);
	assert_string_equal(computed(arena, text_read(&text), "v40"), "1099511627776");
}

TEST(unused_variables_are_checked_unless_they_are_text)
{
	static const struct {
		const char *variables;
		size_t errors;
	} table[] = {
		{"a: b, b: a", 1},
		{"a: 1 / 0, b: 2 +", 2},
		{"technology: 45nm, kind: sram, version: 0.4, path: 'a / b', list: [1]", 0},
		{"a: 3 * bb", 1},
		{"a: f(x=3) + 1, b: 2 * bb if a else 1, c: lambda x", 0},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct diag *diag = diag_open(arena);
		const char *text = arena_format(arena, "{%s}", table[i].variables);
		const struct node *map = node_read_text(arena, "f", text, strlen(text), diag);
		variables_check(variables_read(arena, diag, map), diag);
		assert_int_equal(diag_errors(diag), table[i].errors);
	}
}
