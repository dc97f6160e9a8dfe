import { createServer, type Socket } from "node:net";

/** When the second answer is written, which nobody asked for: in one write with the first, or so many milliseconds after it. */
export type Lateness = "with the first" | number;

/** As a model does, it takes its time. */
const thinkingMs = 10;

export interface UnaskedUpstream {
  url: string;
  connections(): number;
  stop(): void;
}

/** An upstream that answers each request with its own body, and then once more with another's. */
export const startUnaskedUpstream = async (
  lateness: Lateness,
  isChunked: boolean,
): Promise<UnaskedUpstream> => {
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
      const asked = unread.slice(bodyAt, bodyAt + length);
      unread = unread.slice(bodyAt + length);
      setTimeout(() => answerTwice(socket, asked, lateness, isChunked), thinkingMs);
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

const answerTwice = (socket: Socket, asked: string, lateness: Lateness, isChunked: boolean): void => {
  const [first, second] = [write(asked, isChunked), write(`nobody asked for ${asked}`, isChunked)];
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
