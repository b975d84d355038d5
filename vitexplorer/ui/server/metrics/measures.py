"""Prometheus metrics: histograms of requests and events, and gauges of the present state.

Labels are names of the program's own routes and functions; nothing identifies visitors or contains what they send.
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

disable_created_metrics()  # the `_created` series would add a third as many lines

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Upper bounds of the histogram buckets, in seconds"""

Amounts = Callable[[], dict[str, float]]
"""Present value for each value of a label"""


class Now(Collector):
    """Gauges whose values are looked up at each scrape."""

    def __init__(self, name: str, meaning: str, label: str, amounts: Amounts):
        """Set up the gauges.

        Args:
            name: the metric's name.
            meaning: its help text.
            label: name of the label.
            amounts: returns the present values.
        """
        self._name, self._meaning, self._label, self._amounts = name, meaning, label, amounts

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield the gauges for the registry."""
        family = GaugeMetricFamily(self._name, self._meaning, labels=[self._label])
        for value, amount in self._amounts().items():
            family.add_metric([value], amount)
        yield family


class Measures:
    """Metrics of one server."""

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
        """Add gauges whose present values `amounts` returns."""
        self._registry.register(Now(f"vitexplorer_{name}", meaning, label, amounts))

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)
