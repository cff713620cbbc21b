"""Explores how to run tensor programs on tiled accelerators, by the C library of lxplore.

    import lxplore, pandas
    points = lxplore.explore("arch.yaml", "workload.yaml", objective="latency,energy")
    pandas.DataFrame(points)

A point is a row of pareto.csv as a dict, with its plan as YAML under "plan".  results/README.md describes
the columns.  The library is what the environment variable LIBLXPLORE names, that of the installation or of
the build this file is part of, or liblxplore.so.0.
"""
import ctypes
import glob
import os

__all__ = ["Error", "explore", "version"]

_library = None


class Error(Exception):
    """Why there are no points: `status` as lxplore_status in lxplore.h, and all that was said as text."""

    def __init__(self, status, message):
        super().__init__(message.strip() or f"lxplore ended with status {status}")
        self.status = status


def _path():
    here = os.path.dirname(os.path.abspath(__file__))
    places = ["../../../lib/liblxplore.so.0", "../../build/release/liblxplore.so.*"]
    found = [path for place in places for path in sorted(glob.glob(os.path.join(here, place)))]
    return os.environ.get("LIBLXPLORE") or (found + ["liblxplore.so.0"])[0]


def _load():
    """The library, with the types of what is called here: without them ctypes cuts pointers."""
    global _library
    if _library:
        return _library
    library = ctypes.CDLL(_path())
    run, text, size, status = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int
    for name, result, arguments in [
        ("version", text, []),
        ("open", run, []),
        ("close", None, [run]),
        ("add", status, [run, text]),
        ("add_text", status, [run, text, text, size]),
        ("set", status, [run, text, text]),
        ("explore", status, [run]),
        ("message", text, [run]),
        ("points", size, [run]),
        ("columns", size, [run]),
        ("column", text, [run, size]),
        ("cell", text, [run, size, text]),
        ("plan", text, [run, size]),
    ]:
        function = getattr(library, "lxplore_" + name)
        function.restype, function.argtypes = result, arguments
    _library = library
    return library


def version():
    return _load().lxplore_version().decode()


def _value(cell):
    """A cell as a number where it is one; None where it is empty."""
    if not cell:
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell


def _words(value):
    """An option's words; None is a flag's value."""
    if value is True:
        return None
    if isinstance(value, (list, tuple)):
        value = ",".join(str(part) for part in value)
    return str(value).encode()


def explore(*specs, texts=None, **settings):
    """Points of the frontier, a dict each, the first objective's best first.

    specs: paths of files or folders.  texts: {name: YAML} of specs in memory.  settings: options of `lxplore
    explore`, with _ for -: time_limit=10, objective=["latency", "energy"], imperfect="all"; True gives a flag.
    Raises Error where specs are wrong, nothing fits or nothing was found.
    """
    library = _load()
    run = library.lxplore_open()
    if not run:
        raise MemoryError("lxplore_open")
    try:
        for path in specs:
            library.lxplore_add(run, os.fspath(path).encode())
        for name, text in (texts or {}).items():
            data = text.encode()
            library.lxplore_add_text(run, name.encode(), data, len(data))
        for name, value in settings.items():
            if value is not None and value is not False:
                library.lxplore_set(run, name.replace("_", "-").encode(), _words(value))
        status = library.lxplore_explore(run)
        if status != 0:
            raise Error(status, library.lxplore_message(run).decode())
        columns = [library.lxplore_column(run, i) for i in range(library.lxplore_columns(run))]
        points = []
        for i in range(library.lxplore_points(run)):
            point = {name.decode(): _value(library.lxplore_cell(run, i, name).decode()) for name in columns}
            point["plan"] = library.lxplore_plan(run, i).decode()
            points.append(point)
        return points
    finally:
        library.lxplore_close(run)
