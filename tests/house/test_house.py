"""The house rules' checker finds every violation that is planted, and only those."""

from pathlib import Path

import pytest
from house import Finding, check, main

HEADER = "// A thing is a thing.\n#pragma once\n"
BODY = "int f()\n{\n" + "    g();\n" * 70 + "}\n"

# rule, path, text, line where it must be found
PLANTED = [
    ("columns", "src/cleat/core/a.cpp", "// " + "x" * 98 + "\n", 1),
    ("columns", "scripts/thing", "#!/bin/sh\n# " + "x" * 99 + "\n", 2),
    ("columns", "cmake/a.cmake", "# " + "x" * 99 + "\n", 1),
    ("space", "src/cleat/core/a.cpp", "int a; \n", 1),
    ("space", "src/cleat/core/a.cpp", "\tint a;\n", 1),
    ("file-length", "src/cleat/core/a.cpp", "// Says nothing.\n" + "int a;\n" * 600, 1),
    ("header", "src/cleat/core/a.hpp", "#pragma once\n", 1),
    ("header", "src/cleat/core/a.hpp", "// A thing.\n", 1),
    ("header", "src/cleat/core/a.hpp", HEADER + "using namespace std;\n", 3),
    ("conditional", "src/cleat/net/a.cpp", "#if defined(X)\n#endif\n", 1),
    ("conditional", "src/cleat/tls/a.cpp", "#  ifdef X\n#endif\n", 1),
    ("conditional", "apps/cleat/a.cpp", "#ifndef X\n#endif\n", 1),
    ("conditional", "src/cleat/a.h", "#ifdef __linux__\n#endif\n", 1),
    ("conditional", "src/cleat/a.h", "#ifndef CLEAT_B_H\n#endif\n", 1),
    ("layers", "src/cleat/core/a.cpp", "#include <cleat/tls/engine.hpp>\n", 1),
    ("layers", "src/cleat/tls/a.cpp", "int a;\n#include <cleat/net/stream.hpp>\n", 2),
    ("layers", "src/cleat/net/a.cpp", '#include "../tls/engine.hpp"\n', 1),
    ("layers", "src/cleat/net/a.cpp", "#include <apps/cleat/config.hpp>\n", 1),
    ("layers", "apps/cleat-bench/a.cpp", "#include <apps/cleat/config.hpp>\n", 1),
    ("tls-seam", "src/cleat/net/a.cpp", "#include <openssl/ssl.h>\n", 1),
    ("tls-seam", "apps/cleat/a.cpp", "#include <openssl/ssl.h>\n", 1),
    ("asio-seam", "src/cleat/tls/a.cpp", "#include <boost/asio/buffer.hpp>\n", 1),
    ("asio-seam", "src/cleat/core/a.hpp", HEADER + "#include <boost/beast/core.hpp>\n", 3),
    ("names", "src/cleat/util/a.cpp", "int a;\n", 1),
    ("names", "src/cleat/core/common.hpp", HEADER, 1),
    ("names", "src/cleat/core/a.cpp", "class ConnectionManager;\n", 1),
    ("names", "src/cleat/core/a.cpp", "int get_size() const;\n", 1),
    ("names", "src/cleat/core/a.cpp", "namespace cleat::util {\n}\n", 1),
    ("promises", "src/cleat/core/a.cpp", "// FIXME\n", 1),
    ("promises", "src/cleat/core/a.cpp", "// TODO later\n", 1),
    ("machine-path", "docs/a.md", "Look into /home/someone/cleat.\n", 1),
    ("mutex", "src/cleat/net/a.cpp", "std::mutex m;\n", 1),
    ("mutex", "apps/cleat/a.cpp", "std::lock_guard const held{m};\n", 1),
    ("mutex", "src/cleat/net/a.hpp", HEADER + "auto self = shared_from_this();\n", 3),
    ("assert", "src/cleat/net/a.cpp", "    assert(x);\n", 1),
    ("links", "docs/a.md", "# A\n\nSee [b](b.md).\n", 3),
    ("links", "docs/a.md", "[a](a.md), [top](../README.md#top)\n", 1),
    ("sleep", "src/cleat/net/a_test.cpp", "std::this_thread::sleep_for(1ms);\n", 1),
    ("test-import", "tests/program/test_a.py", "import os\nfrom test_b import c\n", 2),
    ("sentences", "src/cleat/net/a.cpp", "int a; // What if?\nint b; // Who asks.\n", 2),
    ("sentences", "src/cleat/net/a.cpp", "int a; // What is left stays.\n", 1),
    ("sentences", "docs/a.md", "# A\n\nIt ends. Nobody hears it.\n", 3),
    ("sentences", "scripts/thing", "#!/bin/sh\n# The client is told to go.\n", 2),
    ("objects", "src/cleat/net/a.cpp", "void f(service& at);\n", 1),
    ("objects", "apps/cleat/a.hpp", HEADER + "int of = 0;\n", 3),
    ("objects", "apps/cleat/a.cpp", "void f(family&& into);\n", 1),
    ("objects", "apps/cleat/a.cpp", "std::vector<int> there;\n", 1),
    ("objects", "apps/cleat/a.cpp", "bool again = true;\n", 1),
    ("objects", "perf/a.py", "def f(on: int) -> None: ...\n", 1),
    ("objects", "perf/a.py", "a = 1\nhere, b = a, a\n", 2),
    ("objects", "tests/a.py", "class A:\n    def f(self):\n        self.at = 0\n", 3),
    ("objects", "apps/cleat/a.js", "const at = 0;\n", 1),
    ("objects", "apps/cleat/a.js", "const bars = (rows, of) =>\n    rows;\n", 1),
    ("objects", "apps/cleat/a.js", "function f(into) {\n}\n", 1),
    ("objects", "apps/cleat/a.js", "points.map((a) => a).some(by => by);\n", 1),
]

INNOCENT = {
    "docs/style.md": "# What two workers share\n\n> Who asks, waits.\n\n```\nWho am i\n```\n"
    "\nWho asks?\n",
    "tests/program/test_a.py": "from b import test_c\n",
    "src/cleat/core/words.cpp": "int f(int from, int to); // the int in a pair\n"
    "bool g = h && again;\n",
    "perf/words.py": "from a import b\nfor each in b.at(1):\n    print(f'at {each.by}', on=2)\n",
    "apps/cleat/words.js": "const a = list.at(-1); // const at = 0;\npoints.push({ at: a });\n"
    "const text = 'wait (for it, there) => {';\n",
    "src/cleat/core/a.hpp": HEADER + "#include <vector>\n",
    "src/cleat/tls/a.cpp": "#include <cleat/core/a.hpp>\n#include <openssl/ssl.h>\n",
    "src/cleat/tls/backend/awslc/a.cpp": "#if 1\n#endif\n",
    "src/cleat/net/a.cpp": "#include <cleat/tls/a.hpp>\n#include <boost/asio/post.hpp>\n"
    "CLEAT_ASSERT(x);\nstatic_assert(sizeof(int) == 4);\nauto e = s.get_executor();\n"
    "SSL_get_error(s, 0);\nauto* p = std::get_if<int>(&v);\n",
    "src/cleat/ssl_writev.h": "#ifndef CLEAT_SSL_WRITEV_H\n#ifdef __cplusplus\n#endif\n#endif\n",
    "apps/cleat/main.cpp": "#include <cleat/net/stream.hpp>\n// TODO(perf): one copy, 3%\n",
    "README.md": "x" * 200 + "\nbuild/release, https://localhost/home/page\n",
    "build/release/a.cpp": "#if 1\n",
    "docs/a.md": "[readme](../README.md#top) [docs](.) [src](../src/cleat/) [a](#here)\n"
    "[away](https://localhost/x.md) [write](mailto:someone@localhost)\n",
}


def plant(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize("rule, path, text, line", PLANTED)
def test_a_planted_violation_is_found(
    tmp_path: Path, rule: str, path: str, text: str, line: int
) -> None:
    plant(tmp_path, path, text)
    found = [(one.rule, one.path, one.line, one.is_error) for one in check(tmp_path)]
    assert found == [(rule, path, line, True)]
    assert main([str(tmp_path)]) == 1


def test_innocent_code_is_left_alone(tmp_path: Path) -> None:
    for path, text in INNOCENT.items():
        plant(tmp_path, path, text)
    assert check(tmp_path) == []
    assert main([str(tmp_path)]) == 0


def test_a_long_function_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, "src/cleat/core/a.cpp", BODY)
    plant(tmp_path, "perf/a.py", "def f():\n" + "    g()\n" * 70)
    plant(tmp_path, "src/cleat/core/b.cpp", "namespace cleat\n{\n" + "int a;\n" * 90 + "}\n")
    found = [(one.path, one.rule, one.is_error) for one in check(tmp_path)]
    assert found == [
        ("perf/a.py", "function-length", True),
        ("src/cleat/core/a.cpp", "function-length", True),
    ]
    assert main([str(tmp_path)]) == 1


def test_a_long_class_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, "src/cleat/core/a.cpp", "class a\n{\n" + "    int b;\n" * 260 + "};\n")
    plant(tmp_path, "src/cleat/core/c.cpp", "class c\n{\n" + "    int b;\n" * 200 + "};\n")
    plant(tmp_path, "src/cleat/core/d.cpp", "class d;\n" + "int b;\n" * 300 + "}\n")
    found = [(one.path, one.rule, one.is_error) for one in check(tmp_path)]
    assert found == [("src/cleat/core/a.cpp", "class-length", True)]


def test_a_long_file_may_say_why(tmp_path: Path) -> None:
    why = "// 700 lines: one table, row by row.\n"
    plant(tmp_path, "src/cleat/core/a.cpp", why + "int a;\n" * 700)
    plant(tmp_path, "src/cleat/core/b.cpp", "int a;\n" * 500)
    found = [(one.path, one.is_error) for one in check(tmp_path)]
    assert found == [("src/cleat/core/b.cpp", False)]


def test_a_rule_is_broken_with_a_reason_only(tmp_path: Path) -> None:
    reason = "// house(mutex): it is on the control path\n"
    plant(tmp_path, "src/cleat/net/a.cpp", reason + "std::mutex m;\n")
    plant(tmp_path, "src/cleat/net/b.cpp", "std::mutex m;  // house(mutex):\n")
    plant(tmp_path, "src/cleat/net/c.cpp", "std::mutex m;  // house(sleep): another rule\n")
    found = [one.path for one in check(tmp_path)]
    assert found == ["src/cleat/net/b.cpp", "src/cleat/net/c.cpp"]


def test_a_finding_names_its_place() -> None:
    assert str(Finding("a.cpp", 3, "space", "a tab")) == "a.cpp:3: space: a tab"
    assert str(Finding("a.cpp", 3, "space", "a tab", False)) == "a.cpp:3: warning: space: a tab"
