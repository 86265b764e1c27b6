"""System calls that fail in a program, as on a kernel that does not have them."""

import ctypes
import errno
import os
import struct
from typing import Callable

LOAD_NUMBER, JUMP_IF_EQUAL, GIVE = 0x20, 0x15, 0x06
ALLOWED, FAILS = 0x7FFF0000, 0x00050000
SET_NO_NEW_PRIVS, SET_SECCOMP, BY_FILTER = 38, 22, 2


class Filter(ctypes.Structure):
    _fields_ = [("size", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def without_call(number: int, error: int = errno.ENOSYS) -> Callable[[], None]:
    """without_call makes a call fail in the process that runs it, and in all that this
    one becomes: a preexec_fn."""

    def step(code: int, jump_true: int, jump_false: int, value: int) -> bytes:
        return struct.pack("HBBI", code, jump_true, jump_false, value)

    def confine() -> None:
        code = step(LOAD_NUMBER, 0, 0, 0) + step(JUMP_IF_EQUAL, 0, 1, number)
        code += step(GIVE, 0, 0, FAILS + error) + step(GIVE, 0, 0, ALLOWED)
        program = Filter(len(code) // 8, code)
        libc = ctypes.CDLL(None, use_errno=True)
        if os.geteuid() != 0:
            libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if libc.prctl(SET_SECCOMP, BY_FILTER, ctypes.byref(program), 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")

    return confine
