#!/usr/bin/env python3
"""The time that the compiler takes for a small TLS server on asio::ssl, and on cleat.

    scripts/build release cleat_net
    perf/compile_time.py --rounds 5 --out perf/results/DATE-compile-time.json

All programs echo, in a coroutine. "asio::ssl" and "cleat::net::ssl" are the same text on the other
stream, and "net::server" is a server on every core. Each is one translation unit, compiled without
optimization and with -O2. They take turns, so that the machine's other work meets all of them; the
ratio is to asio::ssl of the same round. CPU is the user time of the compiler; memory is its largest
resident set. The TLS library's headers are the same for all, those of the build.
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
    return STREAM.replace("INCLUDED", header).replace("NAMESPACE", namespace)


PROGRAMS = {
    BASE: on("boost/asio/ssl.hpp", "boost::asio::ssl"),
    "cleat::net::ssl": on("cleat/net/ssl.hpp", "cleat::net::ssl"),
    "net::server": SERVER,
}


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
        for name in PROGRAMS:
            found = [each["programs"][name] for each in rounds if each["level"] == level]
            base = [each["programs"][BASE] for each in rounds if each["level"] == level]
            ratio = spread([a["user_s"] / b["user_s"] for a, b in zip(found, base)])
            shown.append([
                level if name == BASE else "",
                f"`{name}`",
                f"{statistics.median(each['user_s'] for each in found):.1f} s",
                "" if name == BASE else ratio,
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
