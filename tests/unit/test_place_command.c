#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"
#include "tests/support/place_shell.h"
#include "tests/support/xml_check.h"

#include <string.h>

#include "tests/test.h"

/* Never more than 5 bytes live, and yet they do not fit into 5. */
static const char twisted[] = PLACE_HEAD "a,0,1,3\nb,0,4,2\nc,1,6,1\nd,1,5,2\n"
					 "e,4,5,1\nf,4,6,1\ng,5,7,3\nh,6,7,2\n";

static void a_certificate_holds_until_it_is_changed(void **state)
{
	folder_put("b.csv", "id,lower,upper,size,address\nx,0,9,4,5\na,0,4,6,\nb,3,6,4,\n");
	struct ended ended = place_run("b.csv --capacity 14 --certificate proof.yaml -q");
	assert_int_equal(ended.status, 1);
	place_expect("b.csv --capacity 14 --check-certificate proof.yaml", 0,
		"the certificate holds: 2 of 3 buffers do not fit into 14 bytes, by 1 cases\n", "");
	place_expect("b.csv --capacity 15 --check-certificate proof.yaml", 1, "",
		"proof.yaml:4:13: error: rejected: it is about 14 bytes, and there are 15\n"
		"    4 |   capacity: 14\n"
		"      |             ^~\n");
	static const struct {
		const char *from, *to, *why;
		int status;
	} changes[] = {
		{"capacity: 14", "capacity: 24", "no contradiction follows at this leaf", 1},
		{"size: 6", "size: 7", "in the table, buffer 'a' has 6 bytes", 1},
		{"upper: 4", "upper: 5", "in the table, buffer 'a' has 6 bytes", 1},
		{"id: a,", "id: z,", "the table has no buffer 'z'", 1},
		{"id: a,", "id: x,", "buffer 'x' is listed twice", 1},
		{"id: a,", "id: b,", "in the table, buffer 'b' has 4 bytes", 1},
		{"- x", "- 0/1 x x", "it has 1 forks and 2 leaves, not as many as it says", 1},
		{"leaves: 1", "leaves: 2", "it has 0 forks and 1 leaves, not as many as it says",
			1},
		{"reserved: []", "reserved: [[0, 1]]", "it is about other reserved ranges", 1},
		{"alignment: 1", "alignment: 2", "it is about an alignment of 2 and not of 1", 1},
		{"- x", "- y", "a line of the proof has forks such as 0/1, and leaves x", 2},
		{"claim: does not fit", "claim: fits", "fits", 2},
		{"  leaves: 1\n", "", "leaves", 2},
	};
	const char *proof = folder_text("proof.yaml");
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const char *at = strstr(proof, changes[i].from);
		if (!at)
			fail_msg("no '%s' in\n%s", changes[i].from, proof);
		folder_put("other.yaml", arena_format(arena, "%.*s%s%s", (int)(at - proof), proof,
						 changes[i].to, at + strlen(changes[i].from)));
		const char *capacity = i == 0 ? "24" : "14";
		ended = place_run(arena_format(
			arena, "b.csv --capacity %s --check-certificate other.yaml", capacity));
		if (ended.status != changes[i].status || !strstr(ended.err, changes[i].why))
			fail_msg("%s: status %d\n%s", changes[i].to, ended.status, ended.err);
	}
}

/* U+2028 and U+0085 end lines in YAML, not in a CSV; what is written is read again. */
static void names_keep_what_ends_lines_elsewhere(void **state)
{
	folder_put("b.csv", PLACE_HEAD "a\u2028b,0,3,4\nc\xc2\x85"
				       "d,1,4,4\n");
	struct ended ended = place_run("b.csv --capacity 7 --certificate proof.yaml -q");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(folder_text("proof.yaml"), "\"a\\u2028b\""));
	place_expect("b.csv --capacity 7 --check-certificate proof.yaml", 0,
		"the certificate holds: 2 of 2 buffers do not fit into 7 bytes, by 1 cases\n", "");
	ended = place_run("b.csv --capacity 8 -o placed.csv -q");
	assert_int_equal(ended.status, 0);
	ended = place_run("placed.csv --capacity 8 --check -q");
	assert_int_equal(ended.status, 0);
	ended = place_run("b.csv --capacity 8 --format yaml -q");
	assert_non_null(strstr(ended.out, "c\\u0085d"));
	folder_put("bad.csv", PLACE_HEAD "a\u2028b,0,3,x\n");
	place_expect("bad.csv --capacity 8", 2, "", NULL);
}

/* Two ranges on one byte are not a contradiction. */
static void reserved_ranges_that_meet_prove_nothing(void **state)
{
	folder_put("b.csv", PLACE_HEAD "a,0,3,3\nb,1,4,3\nc,2,5,2\n");
	struct ended ended = place_run("b.csv --capacity 9 --reserve 3-5 --reserve 4-6 "
				       "--certificate proof.yaml -q");
	assert_int_equal(ended.status, 1);
	const char *proof = folder_text("proof.yaml"), *at = strstr(proof, "capacity: 9\n");
	assert_non_null(at);
	folder_put("other.yaml",
		arena_format(arena, "%.*scapacity: 20%s", (int)(at - proof), proof, at + 11));
	ended = place_run("b.csv --capacity 20 --reserve 3-5 --reserve 4-6 "
			  "--check-certificate other.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "no contradiction follows"));
}

static void a_tree_of_cases_is_followed(void **state)
{
	folder_put("b.csv", twisted);
	struct ended ended = place_run("b.csv --capacity 5 --certificate proof.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err,
		"these 7 buffers do not fit even alone; the scratchpad has 5 bytes\n"
		"  b.csv:2: 'a' of 3 bytes lives in [0, 1)\n"));
	assert_non_null(
		strstr(ended.err, "8 buffers do not fit into 5 bytes, load 5; place/exact"));
	const char *proof = folder_text("proof.yaml");
	ended = place_run("b.csv --capacity 5 --check-certificate proof.yaml");
	if (ended.status != 0 || !strstr(proof, "forks: 1\n"))
		fail_msg("%s%s%s", ended.out, ended.err, proof);
	ended = place_run("b.csv --capacity 5 --check-certificate proof.yaml --budget 1 "
			  "--time-limit 100");
	assert_int_equal(ended.status, 0);
	place_expect("b.csv --capacity 6 -q -o out.csv --certificate no.yaml", 0, "",
		"lxplore: no certificate: they fit\n");
	place_expect("b.csv --capacity 4 --check-certificate proof.yaml", 0, NULL, "");
	const char *five = strstr(proof, "capacity: 5\n");
	folder_put("other.yaml", arena_format(arena, "%.*scapacity: 50%s", (int)(five - proof),
					 proof, five + strlen("capacity: 5")));
	ended = place_run("b.csv --capacity 5 --check-certificate other.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "no contradiction follows at this leaf"));
	const char *fork = strchr(strstr(proof, "proof:"), '/');
	char *other = arena_text(arena, proof);
	other[fork - proof + 1] = '9';
	folder_put("other.yaml", other);
	ended = place_run("b.csv --capacity 5 --check-certificate other.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(
		ended.err, "rejected: node 1 of the proof: a fork between buffers that are none"));
}

/* --- the picture */

static void the_picture_is_xml(void **state)
{
	folder_put("b.csv",
		"id,lower,upper,size,in_place_parents\n"
		"<a&b>,0,3,256,\n\"x\"\"y\"\"\",2,5,100,<a&b>\nspilled,0,5,900,\n]]>,0,5,500,\n");
	place_run("b.csv --capacity 1KiB --reserve 0-64 --spill --solver bestfit --svg out.svg");
	const char *svg = folder_text("out.svg");
	assert_non_null(svg);
	const char *why = xml_check(arena, svg);
	if (why)
		fail_msg("%s\n%s", why, svg);
	assert_non_null(strstr(svg, "&lt;a&amp;b&gt;: 256 bytes at "));
	assert_non_null(strstr(svg, "spilled: 900 bytes spilled, steps [0, 5)"));
	assert_non_null(strstr(svg, "in place of &lt;a&amp;b&gt;"));
	assert_non_null(strstr(svg, "<title>reserved: [0, 64)</title>"));
	assert_non_null(strstr(svg, "<title>capacity 1024</title>"));
}

static void pictures_of_nothing_and_of_much_are_xml(void **state)
{
	struct text text = text_open(arena);
	text_add(&text, PLACE_HEAD);
	for (int i = 0; i < 30000; i++)
		text_add(&text, "b%d,%d,%d,%d\n", i, i / 3, i / 3 + 1 + i % 7, 1 + i % 1000);
	folder_put("many.csv", text_read(&text));
	folder_put("none.csv", PLACE_HEAD);
	place_run("many.csv --capacity 1MiB --solver greedy --svg many.svg -o many_out.csv");
	place_run("none.csv --capacity 0 --svg none.svg");
	place_run("small.csv --capacity 9 --svg over.svg");
	const char *const names[] = {"many.svg", "none.svg", "over.svg"};
	for (int i = 0; i < 3; i++) {
		const char *svg = folder_text(names[i]);
		assert_non_null(svg);
		const char *why = xml_check(arena, svg);
		if (why)
			fail_msg("%s: %s", names[i], why);
	}
	const char *many = folder_text("many.svg");
	assert_true(strlen(many) < 5000000);
	assert_non_null(strstr(many, "10000 smaller boxes are left out"));
}

static void threads_change_nothing(void **state)
{
	struct text text = text_open(arena);
	text_add(&text, PLACE_HEAD);
	for (int i = 0; i < 60; i++)
		text_add(
			&text, "b%d,%d,%d,%d\n", i, i / 2, i / 2 + 1 + i * 7 % 11, 1 + i * 37 % 64);
	folder_put("b.csv", text_read(&text));
	static const char *const ways[] = {
		"--capacity 256 --spill", "--minimize --solver boxes --budget 20000"};
	for (int k = 0; k < 2; k++) {
		struct ended alone =
			place_run(arena_format(arena, "b.csv --format json --jobs 1 %s", ways[k]));
		struct ended three =
			place_run(arena_format(arena, "b.csv --format json -j 3 %s", ways[k]));
		assert_int_equal(alone.status, three.status);
		assert_non_null(strstr(alone.out, "\"offset\""));
		assert_string_equal(alone.out, three.out);
	}
	place_expect("b.csv --capacity 256 --jobs 0", 2, "", NULL);
}

int main(void)
{
#define FIXED(name) cmocka_unit_test_setup_teardown(name, place_open, folder_tear_down)
	const struct CMUnitTest tests[] = {
		FIXED(a_certificate_holds_until_it_is_changed),
		FIXED(names_keep_what_ends_lines_elsewhere),
		FIXED(reserved_ranges_that_meet_prove_nothing),
		FIXED(a_tree_of_cases_is_followed),
		FIXED(threads_change_nothing),
		FIXED(the_picture_is_xml),
		FIXED(pictures_of_nothing_and_of_much_are_xml),
	};
	return cmocka_run_group_tests_name("place on the command line", tests, NULL, NULL);
}
