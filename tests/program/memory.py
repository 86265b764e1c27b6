"""The memory of a program, which only root may read."""


def memory_has(server, wanted):
    """memory_has looks for bytes in all that the program has written to its memory."""
    with open(f"/proc/{server.pid}/maps") as maps, open(f"/proc/{server.pid}/mem", "rb") as memory:
        for line in maps:
            place, rights, *_ = line.split()
            begin, end = (int(each, 16) for each in place.split("-"))
            # A sanitizer's shadow has terabytes.
            if "w" not in rights or "r" not in rights or end - begin > 1 << 30:
                continue
            memory.seek(begin)
            try:
                if wanted in memory.read(end - begin):
                    return True
            except OSError:  # The kernel's own.
                continue
    return False
