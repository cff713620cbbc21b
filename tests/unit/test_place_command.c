#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"
#include "tests/support/place_shell.h"
#include "tests/support/xml_check.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

/* `lxplore place` as a user runs it: what it prints and how it ends. */
static void rows_keep_their_form_and_get_an_offset(void **state)
{
	folder_put("b.csv", "\xef\xbb\xbfsize, id ,upper,lower,alignment\r\n"
			    "1KiB,\"a, \"\"the\"\" first\",3,0,\r\n"
			    "\r\n"
			    "2*500 , b,0x10,-3,64\r\n");
	place_expect("b.csv --capacity 2024 --alignment 64 -q", 0,
		"size, id ,upper,lower,alignment,offset\n"
		"1KiB,\"a, \"\"the\"\" first\",3,0,,0\n"
		"2*500 , b,0x10,-3,64,1024\n",
		"");
	folder_put("b.csv", "id,offset,lower,end,size\na,77,0,2,8\nb,,3,3,8\n");
	place_expect(
		"b.csv --capacity 8 -q", 0, "id,offset,lower,end,size\na,0,0,2,8\nb,0,3,3,8\n", "");
}

/* minimalloc's table with its own columns; the smallest in which hints can be seen. */
static void hints_are_taken_if_they_are_a_layout(void **state)
{
	folder_put("b.csv", "id,lower,upper,size,gaps,hint\na,0,3,4,,4\nb,0,3,2,,1\n");
	place_expect("b.csv --capacity 9 -q", 0,
		"id,lower,upper,size,gaps,hint,offset\na,0,3,4,,4,4\nb,0,3,2,,1,1\n", "");
	folder_put("b.csv", "id,lower,upper,size,hint\na,0,3,4,0\nb,0,3,4,3\n");
	place_expect("b.csv --capacity 8 -q | grep -cE ',[04]$'", 0, "2\n", "");
	folder_put("b.csv", "id,lower,upper,size,hint\na,0,3,4,-1\nb,0,3,4,\n");
	place_expect("b.csv --minimize -q | grep -cE ',[04]$'", 0, "2\n", "");
}

static void an_empty_table_is_placed(void **state)
{
	folder_put("b.csv", PLACE_HEAD);
	place_expect("b.csv --capacity 0 -q", 0, "id,lower,upper,size,offset\n", "");
}

static void standard_input_is_a_table(void **state)
{
	place_expect("- --capacity 1KiB -q < small.csv | wc -l", 0, "5\n", "");
}

static void what_is_written_passes_the_check(void **state)
{
	place_expect("small.csv --capacity 1KiB -o out.csv -q", 0, "", "");
	place_expect("out.csv --capacity 1KiB --check", 0,
		"the layout is right: 4 of 4 buffers have a place, peak 1024, saved 1280 of 1280\n",
		"");
}

static void a_wrong_layout_names_both(void **state)
{
	folder_put("b.csv", "id,lower,upper,size,offset\na,0,3,8,0\nb,2,4,8,7\nc,0,9,8,16\n");
	place_expect("b.csv --check", 1, "",
		"b.csv:2:1: error: 'a' and 'b': they share bytes while both live\n"
		"    2 | a,0,3,8,0\n"
		"      | ^~~~~~~~~\n"
		"b.csv:3:1: note: the other is here\n"
		"    3 | b,2,4,8,7\n"
		"      | ^~~~~~~~~\n");
	folder_put("b.csv", "id,lower,upper,size,offset\na,0,3,8,4\nb,2,4,8,\n");
	place_expect("b.csv --check --capacity 11", 1, "",
		"b.csv:2:1: error: 'a': it ends beyond the capacity\n"
		"    2 | a,0,3,8,4\n"
		"      | ^~~~~~~~~\n");
	place_expect("b.csv --check --reserve 3-5", 1, "",
		"b.csv:2:1: error: 'a': it touches reserved bytes\n"
		"    2 | a,0,3,8,4\n"
		"      | ^~~~~~~~~\n");
	place_expect("b.csv --check --alignment 8", 1, "",
		"b.csv:2:1: error: 'a': its address is not aligned\n"
		"    2 | a,0,3,8,4\n"
		"      | ^~~~~~~~~\n");
	place_expect("b.csv --check --capacity 12", 0,
		"the layout is right: 1 of 2 buffers have a place, peak 12, saved 8 of 16\n", "");
}

static void parts_of_a_life_are_checked(void **state)
{
	const char head[] = "id,lower,upper,size,uses,offset\n";
	static const struct {
		const char *offset, *why;
	} rows[] = {
		{"3-6@0;7-10@8", NULL},
		{"0", NULL},
		{"3-6@0;5-10@8", "the parts of its life meet, or are not in order"},
		{"3-7@0", "a part of its life is not from one use to the step after another"},
		{"4-6@0", "a part of its life is not from one use to the step after another"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		folder_put("b.csv",
			arena_format(arena, "%sa,0,12,8,w3;r5;r7;w9,%s\n", head, rows[i].offset));
		struct ended ended = place_run("b.csv --check");
		assert_int_equal(ended.status, rows[i].why ? 1 : 0);
		if (rows[i].why && !strstr(ended.err, rows[i].why))
			fail_msg("%s: %s", rows[i].offset, ended.err);
	}
	folder_put("b.csv", arena_format(arena, "%sa,0,12,8,w3;r5,3-x@0\n", head));
	place_expect("b.csv --check", 2, "",
		"b.csv:2:16: error: 'offset' of buffer 'a': '3-x@0' is not a FROM-TO@ADDRESS\n"
		"    2 | a,0,12,8,w3;r5,3-x@0\n"
		"      |                ^~~~~\n");
}

static void too_much_at_once_is_proven_and_named(void **state)
{
	place_expect("small.csv --capacity 1000", 1, "",
		"from step 4 to 5 3 buffers of together 1024 bytes live; there are 1000 bytes\n"
		"  small.csv:3: 'b' of 256 bytes lives in [1, 5)\n"
		"  small.csv:4: 'c' of 512 bytes lives in [3, 5)\n"
		"  small.csv:5: 'd' of 256 bytes lives in [4, 8)\n"
		"4 buffers do not fit into 1000 bytes, load 1024; load, 0 nodes\n");
}

static void reserved_bytes_are_not_there(void **state)
{
	folder_put("b.csv", PLACE_HEAD "a,0,3,8\n");
	place_expect("b.csv --capacity 16 --reserve 2-6 --reserve 4-9 --reserve 12-99", 1, "",
		"from step 0 to 3 1 buffer of together 8 bytes lives; there are 5 bytes that are "
		"not reserved\n"
		"  b.csv:2: 'a' of 8 bytes lives in [0, 3)\n"
		"1 buffer does not fit into 16 bytes, load 8; load, 0 nodes\n");
	place_expect("b.csv --capacity 18 --reserve 2-9 -q", 0,
		"id,lower,upper,size,offset\na,0,3,8,9\n", "");
}

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
		{"\"a\"", "\"z\"", "the table has no buffer 'z'", 1},
		{"\"a\"", "\"x\"", "buffer 'x' is listed twice", 1},
		{"\"a\"", "\"b\"", "in the table, buffer 'b' has 4 bytes", 1},
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
	assert_non_null(
		strstr(ended.err, "these 7 buffers do not fit even alone; there are 5 bytes\n"
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

static json_t *run_json(const char *command, int status)
{
	struct ended ended = place_run(command);
	if (ended.status != status)
		fail_msg("place %s: status %d\n%s", command, ended.status, ended.err);
	json_t *root = json_loads(ended.out, 0, NULL);
	if (!root)
		fail_msg("place %s: no JSON\n%s", command, ended.out);
	return root;
}

static int64_t integer(const json_t *root, const char *key)
{
	return json_integer_value(json_object_get(root, key));
}

static void json_says_it_all(void **state)
{
	json_t *root = run_json("small.csv --capacity 1KiB --format json", 0);
	assert_string_equal(json_string_value(json_object_get(root, "status")), "found");
	assert_int_equal(integer(root, "peak"), 1024);
	assert_int_equal(integer(root, "load"), 1024);
	assert_int_equal(json_array_size(json_object_get(root, "buffers")), 4);
	json_decref(root);
	root = run_json("small.csv --capacity 900 --format json", 1);
	assert_string_equal(json_string_value(json_object_get(root, "status")), "does not fit");
	json_t *core = json_object_get(root, "core");
	assert_int_equal(integer(core, "from"), 4);
	assert_int_equal(json_array_size(json_object_get(core, "buffers")), 3);
	json_decref(root);
	root = run_json("small.csv --minimize --format json", 0);
	assert_int_equal(integer(root, "peak"), 1024);
	assert_int_equal(integer(root, "gap"), 0);
	assert_string_equal(json_string_value(json_object_get(root, "proof")), "optimal");
	json_decref(root);
}

static void a_heuristic_that_fails_decides_nothing(void **state)
{
	folder_put("b.csv", PLACE_HEAD "a,0,3,256\nb,1,5,256\nc,3,5,512\n");
	struct ended ended = place_run("b.csv --capacity 768 --solver greedy");
	assert_int_equal(ended.status, 3);
	assert_string_equal(ended.out, "");
	assert_non_null(strstr(ended.err, "3 buffers may or may not fit into 768 bytes"));
	place_expect("b.csv --capacity 768 --solver greedy --spill -q", 0,
		"id,lower,upper,size,offset\na,0,3,256,0\nb,1,5,256,256\nc,3,5,512,\n", NULL);
}

static void what_has_no_number_names_none(void **state)
{
	folder_put("b.csv", PLACE_HEAD "a,0,3,8\nb,1,5,256\n");
	struct ended nothing = place_run("b.csv --capacity 4 --spill --solver greedy");
	assert_non_null(strstr(nothing.err, "saved 0 of 264, at most 264 can be, peak 0"));
	place_expect("b.csv --capacity 400 --reserve 200-300 -q", 1, "",
		"this buffer does not fit even alone; there are 300 bytes that are not reserved\n"
		"  b.csv:3: 'b' of 256 bytes lives in [1, 5)\n");
	folder_put("fixed.csv", "id,lower,upper,size,address\na,0,3,8,0\nb,1,5,256,4\n");
	place_expect("fixed.csv --minimize --solver ilp", 1, "",
		"these 2 buffers do not fit even alone\n"
		"  fixed.csv:2: 'a' of 8 bytes lives in [0, 3), fixed at 0\n"
		"  fixed.csv:3: 'b' of 256 bytes lives in [1, 5), fixed at 4\n"
		"2 buffers do not fit, load 264; place/ilp, 1 node\n");
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

/* Some 24 million pairs: the packer keeps 20 million. */
static void a_proof_that_ends_early_says_so(void **state)
{
	struct ended ended = folder_run(
		"awk 'BEGIN { srand(3); print \"id,lower,upper,size\"; for (i = 0; i < 9000; i++) "
		"{ a = int(rand() * 50); print \"b\" i \",\" a \",\" a + 1 + int(rand() * 60) "
		"\",\" 1 + int(rand() * 1000) } }' > big.csv; "
		"$program place big.csv --minimize --solver exact --budget 10000000000 -o out.csv");
	assert_non_null(strstr(ended.err, "gap "));
	assert_non_null(strstr(ended.err, "the proof ends early: more than 20000000 pairs"));
	ended = folder_run("$program place big.csv --spill --capacity 100000 -o out.csv");
	assert_non_null(strstr(ended.err, "gap "));
	assert_non_null(strstr(ended.err, "place/boxes proves nothing; take '--solver exact'"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_open, folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(rows_keep_their_form_and_get_an_offset),
		TEST(hints_are_taken_if_they_are_a_layout),
		TEST(a_proof_that_ends_early_says_so),
		TEST(an_empty_table_is_placed),
		TEST(standard_input_is_a_table),
		TEST(what_is_written_passes_the_check),
		TEST(a_wrong_layout_names_both),
		TEST(parts_of_a_life_are_checked),
		TEST(too_much_at_once_is_proven_and_named),
		TEST(reserved_bytes_are_not_there),
		TEST(a_certificate_holds_until_it_is_changed),
		TEST(names_keep_what_ends_lines_elsewhere),
		TEST(reserved_ranges_that_meet_prove_nothing),
		TEST(a_tree_of_cases_is_followed),
		TEST(json_says_it_all),
		TEST(a_heuristic_that_fails_decides_nothing),
		TEST(what_has_no_number_names_none),
		TEST(threads_change_nothing),
		TEST(the_picture_is_xml),
		TEST(pictures_of_nothing_and_of_much_are_xml),
	};
	return cmocka_run_group_tests_name("place on the command line", tests, NULL, NULL);
}
