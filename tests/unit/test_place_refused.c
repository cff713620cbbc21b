#include "base/arena.h"
#include "base/text.h"
#include "tests/support/place_shell.h"

#include <string.h>

#include "tests/test.h"

/* The exact output of `lxplore place` for wrong tables and wrong requests. */
struct bad {
	const char *table, *complaint; /* all that is said, without the lines quoted */
};

static const struct bad bads[] = {
	{"id,lower,upper\na,0,1\n",
		"1:1: error: column 'size' is missing; a row has at least id, lower, upper, size\n"},
	{"id,lower,upper,sise\na,0,1,2\n",
		"1:16: error: unknown column 'sise'; did you mean 'size'?\n"
		"1:1: error: column 'size' is missing; a row has at least id, lower, upper, size\n"},
	{"id,lower,upper,size,flavour\n",
		"1:21: error: unknown column 'flavour'; columns are id, lower, upper, size, "
		"alignment, in_place_parents, in_place, weight, uses, address, hint, offset\n"},
	{"id,lower,upper,size,gaps\na,0,9,8,\nb,0,9,8,3-5\n",
		"3:9: error: gaps in a life are not read; give its pieces rows of their own, or "
		"'uses'\n"},
	{PLACE_HEAD "a,-9223372036854775808,1,5\nb,0,1.5,5\n",
		"2:3: error: 'lower' of buffer 'a' is -9.223372037e+18; it can be "
		"-2305843009213693952 to 2305843009213693952\n"
		"3:5: error: 'upper' of buffer 'b' is 1.5; a whole number is expected\n"},
	{"id,start,upper,size,lower\n", "1:21: error: column 'lower' is given twice\n"
					"1:4: note: first given here\n"},
	{"id,lower,upper,size,in_place\n",
		"1:21: error: column 'in_place' is about 'in_place_parents', which is missing\n"},
	{PLACE_HEAD "a,0,1,-5\n", "2:7: error: 'size' of buffer 'a' is -5 bytes; it can be 0 to "
				  "2305843009213693952\n"},
	{PLACE_HEAD "a,1,1,5\nb,5,3,1\n",
		"2:5: error: the life of buffer 'a' is empty: it ends at 1 and begins at 1\n"
		"3:5: error: the life of buffer 'b' is empty: it ends at 3 and begins at 5\n"},
	{PLACE_HEAD "a,0,1,5\nb,0,1,5\na,0,3,6\n", "4:1: error: buffer 'a' is given twice\n"
						   "2:1: note: first given here\n"},
	{PLACE_HEAD "a,0,1,9223372036854775808\n",
		"2:7: error: 'size' of buffer 'a' is too large: 9223372036854775808; it can be at "
		"most 2305843009213693952\n"},
	{PLACE_HEAD "a,0,1,2305843009213693951\nb,4,5,2305843009213693952\n",
		"3:7: error: the sizes and alignments up to here add up to more than "
		"2305843009213693952 bytes\n"},
	{PLACE_HEAD "a,zero,1,5\nb,0,1.5,3\nc,0,1,\nd,0,1,3 KiB KiB\n ,0,1,3\n",
		"2:3: error: 'lower' of buffer 'a': unknown variable 'zero'; a number or "
		"arithmetic is expected\n"
		"3:5: error: 'upper' of buffer 'b' is 1.5; a whole number is expected\n"
		"4:7: error: 'size' of buffer 'c': it is empty; a number is expected\n"
		"5:13: error: 'size' of buffer 'd': an operator is expected before 'K'\n"
		"6:1: error: the id of a buffer is empty\n"},
	{PLACE_HEAD "a,0,1\nb,0,1,2,3\n",
		"2:1: error: this row has 3 cells; the header names 4 columns\n"
		"3:1: error: this row has 5 cells; the header names 4 columns\n"},
	{PLACE_HEAD "\"a,0,1,2\n\"b\"x,0,1,2\n",
		"2:1: error: the quote that begins here does not end on its line\n"
		"3:4: error: a comma is expected after the closing quote\n"},
	{PLACE_HEAD "a,0,1,2\xff\n",
		"2:8: error: byte 0xff is not UTF-8; save the file as UTF-8 text\n"},
	{"", " error: is empty; a row with the names of the columns is expected\n"},
	{"\r\n \n", " error: is empty; a row with the names of the columns is expected\n"},
	{"id,lower,upper,size,alignment\na,0,5,8,0\nb,0,5,8,-1\nc,0,5,8,two\n",
		"2:9: error: 'alignment' of buffer 'a' is 0 bytes; it can be 1 to "
		"2305843009213693952\n"
		"3:9: error: 'alignment' of buffer 'b' is -1 bytes; it can be 1 to "
		"2305843009213693952\n"
		"4:9: error: 'alignment' of buffer 'c': unknown variable 'two'; a number or "
		"arithmetic is expected\n"},
	{"id,lower,upper,size,address,alignment\na,0,5,8,7,3\n",
		"2:9: error: buffer 'a' has to lie at 7, which is not a multiple of its alignment 3\n"},
	{"id,lower,upper,size,weight\na,0,5,8,-1\nb,0,5,8,9223372036854775790\nc,0,5,8,10\n",
		"2:9: error: 'weight' of buffer 'a' is -1; it can be at least 0\n"
		"4:9: error: the weights up to here add up to more than 9223372036854775807\n"},
	{"id,lower,upper,size,uses\na,0,5,8,w0;r5\nb,0,5,8,r3;r3\nc,0,5,8,w1;x2\nd,0,5,8,r\n",
		"2:9: error: use 'r5' of buffer 'a': it is not inside its life\n"
		"3:9: error: use 'r3' of buffer 'b': the use before it is not earlier\n"
		"4:9: error: use 'x2' of buffer 'c': a use is 'r' or 'w' and a step, such as r5\n"
		"5:9: error: use 'r' of buffer 'd': a use is 'r' or 'w' and a step, such as r5\n"},
	{"id,lower,upper,size,in_place_parents,in_place\nabc,0,5,8,,\nb,4,6,4,abd,\nc,4,6,4,c,\n"
	 "d,4,6,9,abc,must\ne,4,6,9,abc,mast\nf,4,6,9,,must\n",
		"6:13: error: 'in_place' of buffer 'e' is 'mast'; it can be may, must\n"
		"7:10: error: buffer 'f' must take a place, but 'in_place_parents' names none\n"},
	{"id,lower,upper,size,in_place_parents,in_place\nabc,0,5,8,,\nb,4,6,4,abd,\nc,4,6,4,c,\n"
	 "d,4,6,9,abc,must\n",
		"3:9: error: buffer 'b' names a parent 'abd' that is not a buffer; did you mean "
		"'abc'?\n"
		"4:9: error: buffer 'c' cannot take its own place\n"
		"5:9: warning: 'd' cannot take the place of 'abc': 9 bytes are more than 8\n"
		"5:9: error: buffer 'd' must take a place, and can take none of these\n"},
	{"id,lower,upper,size,in_place_parents\na,0,2,8,\nb,1,2,8,a;d\nc,1,2,8,b\nd,1,2,8,a;c\n",
		"3:9: error: buffer 'b' would take its own place through others\n"},
};

/* Without the lines that show the table, and the file's name. */
static const char *strip(const char *err)
{
	struct text text = text_open(arena);
	while (*err) {
		size_t length = strcspn(err, "\n");
		if (strncmp(err, "b.csv:", 6) == 0)
			text_add(&text, "%.*s\n", (int)length - 6, err + 6);
		else if (err[0] != ' ')
			text_add(&text, "%.*s\n", (int)length, err);
		err += length + (err[length] == '\n');
	}
	return text_read(&text);
}

static void wrong_tables_are_refused_to_the_letter(void **state)
{
	for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
		folder_put("b.csv", bads[i].table);
		struct ended ended = place_run("b.csv --capacity 100 -o out.csv");
		const char *said = strip(ended.err);
		if (ended.status != 2 || strcmp(said, bads[i].complaint) != 0 || *ended.out)
			fail_msg("table\n%sstatus %d, said\n%sexpected\n%s", bads[i].table,
				ended.status, said, bads[i].complaint);
		assert_false(folder_has("out.csv"));
	}
}

static void the_place_is_shown(void **state)
{
	folder_put("b.csv", "id,lower,upper,size\n\"a \xc3\xa4\",0,1,4 KB x\n");
	place_expect("b.csv --capacity 100", 2, "",
		"b.csv:2:16: error: 'size' of buffer 'a \xc3\xa4': an operator is expected before "
		"'x'\n"
		"    2 | \"a \xc3\xa4\",0,1,4 KB x\n"
		"      |                ^\n");
}

static const struct {
	const char *command, *err;
	int status;
} wishes[] = {
	{"small.csv",
		"lxplore: error: place wants '--capacity N', or '--minimize' for the least that is "
		"enough\n",
		2},
	{"--capacity 10",
		"lxplore: error: place wants one CSV of buffers, '-' for standard input\n", 2},
	{"nothing.csv --capacity 10", "nothing.csv: error: no such file\n", 2},
	{". --capacity 10", ".: error: is a folder; name a CSV file\n", 2},
	{"small.csv --minimize --spill --capacity 9",
		"argument 3:1:1: error: '--minimize' and '--spill' exclude each other\n"
		"    1 | --spill\n"
		"      | ^~~~~~~\n",
		2},
	{"small.csv --capacity 9 --reserve 5",
		"argument 5:1:1: error: '--reserve' wants FROM-TO, not '5'\n"
		"    1 | 5\n"
		"      | ^\n",
		2},
	{"small.csv --capacity 9 --reserve 5-5",
		"argument 5:1:1: error: the range '5-5' to reserve is empty\n"
		"    1 | 5-5\n"
		"      | ^~~\n",
		2},
	{"small.csv --capacity 9 --solver exat",
		"argument 5:1:1: error: stage 'place' has no solver 'exat'; did you mean 'exact'?\n"
		"    1 | exat\n"
		"      | ^~~~\n",
		2},
	{"small.csv --capacity 1KiB -q -o /dev/full",
		"lxplore: cannot write '/dev/full': No space left on device\n", 4},
	{"small.csv --capacity 1KiB -q > /dev/full",
		"lxplore: cannot write to stdout: No space left on device\n", 4},
	{"small.csv --capacity 1KiB -q -o no/out.csv",
		"lxplore: cannot write 'no/out.csv': No such file or directory\n", 4},
	{"small.csv --check", "small.csv: error: it has no column 'offset' to check\n", 2},
};

static void wrong_wishes_are_refused_to_the_letter(void **state)
{
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
		place_expect(wishes[i].command, wishes[i].status, NULL, wishes[i].err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_open, folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(wrong_tables_are_refused_to_the_letter),
		TEST(the_place_is_shown),
		TEST(wrong_wishes_are_refused_to_the_letter),
	};
	return cmocka_run_group_tests_name("what place refuses", tests, NULL, NULL);
}
