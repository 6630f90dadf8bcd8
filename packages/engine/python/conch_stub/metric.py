"""A model's own metrics, shown beside the server's for as long as their objects live."""

from __future__ import annotations

from enum import IntEnum
from math import isnan

from .arguments import NATIVE, TritonModelException, is_integer, refuse_arguments
from .engine_call import ask_engine
from .session import Session, current_session
from .wire import encode


class MetricKind(IntEnum):
    COUNTER = 0
    GAUGE = 1
    HISTOGRAM = 2


_FAMILY = "c_python_backend_utils.MetricFamily(name: str, description: str, kind: c_python_backend_utils.MetricKind)"
_DELETED = (
    "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The 'MetricFamily' object should be "
    "deleted AFTER its corresponding 'Metric' objects have been deleted."
)


_PREFIX = "TRITONSERVER_METRIC_KIND_"
_OPERATIONS = {
    MetricKind.COUNTER: ("increment",),
    MetricKind.GAUGE: ("increment", "set"),
    MetricKind.HISTOGRAM: ("observe",),
}


class _Registration:
    """A family in the server; closed with its object, or with the process."""

    __slots__ = ("closed", "number", "session")

    def __init__(self, session: Session, number: int) -> None:
        self.session = session
        self.number = number
        self.closed = False


class MetricFamily:
    """The same name and kind in another model is the same family."""

    COUNTER = MetricKind.COUNTER
    GAUGE = MetricKind.GAUGE
    HISTOGRAM = MetricKind.HISTOGRAM

    def __init__(self, name: str, description: str, kind: MetricKind) -> None:
        if not isinstance(name, str) or not isinstance(description, str) or not isinstance(kind, MetricKind):
            raise refuse_arguments("__init__", _FAMILY, (name, description, kind))
        session = current_session()
        fields = {"kind": kind.name.lower(), "name": name, "description": description}
        number = ask_engine(session.connection, "family", fields, "Error when creating MetricFamily: ")
        self._registration = _Registration(session, number)
        self._kind = kind

    def Metric(self, labels: dict[str, str] | None = None, buckets: list[float] | None = None) -> Metric:  # noqa: N802
        """A series. Labels are texts; buckets, upper bounds, are for histograms and for them only."""
        labels = {} if labels is None else labels
        if not isinstance(labels, dict):
            raise TritonModelException("Failed to create metric. Labels must be a dictionary.")
        if buckets is not None and not isinstance(buckets, list):
            raise TritonModelException("Failed to create metric. Buckets must be a list.")
        if self._kind is MetricKind.HISTOGRAM:
            if buckets is None:
                raise TritonModelException("Failed to create metric. Missing required buckets.")
        elif buckets:
            raise TritonModelException("Failed to create metric. Unexpected buckets found.")
        return Metric(self._registration, self._kind, _check_labels(labels), _check_buckets(buckets))

    def __del__(self) -> None:
        registration = getattr(self, "_registration", None)
        if registration is not None and not registration.closed:
            registration.closed = True
            _drop(registration.session, "family", registration.number)


class Metric:
    """One series; made by `MetricFamily.Metric`."""

    def __init__(
        self, family: _Registration, kind: MetricKind, labels: dict[str, str], buckets: list[float] | None
    ) -> None:
        self._family = family
        self._kind = kind
        fields: dict = {"family": family.number, "labels": labels}
        if kind is MetricKind.HISTOGRAM:
            fields["buckets"] = buckets
        self._number = ask_engine(family.session.connection, "series", fields, "Error when creating Metric: ")

    def increment(self, value: float) -> None:
        self._do("increment", value)

    def set(self, value: float) -> None:
        self._do("set", value)

    def observe(self, value: float) -> None:
        self._do("observe", value)

    def value(self) -> float:
        self._check_alive()
        if self._kind is MetricKind.HISTOGRAM:
            raise TritonModelException(f"Failed to get metric value: {_PREFIX}HISTOGRAM does not support Value")
        fields = {"series": self._number, "op": "value"}
        return float(ask_engine(self._family.session.connection, "metric", fields, "Failed to get metric value: "))

    def _do(self, operation: str, value: float) -> None:
        """Checked here, so that a model need not wait for the server each time it counts something."""
        if isinstance(value, str) or not (is_integer(value) or hasattr(value, "__float__")):
            signature = "(self: c_python_backend_utils.Metric, value: float) -> None"
            raise refuse_arguments(operation, signature, (self, value), "function")
        self._check_alive()
        number = float(value)
        failure = f"Failed to {operation} metric value: {_PREFIX}{self._kind.name}"
        if operation not in _OPERATIONS[self._kind]:
            raise TritonModelException(f"{failure} does not support {operation.capitalize()}")
        if self._kind is MetricKind.COUNTER and number < 0:
            raise TritonModelException(f"{failure} can only be incremented monotonically by non-negative values.")
        if isnan(number):
            raise TritonModelException(f"Failed to {operation} metric value: it is not a number.")
        # JSON has no word for infinity, but readers take a number that is too large for it.
        by = f"{number:.17g}".replace("inf", "1e999")
        header = f'"what":"metric","series":{self._number},"op":"{operation}","by":{by}}}'
        self._family.session.connection.call(None, header)

    def _check_alive(self) -> None:
        if self._family.closed:
            raise TritonModelException(_DELETED)

    def __del__(self) -> None:
        number = getattr(self, "_number", None)
        if number is not None:
            _drop(self._family.session, "series", number)


MetricKind.__module__ = MetricFamily.__module__ = Metric.__module__ = NATIVE


def _check_labels(labels: dict) -> dict[str, str]:
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TritonModelException("Error when creating Metric: attempt to access JSON non-string as string")
    return labels


def _check_buckets(buckets: list | None) -> list[float] | None:
    try:
        return None if buckets is None else [float(bound) for bound in buckets]
    except (TypeError, ValueError):
        raise TritonModelException("Failed to create metric. Buckets must be a list of numbers.") from None


def _drop(session: Session, what: str, number: int) -> None:
    session.connection.post(f'{{"t":"call","c":0,"what":"drop",{encode({what: number})[1:]}')
