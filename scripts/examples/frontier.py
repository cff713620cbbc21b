#!/usr/bin/env python3
"""Explores specs by the shared library and plots the frontier.

    python3 frontier.py [-o PICTURE] [--set NAME=VALUE] SPEC...

The picture is made by matplotlib where that is installed; else it is an SVG, drawn here.
The library is liblxplore.so.0, or what the environment variable LIBLXPLORE names.
"""
import argparse
import ctypes
import os
import sys

FOUND, WRONG = 0, 2


class Complaint(ctypes.Structure):
    _fields_ = [
        ("severity", ctypes.c_int),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int),
        ("column", ctypes.c_int),
        ("end_line", ctypes.c_int),
        ("end_column", ctypes.c_int),
        ("text", ctypes.c_char_p),
    ]


class Progress(ctypes.Structure):
    _fields_ = [
        ("seconds", ctypes.c_double),
        ("round", ctypes.c_int),
        ("done", ctypes.c_uint64),
        ("tasks", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("best", ctypes.c_double),
        ("bound", ctypes.c_double),
    ]


TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Progress))


def load():
    """The library, with the types of what is called here: without them ctypes cuts pointers."""
    library = ctypes.CDLL(os.environ.get("LIBLXPLORE", "liblxplore.so.0"))
    run, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in [
        ("open", run, []),
        ("close", None, [run]),
        ("add", ctypes.c_int, [run, text]),
        ("set", ctypes.c_int, [run, text, text]),
        ("on_progress", ctypes.c_int, [run, TELL, ctypes.c_void_p]),
        ("explore", ctypes.c_int, [run]),
        ("message", text, [run]),
        ("complaints", number, [run]),
        ("complaint", ctypes.POINTER(Complaint), [run, number]),
        ("points", number, [run]),
        ("cell", text, [run, number, text]),
        ("number", ctypes.c_double, [run, number, text]),
    ]:
        function = getattr(library, "lxplore_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Wrong(Exception):
    """The specs are wrong; its text says where."""


def explore(specs, settings):
    """The frontier: for each point cycles, pJ and what proves it."""
    library = load()

    @TELL
    def tell(context, progress):
        at = progress.contents
        print(f"{at.seconds:.1f} s: {at.count} looked at, best {at.best:g}", file=sys.stderr)

    run = library.lxplore_open()
    try:
        for path in specs:
            library.lxplore_add(run, path.encode())
        for name, value in settings:
            library.lxplore_set(run, name.encode(), value.encode())
        library.lxplore_on_progress(run, tell, None)
        status = library.lxplore_explore(run)
        if status == WRONG:
            complaints = [
                library.lxplore_complaint(run, i).contents
                for i in range(library.lxplore_complaints(run))
            ]
            raise Wrong("\n".join(
                f"{(at.file or b'specs').decode()}:{at.line}:{at.column}: {at.text.decode()}"
                for at in complaints))
        if status != FOUND:
            sys.exit(library.lxplore_message(run).decode())
        return [
            (library.lxplore_number(run, i, b"latency_cycles"),
             library.lxplore_number(run, i, b"energy_pj"),
             library.lxplore_cell(run, i, b"proof").decode())
            for i in range(library.lxplore_points(run))
        ]
    finally:
        library.lxplore_close(run)


def plot(points, path):
    """By matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.scatter([p[0] for p in points], [p[1] / 1e6 for p in points])
    plt.xlabel("latency, cycles")
    plt.ylabel("energy, uJ")
    plt.savefig(path)


def draw(points, path):
    """By hand, for want of matplotlib."""
    width, height, margin = 640, 400, 60

    def scale(values, low, high):
        least, most = min(values), max(values)
        return [low + (v - least) / ((most - least) or 1) * (high - low) for v in values]

    xs = scale([p[0] for p in points], margin, width - 20)
    ys = scale([p[1] for p in points], height - margin, 20)
    dots = "\n".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{p[0]:.0f} cycles, '
        f'{p[1] / 1e6:.1f} uJ</title></circle>' for x, y, p in zip(xs, ys, points))
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="14">\n'
            f'<path d="M{margin} 20V{height - margin}H{width - 20}" fill="none" stroke="black"/>\n'
            f'<g fill="#0072b2">\n{dots}\n</g>\n'
            f'<text x="{width / 2}" y="{height - 20}" text-anchor="middle">latency, '
            f'{min(p[0] for p in points):.0f} to {max(p[0] for p in points):.0f} cycles</text>\n'
            f'<text x="20" y="{height / 2}" text-anchor="middle" '
            f'transform="rotate(-90 20 {height / 2})">energy, '
            f'{min(p[1] for p in points) / 1e6:.1f} to {max(p[1] for p in points) / 1e6:.1f} uJ'
            f'</text>\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("specs", nargs="+", metavar="SPEC")
    parser.add_argument("-o", dest="picture", default="frontier.svg")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    try:
        points = explore(options.specs, [s.split("=", 1) for s in options.set])
    except Wrong as wrong:
        sys.exit(str(wrong))
    for cycles, energy, proof in points:
        print(f"{cycles:.0f} cycles, {energy / 1e6:.3f} uJ, proof: {proof}")
    try:
        plot(points, options.picture)
    except ImportError:
        draw(points, options.picture)


main()
