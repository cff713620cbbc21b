#ifndef BASE_EMBED_H
#define BASE_EMBED_H

/*
 * The bytes of a file as the text `name`, put in by the assembler when the program is built; the path is from
 * the root of the checkout, and the Makefile says that the object depends on it.
 *
 *	extern const char page_css[];
 *	EMBED(page_css, "src/report/page/page.css");
 */
#define EMBED(name, path)                                                                          \
	__asm__(".pushsection .rodata\n.global " #name "\n.hidden " #name "\n" #name               \
		":\n.incbin \"" path "\"\n.byte 0\n.popsection\n")

#endif
