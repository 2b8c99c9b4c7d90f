"""The listening socket, and the names under which it can be reached."""

import errno
import fcntl
import os
import socket
import struct

from .errors import Refusal

BACKLOG = 1024
EVERYWHERE = ("0.0.0.0", "::")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SIOCGIFADDR = 0x8915
# Addresses kept for documentation: "connecting" a datagram socket sends nothing, it only picks the own address.
NOWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}


def listen(host: str, port: int) -> socket.socket:
    """Bind and listen. Port 0 picks a free one. Raises Refusal, one sentence, when that cannot be done."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        raise Refusal(_why(error, host, port)) from None
    return listener


def _why(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return f"--host {host} is neither an address nor a name that this machine knows."
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is taken by another program; choose another with --port (0 picks a free one)."
    if error.errno == errno.EACCES:
        return f"this user may not use port {port}; choose one above 1023 with --port."
    return f"cannot listen on {host}, port {port}: {error.strerror}."


def local_address(listener: socket.socket) -> tuple[str, int]:
    """An address and port on this machine that reach the listener."""
    address, port = listener.getsockname()[:2]
    if address in EVERYWHERE:
        address = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return address, port


def in_url(address: str) -> str:
    """An address or name as it stands in a URL and in a Host header."""
    return f"[{address}]" if ":" in address else address


def host_names(host: str) -> list[str]:
    """The names that a browser may use for a hub started with `--host`, besides the loopback ones."""
    if host in LOOPBACK:
        return []
    names = own_names() if host in EVERYWHERE else [host]
    return [in_url(name) for name in names]


def own_names() -> list[str]:
    """This machine's name and addresses, asked of the machine itself: a slow name server must not delay a start."""
    found = [socket.gethostname(), *_interface_addresses(), *filter(None, map(_outward_address, NOWHERE))]
    return [name for name in dict.fromkeys(found) if name not in LOOPBACK]


def _outward_address(family: int) -> str:
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((NOWHERE[family], 9))
            return probe.getsockname()[0]
        except OSError:
            return ""


def _interface_addresses() -> list[str]:
    """The IPv4 address of each network interface, where the system has this call (Linux)."""
    addresses = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(probe, SIOCGIFADDR, struct.pack("256s", os.fsencode(name)[:15]))
            except OSError:
                continue
            addresses.append(socket.inet_ntoa(answer[20:24]))
    return addresses
