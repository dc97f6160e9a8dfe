// Started by measure-connections.ts: responds to each request on any number of connections after a delay, and says how many were opened.
const [, , meanDelayMs, spread, keyFile, certificateFile] = process.argv;
/** With constant delays, requests of a burst are answered in a burst; spread delays (0 to twice the mean) resemble a busy model. */
const delayMs = () => Number(meanDelayMs) * (spread === "spread" ? 2 * Math.random() : 1);
const content = JSON.stringify({ choices: [{ message: { role: "assistant", content: "x".repeat(600) } }] });
const response = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${content.length}\r\n\r\n${content}`;
let opened = 0;

const server = Bun.listen<{ unread: string }>({
  hostname: "localhost",
  port: 0,
  ...(keyFile !== undefined &&
    certificateFile !== undefined && {
      tls: { key: await Bun.file(keyFile).text(), cert: await Bun.file(certificateFile).text() },
    }),
  socket: {
    open(socket) {
      opened += 1;
      socket.data = { unread: "" };
    },
    data(socket, bytes) {
      const unread = socket.data.unread + bytes.toString("latin1");
      const bodyAt = unread.indexOf("\r\n\r\n") + 4;
      const length = Number(/^content-length: (\d+)/im.exec(unread)?.[1] ?? 0);
      const isComplete = bodyAt >= 4 && unread.length >= bodyAt + length;
      socket.data.unread = isComplete ? "" : unread;
      if (isComplete) setTimeout(() => socket.write(response), delayMs());
    },
  },
});
process.on("message", () => process.send?.(opened));
process.send?.(server.port);

// Makes this file a module, so that its names are not global.
export {};
