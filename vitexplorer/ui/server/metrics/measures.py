"""What is counted, as Prometheus reads it: requests, events of the page and calls of scripts, and what is there now.

Nothing of what visitors send is in it, nor who they are: names are those of the program's own routes and functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import (
    CollectorRegistry,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

disable_created_metrics()  # when each was first counted: a third as many lines again, and nobody asks

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""bounds of what is told apart"""

Amounts = Callable[[], dict[str, float]]
"""the present value for each value of a label"""


class Now(Collector):
    """Amounts that are looked up when they are asked for."""

    def __init__(self, name: str, meaning: str, label: str, amounts: Amounts):
        """Args: name, meaning: of the measure; label: what its values are told apart by; amounts: they, now."""
        self._name, self._meaning, self._label, self._amounts = name, meaning, label, amounts

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """As the registry wants them."""
        family = GaugeMetricFamily(self._name, self._meaning, labels=[self._label])
        for value, amount in self._amounts().items():
            family.add_metric([value], amount)
        yield family


class Measures:
    """Of one server."""

    def __init__(self):
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Histogram(
            "vitexplorer_request_seconds",
            "Requests, by the time until their answer began",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.events = Histogram(
            "vitexplorer_event_seconds",
            "Events of the page and calls of scripts, by the time that they took, waiting included",
            ("event", "outcome"),
            buckets=SECONDS,
            registry=self._registry,
        )

    def now(self, name: str, meaning: str, label: str, amounts: Amounts) -> None:
        """Tell an amount that somebody else knows."""
        self._registry.register(Now(f"vitexplorer_{name}", meaning, label, amounts))

    def exposition(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self._registry)
