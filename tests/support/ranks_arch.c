#include "tests/support/ranks_arch.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/fatal.h"
#include "tests/support/arch_text.h"

#include <stdio.h>

const struct arch *ranks_arch(struct arena *arena, const struct ranks_arch *machine)
{
	const char *text = arena_format(arena,
		"architecture:\n"
		"  version: 0.4\n"
		"  name: ranks\n"
		"  nodes:\n"
		"  - !Container\n"
		"    name: system\n"
		"    attributes: {clock: 1GHz, ranks: %d, links: {%s}, link_energy_per_byte: 2pJ}\n"
		"  - !Component\n"
		"    name: HBM\n"
		"    class: DRAM\n"
		"    attributes: {shared_bandwidth: 128GB/s, alignment: 128, stick: 128B, "
		"read_energy_per_byte: 3pJ, write_energy_per_byte: 3pJ}\n"
		"  - !Container\n"
		"    name: core\n"
		"    spatial: {meshX: %d}\n"
		"    attributes: {reduce_ring: {bandwidth: 32, reductions: [sum, max, min]}}\n"
		"  - !Component\n"
		"    name: LX\n"
		"    class: SRAM\n"
		"    attributes: {size: %lld, reserve: 0.5, transfer: box, alignment: %lld, read_bandwidth: 64, "
		"write_bandwidth: 64, fill_bandwidth: 64, read_energy_per_byte: 1pJ, "
		"write_energy_per_byte: 1pJ, copy_in: {latency: %d}, copy_out: {latency: %d}, "
		"copy_sync: %d}\n"
		"  - !Component\n"
		"    name: array\n"
		"    class: fp16_array\n"
		"    attributes: {mac_rate: 1024, vector_rate: 64, mac_energy: 1pJ, "
		"vector_energy: 1pJ}\n",
		machine->ranks, machine->links, machine->cores, (long long)machine->lx_bytes,
		(long long)machine->alignment, machine->load, machine->store, machine->sync);
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena, text, diag);
	if (arch && arch_fits_graphs(arch, diag))
		return arch;
	diag_print(diag, stderr);
	BUG("the machine is refused");
}
