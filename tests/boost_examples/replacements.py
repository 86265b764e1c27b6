"""The TLS examples of Boost.Asio and Boost.Beast with cleat in place of asio::ssl: a copy gets the
replacements of docs/guides/from-asio-ssl.md, and reads the test's certificates."""

import re
from pathlib import Path

DOCUMENTED = [
    (r"<boost/asio/ssl[^>]*>|<boost/beast/(websocket/)?ssl\.hpp>", "<cleat/net/ssl.hpp>"),
    (r"(?<!:)namespace ssl = [a-z:]*ssl;", "namespace ssl = cleat::net::ssl;"),
    (r"boost::asio::ssl\b", "cleat::net::ssl"),
    (r"(?<![:a-z])net::ssl::", "cleat::net::ssl::"),
    (r"beast::ssl_stream<", "cleat::net::ssl::stream<"),
    (r"\b\w+\.use_tmp_dh(_file)?\(.*?\);", ""),
    (
        r"if\s*\(\s*!\s*SSL_set_tlsext_host_name\(\s*([\w.()]+?)\.native_handle\(\),"
        r"\s*([\w.()]+)\)\)\s*(\{.*?\}\s*\n|.*?;\n)",
        lambda found: f"{found[1]}.set_server({without_port(found)}, 443);\n",
    ),
]


def without_port(found: re.Match[str]) -> str:
    """without_port is the host of a call. WebSocket clients add the port before it."""
    if "host_ += ':'" in found.string[: found.start()]:
        return "host_.substr(0, host_.rfind(':'))"
    return found[2]


# Examples use both, and get them from headers of asio::ssl's.
INCLUDES = "#include <list>\n#include <openssl/x509.h>\n"

# The certificates in Beast's headers are not the test's, and expire. The key of the table is the
# header and the variable.
FILES = {
    ("root_certificates.hpp", "cert"): "ca.pem",
    ("server_certificate.hpp", "cert"): "server.pem",
    ("server_certificate.hpp", "key"): "server.pem",
}
CONTENTS_OF = """#include <fstream>
#include <iterator>
#include <string>
inline std::string contents_of(char const* name)
{
    std::ifstream file{name};
    return {std::istreambuf_iterator<char>{file}, {}};
}
"""


def is_about_tls(text: str) -> bool:
    return re.search(r"asio/ssl|beast/ssl|websocket/ssl", text) is not None


def replaced(text: str) -> str:
    for pattern, replacement in DOCUMENTED:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text


def with_files(header: str, text: str) -> str:
    """with_files is a header whose certificates are files of the working directory."""
    for (name, variable), file in FILES.items():
        if name == header:
            literal = rf'(std::string (?:const )?{variable} =)\s*"[^;]*;'
            text, count = re.subn(literal, rf'\1 contents_of("{file}");', text)
            assert count, f"{header} has no {variable}"
    return text.replace("#include", CONTENTS_OF + "#include", 1)


def copy(libraries: Path, folder: Path) -> list[str]:
    """copy returns the TLS examples of a folder with Boost's libraries: programs, by their paths
    below it."""
    programs = []
    for library in ("asio", "beast"):
        for source in sorted((libraries / library / "example").rglob("*.[ch]pp")):
            text = source.read_text(errors="replace")
            made = replaced(text)
            if any(name == source.name for name, _ in FILES):
                made = with_files(source.name, made)
            elif is_about_tls(text) and source.suffix == ".cpp":
                made = INCLUDES + made
                programs.append(str(source.relative_to(libraries)))
            target = folder / source.relative_to(libraries)
            target.parent.mkdir(parents=True, exist_ok=True)
            # A copy that is written again is compiled again.
            if not target.exists() or target.read_text() != made:
                target.write_text(made)
    return programs
