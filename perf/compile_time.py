#!/usr/bin/env python3
"""The time that the compiler takes for a small TLS server on asio::ssl, and on cleat.

    scripts/build release cleat_net
    perf/compile_time.py --rounds 5 --out perf/results/DATE-compile-time.json

All programs echo, in a coroutine: bytes, or a WebSocket's messages with Beast. "asio::ssl" and
"cleat::net::ssl" are the same text on the other stream, as are the two WebSockets, and
"net::server" is a server on every core. Each is one translation unit, compiled without optimization
and with -O2. They take turns, so that the machine's other work meets all of them; the ratio is to
the program on Asio's stream of the same round. CPU is the user time of the compiler; memory is its
largest resident set. The TLS library's headers are the same for all, those of the build.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

from certificates import report
from cleat_perf.results import TREE
from cleat_perf.table import spread, table

BASE = "asio::ssl"
WEBSOCKET_BASE = "WebSocket, beast::ssl_stream"
LEVELS = ("-O0", "-O2")
HEADS = ["", "", "CPU", "of asio::ssl", "memory"]

STREAM = """
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <INCLUDED>

#include <array>

namespace asio = boost::asio;
namespace ssl = NAMESPACE;
using asio::ip::tcp;

asio::awaitable<void> echo(tcp::socket accepted, ssl::context& context)
{
    ssl::stream<tcp::socket> stream{std::move(accepted), context};
    co_await stream.async_handshake(ssl::stream_base::server, asio::use_awaitable);
    std::array<char, 16'384> block;
    for (;;) {
        std::size_t const n =
            co_await stream.async_read_some(asio::buffer(block), asio::use_awaitable);
        co_await asio::async_write(stream, asio::buffer(block, n), asio::use_awaitable);
    }
}
"""

ACCEPT = """
asio::awaitable<void> accept(tcp::acceptor& acceptor, ssl::context& context)
{
    for (;;) {
        tcp::socket accepted = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), echo(std::move(accepted), context), asio::detached);
    }
}

int main()
{
    asio::io_context io{1};
    ssl::context context{ssl::context::tls_server};
    context.use_certificate_chain_file("site.pem");
    context.use_private_key_file("site.pem", ssl::context::pem);
    tcp::acceptor acceptor{io, {tcp::v4(), 8443}};
    asio::co_spawn(io, accept(acceptor, context), asio::detached);
    io.run();
}
"""

WEBSOCKET = """
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <INCLUDED>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
namespace ssl = NAMESPACE;
using asio::ip::tcp;

asio::awaitable<void> echo(tcp::socket accepted, ssl::context& context)
{
    websocket::stream<STREAM<beast::tcp_stream>> socket{std::move(accepted), context};
    co_await socket.next_layer().async_handshake(ssl::stream_base::server, asio::use_awaitable);
    socket.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    co_await socket.async_accept(asio::use_awaitable);
"""

MESSAGES = """    beast::flat_buffer message;
    for (;;) {
        auto [ec, n] = co_await socket.async_read(message, asio::as_tuple(asio::use_awaitable));
        if (ec)
            co_return;
        socket.text(socket.got_text());
        co_await socket.async_write(message.data(), asio::use_awaitable);
        message.consume(n);
    }
}
"""

SERVER = """
#include <cleat/net/server.hpp>

#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>

#include <unistd.h>

namespace asio = boost::asio;
namespace net = cleat::net;

asio::awaitable<void> echo(net::connection c)
{
    std::array<char, 16'384> block;
    for (;;) {
        std::size_t const n =
            co_await c.stream.async_read_some(asio::buffer(block), asio::use_awaitable);
        co_await asio::async_write(c.stream, asio::buffer(block, n), asio::use_awaitable);
    }
}
"""

WEBSOCKET_SERVER = """
#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include <unistd.h>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace net = cleat::net;
namespace websocket = beast::websocket;

asio::awaitable<void> echo(net::connection c)
{
    websocket::stream<net::stream<net::socket>> socket{std::move(c.stream)};
    socket.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    co_await socket.async_accept(asio::use_awaitable);
"""

SERVER_MAIN = """
int main(int, char** texts)
{
    net::server_spec spec;
    spec.listen = "*:8443";
    spec.tls.certificates.push_back({texts[1], texts[2], "site.pem"});
    net::server server{std::move(spec), echo};
    ::pause();
}
"""


def on(header: str, namespace: str) -> str:
    return (STREAM + ACCEPT).replace("INCLUDED", header).replace("NAMESPACE", namespace)


def websocket_on(header: str, namespace: str, stream: str) -> str:
    text = WEBSOCKET + MESSAGES + ACCEPT
    text = text.replace("INCLUDED", header).replace("NAMESPACE", namespace)
    return text.replace("STREAM<", f"{stream}<")


ON_ASIO = {
    BASE: on("boost/asio/ssl.hpp", "boost::asio::ssl"),
    "cleat::net::ssl": on("cleat/net/ssl.hpp", "cleat::net::ssl"),
    "net::server": SERVER + SERVER_MAIN,
}
ON_BEAST = {
    WEBSOCKET_BASE: websocket_on(
        "boost/beast/ssl.hpp", "boost::asio::ssl", "beast::ssl_stream"
    ),
    "WebSocket, cleat::net::ssl": websocket_on(
        "cleat/net/ssl.hpp", "cleat::net::ssl", "ssl::stream"
    ),
    "WebSocket, net::server": WEBSOCKET_SERVER + MESSAGES + SERVER_MAIN,
}
GROUPS = (ON_ASIO, ON_BEAST)
PROGRAMS = {**ON_ASIO, **ON_BEAST}


def arguments() -> argparse.Namespace:
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument("--build", type=Path, default=TREE / "build/release", help="of cleat")
    parse.add_argument("--compiler", default="c++")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--out", type=Path, help="a JSON file with every round; default: none")
    return parse.parse_args()


def include_paths(build: Path) -> list[str]:
    """include_paths are those with which the build compiles cleat::net."""
    commands = json.loads((build / "compile_commands.json").read_text())
    found = next(each["command"] for each in commands if "/cleat_net.dir/" in each["command"])
    words = shlex.split(found)
    paths = [word for word in words if word.startswith("-I")]
    return paths + [f"-isystem{words[i + 1]}" for i, word in enumerate(words) if word == "-isystem"]


def compile_program(command: list[str], name: str, folder: Path) -> tuple[float, int]:
    """compile_program gives the user's CPU time in seconds, and the largest memory in KiB."""
    source = folder / "program.cpp"
    source.write_text(PROGRAMS[name])
    words = [*command, "-std=c++20", "-c", str(source), "-o", str(folder / "program.o")]
    child = os.spawnvp(os.P_NOWAIT, words[0], words)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"compile_time.py: {name} does not compile")
    return used.ru_utime, used.ru_maxrss


def rows(rounds: list[dict]) -> list[list[str]]:
    """rows have the medians of the rounds, and the ratios within a round."""
    shown = []
    for level in LEVELS:
        of_level = [each["programs"] for each in rounds if each["level"] == level]
        for group in GROUPS:
            first = next(iter(group))
            if not all(first in programs for programs in of_level):
                continue  # A record of before Beast's programs.
            for name in group:
                found = [programs[name] for programs in of_level]
                ratio = spread([each[name]["user_s"] / each[first]["user_s"] for each in of_level])
                kind, _, stream = name.rpartition(", ")
                shown.append([
                    level if name == BASE else "",
                    f"{kind}, `{stream}`" if kind else f"`{stream}`",
                    f"{statistics.median(each['user_s'] for each in found):.1f} s",
                    "" if name == first else ratio,
                    f"{statistics.median(each['memory_kib'] for each in found) / 1024:.0f} MiB",
                ])  # fmt: skip
    return shown


def main() -> None:
    options = arguments()
    paths = include_paths(options.build)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for level in LEVELS:
                programs = {}
                for name in PROGRAMS:
                    command = [options.compiler, level, *paths]
                    user_s, memory_kib = compile_program(command, name, Path(folder))
                    programs[name] = {"user_s": user_s, "memory_kib": memory_kib}
                rounds.append({"level": level, "programs": programs})
    report(table(HEADS, rows(rounds)), rounds, options.out)


if __name__ == "__main__":
    main()
