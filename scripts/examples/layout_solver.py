#!/usr/bin/env python3
"""A layout solver for a compiler, on top of the shared library.

    python3 layout_solver.py CAPACITY CAPTURE.json

`LayoutSolver(capacity).solve(buffers)` takes the buffers of one graph as the compiler captures them
(name, size, uses, core_divisions, cd_parent_matches, ..) and returns for each buffer its division, its
address (None: HBM) and whether it is resident, and the claim that comes with them. As a program it
solves every graph of a file. The library is liblxplore.so.0, or what LIBLXPLORE names.
"""
import ctypes
import json
import os
import sys


class LayoutSolver:
    def __init__(self, capacity, alignment=128, seconds=None):
        """Capacity and alignment of a core's scratchpad in bytes; the time limit of one graph."""
        self.settings = {"capacity": capacity, "alignment": alignment}
        if seconds:
            self.settings["time-limit"] = seconds
        self.library = ctypes.CDLL(os.environ.get("LIBLXPLORE", "liblxplore.so.0"))
        run, text = ctypes.c_void_p, ctypes.c_char_p
        for name, result, arguments in [
            ("open", run, []),
            ("close", None, [run]),
            ("add_text", ctypes.c_int, [run, text, text, ctypes.c_size_t]),
            ("set", ctypes.c_int, [run, text, text]),
            ("place", ctypes.c_int, [run]),
            ("output", text, [run]),
            ("message", text, [run]),
        ]:
            function = getattr(self.library, "lxplore_" + name)
            function.restype, function.argtypes = result, arguments

    def solve(self, buffers):
        """(answers by name, claim): the claim has the cost, its lower bound and the proof."""
        capture = json.dumps({"graph": [{"inputs": buffers}]}).encode()
        run = self.library.lxplore_open()
        try:
            self.library.lxplore_add_text(run, b"graph.json", capture, len(capture))
            for name, value in self.settings.items():
                self.library.lxplore_set(run, name.encode(), str(value).encode())
            if self.library.lxplore_place(run) != 0:
                raise ValueError(self.library.lxplore_message(run).decode())
            solved = json.loads(self.library.lxplore_output(run))["graph"][0]
        finally:
            self.library.lxplore_close(run)
        return {answer["name"]: answer for answer in solved["solved"]}, solved["lxplore"]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    solver = LayoutSolver(sys.argv[1])
    for name, cases in json.load(open(sys.argv[2])).items():
        for case in cases:
            answers, claim = solver.solve(case["inputs"])
            kept = sum(answer["resident"] for answer in answers.values())
            print(f"{name}: {kept} of {len(answers)} in LX, {claim['spilled_bytes']} bytes spilled, "
                  f"{claim['cores']} cores, {claim['proof']}")
