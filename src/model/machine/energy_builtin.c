#include "model/machine/energy_builtin.h"

#include <string.h>
#include <strings.h>

static double block_of_dram(const struct level *level)
{
	return 200 * (double)level->word_bits * (double)level->block_words / 16;
}

/* A row, the words of all instances of a cluster. */
static double row_of_sram(const struct level *level)
{
	double block = (double)level->word_bits * (double)level->block_words;
	double row = block * (double)level->cluster_size;
	double rows = (double)number_ceil_div(level->entries, level->block_words);
	double kilobytes = rows * row / 8 / 1024;
	return (5 / 99.5 * (kilobytes - 0.5) + 1) * row / 16;
}

double energy_of_access(const struct level *level)
{
	bool dram = level->dram || strcasestr(level->device, "dram") ||
		    strcasestr(level->device, "hbm");
	return dram ? block_of_dram(level) : row_of_sram(level);
}

double energy_of_access_timeloop(const struct level *level)
{
	if (level->dram || strstr(level->device, "DRAM"))
		return block_of_dram(level);
	return level->entries ? row_of_sram(level) / (double)level->cluster_size : 0;
}

double energy_of_mac(const char *device, int64_t bits)
{
	bool floats = strstr(device, "fp") || strcasestr(device, "float");
	double part = (double)bits / 32;
	if (floats)
		return bits <= 16 ? 1.1 + 0.4 : (3.7 + 0.9) * part;
	return 3.1 * part * part + 0.1 * part;
}

double energy_of_mac_timeloop(int64_t bits)
{
	double part = (double)bits / 16;
	return part * part;
}
