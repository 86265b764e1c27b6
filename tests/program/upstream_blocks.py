"""Upstream blocks of a configuration and routes to them, and servers that say who they are."""

from tls_client import TlsClient


def saying(name):
    """An origin that says its name, and ends."""

    def say(connection):
        connection.send(name.encode())

    return say


def answer(port, *settings, **more):
    """answer is what the server says that a client of cleat reaches."""
    with TlsClient(port, *settings, **more) as client:
        return client.receive_to_end().decode()


def upstream(*servers, name="app", lines=()):
    """upstream is a block; a server is an address, or a block of its own."""
    shown = [each if each.startswith("{") else f'"{each}"' for each in servers]
    inner = "\n".join([f'name = "{name}"', *(f"server = {each}" for each in shown), *lines])
    return f"upstream = {{\n{inner}\n}}\n"


def route(to, *conditions):
    """route is a block for a frontend, to the upstream of this name."""
    return "  route = { " + " ".join([*conditions, f'upstream = "{to}"']) + " }\n"


def frontend(*routes, port=0, lines=""):
    return f'frontend = {{ host = "127.0.0.1" port = "{port}"\n{lines}{"".join(routes)}}}\n'


def sni(*names):
    return " ".join(f'sni = "{name}"' for name in names)
