#include "report/run/svg.h"

void svg_head(struct text *text, int width, int height, const char *style)
{
	text_add(text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<style>text{fill:#222}.s{fill:#5b6675}.g{stroke:#ccc;stroke-width:.5}%s</style>\n"
		"<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		width, height, width, height, style, width, height);
}

void xml_text(struct text *text, const char *plain)
{
	for (; *plain; plain++) {
		switch (*plain) {
		case '&':
			text_add(text, "&amp;");
			break;
		case '<':
			text_add(text, "&lt;");
			break;
		case '>':
			text_add(text, "&gt;");
			break;
		case '"':
			text_add(text, "&quot;");
			break;
		default:
			text_bytes(text, (unsigned char)*plain < ' ' ? "?" : plain, 1);
		}
	}
}

void svg_label(struct text *text, double x, double y, const char *attributes, const char *plain)
{
	text_add(text, "<text x=\"%.2f\" y=\"%.2f\"%s>", x, y, attributes);
	xml_text(text, plain);
	text_add(text, "</text>\n");
}

int64_t svg_step(int64_t range, int most, bool binary)
{
	int64_t step = 1;
	for (int i = 0; range / step > most && step <= INT64_MAX / 8; i++)
		step = binary ? step * 2 : i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

const char *svg_colour(int64_t number)
{
	/* of Okabe and Ito */
	static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
		"#56b4e9", "#f0e442", "#999999"};
	return colours[number % 8];
}
