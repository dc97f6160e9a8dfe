import { createServer, type Socket } from "node:net";

/** When the unsolicited second response is written: together with the first, or this many milliseconds after it. */
export type Lateness = "with the first" | number;

/** Simulates a model's response time. */
const thinkingMs = 10;

export interface UnsolicitedUpstream {
  url: string;
  connections(): number;
  stop(): void;
}

/** An upstream that responds to each request with the request's body, and then once more with another text. */
export const startUnsolicitedUpstream = async (
  lateness: Lateness,
  isChunked: boolean,
): Promise<UnsolicitedUpstream> => {
  let connections = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    socket.on("error", () => {});
    let unread = "";
    socket.on("data", (chunk: Buffer) => {
      unread += chunk.toString("latin1");
      const bodyAt = unread.indexOf("\r\n\r\n") + 4;
      const length = Number(/^content-length: (\d+)/im.exec(unread)?.[1]);
      if (bodyAt < 4 || unread.length < bodyAt + length) return;
      const body = unread.slice(bodyAt, bodyAt + length);
      unread = unread.slice(bodyAt + length);
      setTimeout(() => respondTwice(socket, body, lateness, isChunked), thinkingMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`,
    connections: () => connections,
    stop: () => server.close(),
  };
};

const respondTwice = (socket: Socket, body: string, lateness: Lateness, isChunked: boolean): void => {
  const [first, second] = [write(body, isChunked), write(`unsolicited ${body}`, isChunked)];
  if (lateness === "with the first") {
    socket.write(first + second);
    return;
  }
  socket.write(first);
  if (lateness === 0) socket.write(second);
  else setTimeout(() => socket.write(second), lateness);
};

const write = (text: string, isChunked: boolean): string => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
  return isChunked
    ? `${head}transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
    : `${head}content-length: ${text.length}\r\n\r\n${text}`;
};
