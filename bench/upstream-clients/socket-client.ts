import type { Socket } from "bun";

interface Exchange {
  received: string;
  resolve(body: string): void;
  reject(error: Error): void;
}

/**
 * The least that a client on `Bun.connect` does: it keeps every connection and understands only responses with a length. Its cost is a
 * lower bound of what a client of our own would cost.
 */
export const createSocketClient = (): ((url: string, body: string) => Promise<string>) => {
  const idle: Socket<Exchange>[] = [];

  const onData = (socket: Socket<Exchange>, bytes: Buffer): void => {
    const exchange = socket.data;
    exchange.received += bytes.toString("latin1");
    const bodyAt = exchange.received.indexOf("\r\n\r\n") + 4;
    if (bodyAt < 4) return;
    const length = Number(/^content-length: (\d+)/im.exec(exchange.received)?.[1]);
    if (exchange.received.length < bodyAt + length) return;
    idle.push(socket);
    exchange.resolve(exchange.received.slice(bodyAt));
  };

  return (url, body) =>
    new Promise((resolve, reject) => {
      const { hostname, port, pathname, host } = new URL(url);
      const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}\r\n\r\n`;
      const exchange = { received: "", resolve, reject };
      const send = (socket: Socket<Exchange>) => {
        socket.data = exchange;
        socket.write(head + body);
      };
      const kept = idle.pop();
      if (kept !== undefined) return send(kept);
      Bun.connect<Exchange>({
        hostname,
        port: Number(port),
        data: exchange,
        socket: {
          open: send,
          data: onData,
          error: (socket, error) => socket.data.reject(error),
        },
      }).catch(reject);
    });
};
