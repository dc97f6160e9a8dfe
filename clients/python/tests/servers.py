"""Real servers that misbehave on demand."""

import json
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

Script = bytes | Callable[[socket.socket], None]


@dataclass
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body: Any
    at: float


class ScriptedServer:
    """Gives its responses one after another, then repeats the last one."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.received: list[Received] = []
        self.connections = 0
        self._responses: list[Script] = []
        self._context = context
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def script(self, *responses: Script) -> None:
        self.received.clear()
        self._responses = list(responses)

    def stop(self) -> None:
        self._listener.close()
        for sock in self._sockets:
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(sock)
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            if self._context is not None:
                sock = self._context.wrap_socket(sock, server_side=True)
            with sock, sock.makefile("rb") as stream:
                while line := stream.readline():
                    self._receive(line.decode(), stream)
                    response = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
                    if not isinstance(response, bytes):
                        response(sock)
                        return
                    sock.sendall(response)
        except OSError:
            return

    def _receive(self, line: str, stream: Any) -> None:
        method, target, _ = line.split()
        headers: dict[str, str] = {}
        while (field := stream.readline().decode().strip()) != "":
            name, _, value = field.partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        while "transfer-encoding" in headers and (size := int(stream.readline(), 16)) >= 0:
            body += stream.read(size)
            stream.readline()
            if size == 0:
                break
        is_json = body and headers.get("content-type") == "application/json"
        self.received.append(Received(method, target, headers, json.loads(body) if is_json else body, monotonic()))


def response(status: int, body: Any, **headers: str) -> bytes:
    """A complete response; a body that is not text is sent as JSON."""
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Said\r\ncontent-length: {len(content)}\r\n{fields}\r\n".encode() + content


def then_close(start: bytes) -> Callable[[socket.socket], None]:
    """Sends the beginning of a response and ends the connection."""

    def send(sock: socket.socket) -> None:
        sock.sendall(start)
        sock.shutdown(socket.SHUT_RDWR)

    return send


class LosingProxy:
    """Passes calls on to a server; with `to_lose`, the next responses are read but lost on the way back."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._target = (host, int(port))
        self.to_lose = 0
        self.lost = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            upstream = socket.create_connection(self._target)
            threading.Thread(target=self._pass, args=(caller, upstream, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(upstream, caller, True), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, may_lose: bool) -> None:
        try:
            while data := source.recv(65_536):
                if may_lose and self.to_lose > 0:
                    self.to_lose -= 1
                    self.lost += 1
                    break
                target.sendall(data)
        except OSError:
            pass
        finally:
            for sock in (source, target):
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
            if may_lose:
                source.close()
                target.close()
