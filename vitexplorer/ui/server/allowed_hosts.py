"""Host and origin check: refuse unknown host names (DNS rebinding) and changes requested by other sites' pages.

The owner of a name can point it at this machine, and a browser would then show them everything here, so a name has to
be known. A numeric address cannot be rebound and is accepted where the server listens at all addresses. Requests that
change something have to come from the page itself. Scripts send none of the headers by which a browser states its
origin; they act for themselves and are accepted.
"""

from __future__ import annotations

import ipaddress
import re
import socket

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Text
from vitexplorer.ui.server.refusals import refusal

_HERE = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "[::]")
_HOST = re.compile(r"(?P<name>[\w.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{0,5}))?", re.ASCII | re.IGNORECASE)
_DIGITS = re.compile(r"\[.*|[0-9.]+")
_READING = ("GET", "HEAD", "OPTIONS")
_UNKNOWN_HOST = Text(
    "This page is not served under the name “{host}”. Whoever runs it can add the name to the setting VIT_HOSTS.",
    "本页面不通过“{host}”这一名称提供服务。管理员可将该名称加入设置 VIT_HOSTS。",
)
_FOREIGN = Text(
    "This request comes from another site's page ({origin}). Whoever runs this page can add it to VIT_ORIGINS.",
    "此请求来自其他网站的页面（{origin}）。管理员可将其加入 VIT_ORIGINS。",
)


class HostCheck:
    """Refuses requests of unknown host or origin."""

    def __init__(self, settings: Settings):
        """Read `host`, `hosts` and `origins` of the settings."""
        self.origins = listed(settings.origins)
        self.hosts = {settings.host.strip("[]"), *_HERE, *listed(settings.hosts)}
        self.digits = settings.host in _EVERYWHERE
        if self.digits:
            self.hosts |= {socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}

    def __call__(self, scope: Scope) -> Response | None:
        """Refuse with 421 or 403; None accepts the request."""
        headers = Headers(scope=scope)
        urls = listed(headers.get("x-gradio-server", ""))
        servers = (url.partition("://")[2].partition("/")[0] for url in urls)
        hosts = [headers.get("host", ""), *listed(headers.get("x-forwarded-host", "")), *servers]
        unknown = next((host for host in hosts if not self._is_known(host)), None)
        if unknown is not None:
            return refusal(scope, 421, _UNKNOWN_HOST.format(host=unknown[:200]))
        if scope["method"] not in _READING and self._is_foreign(headers, hosts):
            origin = headers.get("origin") or headers.get("sec-fetch-site", "")
            return refusal(scope, 403, _FOREIGN.format(origin=origin[:200]))
        return None

    def _is_known(self, host_and_port: str) -> bool:
        name = _name_of(host_and_port)
        if name is None:
            return False
        if name in self.hosts or "*" in self.hosts:
            return True
        if any(host.startswith("*.") and name.endswith(host[1:]) for host in self.hosts):
            return True
        return self.digits and _is_address(name)

    def _is_foreign(self, headers: Headers, hosts: list[str]) -> bool:
        """Return True for a request from another site's page; older browsers send only `origin`."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() in self.origins:
            return False
        if site is not None:
            return site not in ("same-origin", "none")
        return origin is not None and origin.lower().partition("://")[2] not in [host.lower() for host in hosts]


def listed(names: str) -> list[str]:
    """Split a comma-separated setting or header."""
    return [name.strip().lower() for name in names.split(",") if name.strip()]


def _name_of(host: str) -> str | None:
    """Return the name or address before a port; None for a malformed one, on which gradio's own parsing fails."""
    match = _HOST.fullmatch(host)
    if match is None or int(match["port"] or 0) >= 2**16:
        return None
    name = match["name"].lower().strip("[]")
    return name if _is_address(name) or not _DIGITS.fullmatch(match["name"]) else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
