"""The network address of a caller, as far as it is one."""

from ipaddress import ip_address


def read_address(text: str | None) -> str | None:
    """The IP address that `text` writes, without a zone; None if it writes none."""
    try:
        return str(ip_address(text or "")).partition("%")[0]
    except ValueError:
        return None
