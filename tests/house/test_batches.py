"""No two files of a target give one name to different things, and unit tests keep names apart."""

from pathlib import Path

import pytest

from batches import clashes

ROOT = Path(__file__).resolve().parents[2]


def test_this_repository_has_none() -> None:
    assert clashes(ROOT) == []


def plant(root: Path, *files: tuple[str, str]) -> None:
    for path, text in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def hidden(*lines: str) -> str:
    return "namespace cleat {\nnamespace {\n" + "\n".join(lines) + "\n} // namespace\n}\n"


@pytest.mark.parametrize(
    "line",
    [
        "int size_of(int value)",
        "[[nodiscard]] std::vector<int> size_of(int value) noexcept",
        "struct size_of",
        "enum class size_of",
        "constexpr int size_of = 1;",
        "constexpr std::array<int, 2> size_of{1, 2};",
    ],
)
def test_a_name_of_two_files(tmp_path: Path, line: str) -> None:
    plant(tmp_path, ("apps/a/one.cpp", hidden(line)), ("apps/a/two/b.cpp", hidden(line)))
    assert clashes(tmp_path) == ["size_of: defined in apps/a/one.cpp and apps/a/two/b.cpp"]


def test_what_is_not_compiled_together(tmp_path: Path) -> None:
    body = hidden("int size_of(int value)", "    size_of(1);", "int own(int);", "struct known;")
    plant(
        tmp_path,
        ("apps/a/one.cpp", body),
        ("apps/a/main.cpp", body),
        ("apps/b/one.cpp", body),
        ("src/cleat/tls/backend/openssl/one.cpp", body),
        ("src/cleat/tls/backend/bssl/one.cpp", body),
        ("src/cleat/net/one.cpp", body),
    )
    assert clashes(tmp_path) == []


def test_a_name_of_a_header(tmp_path: Path) -> None:
    header = "namespace cleat {\nint size_of(int value);\nclass a\n{\n    int own();\n};\n}\n"
    source = hidden("int size_of(char value)", "int own()")
    plant(tmp_path, ("apps/a/x.hpp", header), ("apps/a/y.cpp", source))
    assert clashes(tmp_path) == ["size_of: defined in apps/a/x.hpp and apps/a/y.cpp"]


def test_a_backend_and_the_rest_of_its_layer(tmp_path: Path) -> None:
    body = hidden("int size_of(int value)")
    files = ["src/cleat/tls/backend/bssl/one.cpp", "src/cleat/tls/two.cpp"]
    plant(tmp_path, *((path, body) for path in files))
    assert clashes(tmp_path) == [f"size_of: defined in {files[0]} and {files[1]}"]


def test_tests_have_a_namespace_of_their_own(tmp_path: Path) -> None:
    plant(
        tmp_path,
        ("src/cleat/net/a_test.cpp", "namespace cleat::net::a_test {\n}\n"),
        ("src/cleat/net/b_test.cpp", "namespace cleat::net {\n}\n"),
    )
    (found,) = clashes(tmp_path)
    assert found.startswith("src/cleat/net/b_test.cpp: ")
