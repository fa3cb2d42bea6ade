"""A web server of this process that a test's stand-in for a poker server answers by."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class WebStandIn:
    """Serves requests in threads of this process while it is entered.  path: of the API.  wrong: what a client should
    not have sent.
    """

    path = ""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                stand_in.serve(self)

            def do_GET(self) -> None:
                stand_in.serve(self)

            def log_message(self, format: str, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}{self.path}"

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """Read a request and answer it."""
        raise NotImplementedError

    @staticmethod
    def send(request: BaseHTTPRequestHandler, status: int, content: bytes, head: dict[str, str], half: bool) -> None:
        """Send an answer.  half: its length is said, and the second half is missing."""
        try:
            request.send_response(status)
            for key, value in head.items():
                request.send_header(key, value)
            request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            request.wfile.write(content[: len(content) // 2] if half else content)
        except OSError:  # whoever asked has lost patience
            pass
