#include "model/energy_builtin.h"

#include <string.h>
#include <strings.h>

static bool is_dram(const char *device)
{
	return strcasestr(device, "dram") || strcasestr(device, "hbm");
}

double energy_of_access(const struct level *level)
{
	double block = (double)level->word_bits * (double)level->block_words;
	if (is_dram(level->device))
		return 200 * block / 16;
	double row = block * (double)level->cluster_size;
	double rows = (double)((level->entries + level->block_words - 1) / level->block_words);
	double kilobytes = rows * row / 8 / 1024;
	return (5 / 99.5 * (kilobytes - 0.5) + 1) * row / 16;
}

double energy_of_mac(const char *device, int64_t bits)
{
	bool floats = strstr(device, "fp") || strcasestr(device, "float");
	double part = (double)bits / 32;
	if (floats)
		return bits <= 16 ? 1.1 + 0.4 : (3.7 + 0.9) * part;
	return 3.1 * part * part + 0.1 * part;
}

const char *energy_source(const struct arch *arch)
{
	for (int r = 0; r < arch->level_count; r++)
		if (arch->levels[r].kind != LEVEL_CONTAINER && !arch->levels[r].pj.given)
			return "built-in, memories as Timeloop's, multipliers of Horowitz 2014";
	return "the architecture";
}
