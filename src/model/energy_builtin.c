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
	return (5 / 99.5 * (kilobytes - 0.5) + 1) * row / 16 / (double)level->cluster_size;
}

double energy_of_mac(const struct level *level)
{
	bool floats = strstr(level->device, "fp") || strcasestr(level->device, "float");
	double part = (double)level->word_bits / 32;
	if (floats)
		return level->word_bits <= 16 ? 1.1 + 0.4 : (3.7 + 0.9) * part;
	return 3.1 * part * part + 0.1 * part;
}

void energy_builtin(struct arch *arch)
{
	bool all = true;
	for (int r = 0; r < arch->level_count; r++) {
		struct level *level = &arch->levels[r];
		if (level->kind == LEVEL_CONTAINER || level->pj.given)
			continue;
		all = false;
		if (level->kind == LEVEL_COMPUTE) {
			level->pj.compute = energy_of_mac(level);
			continue;
		}
		level->pj.read = level->pj.fill = level->pj.update = energy_of_access(level);
	}
	arch->energy_source = all ? "the architecture"
				  : "built-in: 200 pJ for 16 bits of DRAM, 1 to 6 pJ of SRAM up to "
				    "100 KB, multipliers at 45 nm (Horowitz 2014)";
}
