"""Runs the examples of docs/python.md, each in a process of its own, in a folder with night.data.

One whose packages are not installed is named as skipped.
"""

import ast
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
#: Seconds; Ray and Spark start servers first.
PATIENCE = 240


def examples():
    """Returns the headings and the code of the examples."""
    heading = ""
    for part in re.split(r"^(## [^\n]*|```python\n.*?^```)$", (ROOT / "docs/python.md").read_text(),
                         flags=re.MULTILINE | re.DOTALL):
        if part.startswith("## "):
            heading = part.removeprefix("## ")
        elif part.startswith("```python\n"):
            yield heading, part.removeprefix("```python\n").removesuffix("```")


def missing(code):
    """Returns the packages that the code needs and that are not installed."""
    needed = {"pandas", "pyarrow"} if re.search("to_(pandas|arrow|reader)", code) else set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            needed |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            needed.add(node.module.split(".")[0])
    return sorted(name for name in needed if importlib.util.find_spec(name) is None)


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "corpus/perf/crashed/diskfull.data", f"{folder}/night.data")
        for heading, code in examples():
            lacking = missing(code)
            if lacking:
                print(f"skipped: the example {heading} ({', '.join(lacking)})")
                continue
            ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True,
                                 text=True, timeout=PATIENCE)
            right = ran.returncode == 0 and ran.stdout
            print(f"{'ok' if right else 'FAILED'}: the example {heading}")
            if not right:
                failed = True
                print(ran.stdout, ran.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
