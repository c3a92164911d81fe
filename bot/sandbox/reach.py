"""Which addresses a box may be led to: those of the public internet, never this machine, its network or its cloud."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address

import psutil

_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in its last 32 bits
_GLOBAL6 = ipaddress.ip_network("2000::/3")  # RFC 4291: what is handed out for the internet
# IANA's special-purpose registries (https://www.iana.org/assignments/iana-ipv4-special-registry), less the
# documentation networks, where nothing is
_INNER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3",
        "168.63.129.16/32",  # Azure's host, https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
    )
)  # fmt: skip


def is_public(address: str, *, own: Iterable[str] = ()) -> bool:
    """Return whether an address leads out to the internet; `own` are addresses of this machine."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if str(found) in {ip.partition("%")[0] for ip in own}:
        return False
    if isinstance(found, IPv6Address):
        inner = _inside(found)
        if inner is not None:
            return is_public(str(inner), own=own)
        return found in _GLOBAL6
    return not any(found in network for network in _INNER)


def _inside(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 one stands for: mapped, 6to4, Teredo, NAT64."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def own_addresses() -> list[str]:
    """Return the addresses under which this machine itself is reached."""
    return [one.address for found in psutil.net_if_addrs().values() for one in found]


async def resolve(host: str) -> Sequence[str]:
    """Return the addresses of a name, or of an address itself; none where nobody knows it."""
    with contextlib.suppress(OSError, UnicodeError):
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))
    return []
