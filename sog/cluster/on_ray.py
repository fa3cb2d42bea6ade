"""Objects in processes of a Ray cluster (`pip install 'sog[cluster]'`).

Ray Client (ray://) is not used: Ray's authors advise against it for such work. The program that starts everything
runs on a machine of the cluster.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import sog.version
from sog.cluster.executor import Pending, Remote, WorkLost, plain_error
from sog.errors import SettingError, SogError, first_line

__all__ = ["LONELY", "STORE_BYTES", "RayExecutor"]

STORE_BYTES: Final = 256 * 2**20  # of a Ray that is started here; its own default is 30% of the memory
# Seconds after which a named object ends itself that has not heard from the program it works for.
LONELY = 60.0
_NAMESPACE: Final = "sog"


class RayExecutor:
    """Processes of the Ray cluster at `address`, or of a Ray of this machine alone, started here and ended here.

    address: "auto", HOST:PORT, or "" for a Ray of its own with `places` cores.
    Raises SettingError where Ray is not installed, and SogError where it cannot be reached or started.
    """

    def __init__(self, address: str, places: int) -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # and no warning of it
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray gives its workers the lowest priority but four, and beside other programs they hardly run.
        os.environ.setdefault("RAY_worker_niceness", "0")
        try:
            import ray
        except ImportError as error:
            raise SettingError("Ray is not installed: pip install 'sog[cluster]'") from error
        self.ray: Any = ray
        self._started: list[_RayRemote] = []
        self._named: list[_RayRemote] = []
        self._closing = threading.Event()
        if ray.is_initialized():
            raise SogError("this process has connected to Ray already")
        own: dict[str, Any] = {}
        if not address:
            own = {"num_cpus": places, "object_store_memory": STORE_BYTES, "include_dashboard": False}
        if address not in ("", "auto"):
            _check_answers(address)
        try:
            ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # of many kinds, as the connection fails in many ways
            failure = f"no Ray cluster answers at {address}" if address else "Ray cannot start here"
            why = "none runs on this machine" if address == "auto" else first_line(error)
            raise SogError(f"{failure}: {why}") from error
        self.places = places or max(1, int(ray.cluster_resources().get("CPU", 1.0)))
        self._host = ray.remote(max_restarts=0, max_task_retries=0)(_Host)

    def start(self, make: Callable[..., object], *arguments: Any) -> Remote:
        return self._start({"num_cpus": 1}, None, make, arguments)

    def keep(self, name: str, make: Callable[..., object], *arguments: Any) -> Remote:
        """Named and detached: `ray list actors` shows it, and what has become of its program decides when it ends."""
        self._end_left_over(name)
        options = {"num_cpus": 0, "name": name, "namespace": _NAMESPACE, "lifetime": "detached"}
        remote = self._start(options, LONELY, make, arguments)
        if not self._named:
            threading.Thread(target=self._beat, args=(LONELY / 6.0,), daemon=True).start()
        self._named.append(remote)
        return remote

    def _start(
        self, options: dict[str, Any], idle_limit: float | None, make: Callable[..., object], arguments: tuple[Any, ...]
    ) -> _RayRemote:
        actor = self._host.options(**options).remote(sog.version.VERSION, idle_limit, make, arguments)
        remote = _RayRemote(self.ray, actor)
        self._started.append(remote)
        return remote

    def _end_left_over(self, name: str) -> None:
        """End the object of this name, whose program is gone; SogError where it does not end."""
        deadline = time.monotonic() + _LONG_PATIENCE
        while time.monotonic() < deadline:
            try:
                self.ray.kill(self.ray.get_actor(name, namespace=_NAMESPACE))
            except ValueError:  # nothing has this name
                return
            time.sleep(0.1)
        raise SogError(f"the Ray cluster holds an object called {name} that does not end")

    def _beat(self, seconds: float) -> None:
        """Let named objects hear from this program until it ends."""
        while not self._closing.wait(seconds):
            for remote in list(self._named):
                remote.actor.process.remote()

    def share(self, content: bytes) -> Any:
        return self.ray.put(content)

    def wait(self, pending: Sequence[Pending], seconds: float | None = None) -> list[Pending]:
        by_reference = {one.reference: one for one in pending if isinstance(one, _RayPending)}
        if not by_reference:
            return []
        done, _ = self.ray.wait(list(by_reference), num_returns=1, timeout=seconds, fetch_local=False)
        if done and len(by_reference) > 1:
            done, _ = self.ray.wait(list(by_reference), num_returns=len(by_reference), timeout=0, fetch_local=False)
        return [by_reference[reference] for reference in done]

    def close(self) -> None:
        self._closing.set()
        for remote in self._started:
            remote.end()
        self._started.clear()
        self.ray.shutdown()


_PATIENCE: Final = 2.0  # seconds
_LONG_PATIENCE: Final = 30.0


def _check_answers(address: str) -> None:
    """SogError where no program listens at HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except OSError as error:
        raise SogError(f"no Ray cluster answers at {address}: {error.strerror or error}") from error


class _Host:
    """Ray's actor: the requested object, single-threaded.

    idle_limit: seconds without a call after which it ends itself; None for an actor that Ray ends with its program.
    """

    def __init__(
        self, version: str, idle_limit: float | None, make: Callable[..., object], arguments: tuple[Any, ...]
    ) -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
        self.trouble: Exception | None = None
        self.busy = True  # calls wait until the object is made, however long that takes
        if idle_limit is not None:
            threading.Thread(target=self._end_when_idle, args=(idle_limit,), daemon=True).start()
        try:
            if version != sog.version.VERSION:
                raise SettingError(f"machine {socket.gethostname()} has sog {sog.version.VERSION}, not {version}")
            self.served = make(*arguments)
        except (Exception, SystemExit) as error:  # raised by each call; Ray would say only that the actor died
            self.trouble = plain_error(error)
        self.heard, self.busy = time.monotonic(), False

    def call(self, method: str, *arguments: Any) -> Any:
        if self.trouble is not None:
            raise self.trouble
        self.busy = True
        try:
            return getattr(self.served, method)(*arguments)
        except SystemExit as error:
            raise plain_error(error) from error
        finally:
            self.heard, self.busy = time.monotonic(), False

    def process(self) -> int:
        self.heard = time.monotonic()
        return os.getpid()

    def _end_when_idle(self, idle_limit: float) -> None:
        """End this process after this many seconds without a call."""
        while self.busy or time.monotonic() - self.heard < idle_limit:
            time.sleep(idle_limit / 20.0)
        os._exit(0)


class _RayRemote:
    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self.actor = ray, actor

    def call(self, method: str, *arguments: Any) -> Pending:
        plain = [one.reference if isinstance(one, _RayPending) else one for one in arguments]
        return _RayPending(self._ray, self.actor.call.remote(method, *plain))

    def process(self) -> int:
        try:
            return int(self._ray.get(self.actor.process.remote(), timeout=_LONG_PATIENCE))
        except self._ray.exceptions.RayError as error:
            raise WorkLost(first_line(error)) from error

    def alive(self) -> bool:
        """Busy or still waiting for a machine counts as alive."""
        reference = self.actor.process.remote()
        done, _ = self._ray.wait([reference], timeout=_PATIENCE)
        try:
            if done:
                self._ray.get(reference)
        except self._ray.exceptions.RayError:
            return False
        return True

    def end(self) -> None:
        self._ray.kill(self.actor)


class _RayPending:
    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray, self.reference = ray, reference

    def result(self) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(self.reference)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, errors.RayError):  # an argument was lost, of whom another process was the owner
                raise WorkLost(first_line(cause)) from error
            if isinstance(cause, SogError):
                raise cause from error
            raise SogError(f"{type(cause).__name__}: {cause}") from error
        except errors.RayError as error:
            raise WorkLost(first_line(error)) from error
