// `bun bench/upstream-clients/main.ts`: how Bun's HTTP clients handle an unsolicited response, and what each client costs.
// bench/MEASUREMENTS.md has its figures.
import { createServer, type Socket } from "node:net";
import { median } from "../lib/figures.ts";
import { programFile } from "../lib/processes.ts";
import { type Client, clients, measureCost } from "./clients.ts";

/** When the unsolicited second response is written: together with the first, or this many milliseconds after it. */
type Lateness = "with the first" | number;

/** Simulates a model's response time. */
const thinkingMs = 10;

interface UnsolicitedUpstream {
  url: string;
  connections(): number;
  stop(): void;
}

/** An upstream that responds to each request with the request's body, and then once more with another text. */
const startUnsolicitedUpstream = async (
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

interface Misdelivered {
  lateness: Lateness;
  pauseMs: number;
  isChunked: boolean;
  /** How many of `calls` got another call's response, and how many got none. */
  wrong: number;
  failed: number;
  connections: number;
}

const calls = 100;

/** Makes one call after the other and counts which get another call's response. */
const countMisdelivered = async (
  { send }: Client,
  { lateness, pauseMs, isChunked }: Pick<Misdelivered, "lateness" | "pauseMs" | "isChunked">,
): Promise<Misdelivered> => {
  const upstream = await startUnsolicitedUpstream(lateness, isChunked);
  let [wrong, failed] = [0, 0];
  for (let call = 0; call < calls; call++) {
    const body = `call ${call}`;
    const response = await send(upstream.url, body).catch(() => undefined);
    if (response === undefined) failed += 1;
    else if (response !== body) wrong += 1;
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
  upstream.stop();
  return { lateness, pauseMs, isChunked, wrong, failed, connections: upstream.connections() };
};

const rounds = 5;
const callsOfARound = 5_000;
const latenesses = ["with the first", 0, 1, 5] as const;
const pausesMs = [0, 2, 20];
const port = 18_431;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

print(
  `Bun ${Bun.version}. Of ${calls} sequential calls, how many got another call's response (and how many got none):`,
);
print("client | body | second response | pause 0 ms | 2 ms | 20 ms");
for (const client of clients) {
  for (const isChunked of [false, true]) {
    for (const lateness of latenesses) {
      const cells: string[] = [];
      for (const pauseMs of pausesMs) {
        const { wrong, failed } = await countMisdelivered(client, { lateness, pauseMs, isChunked });
        cells.push(failed === 0 ? `${wrong}` : `${wrong} (${failed})`);
      }
      const when = typeof lateness === "number" ? `${lateness} ms after` : lateness;
      print([client.name, isChunked ? "chunked" : "with a length", when, ...cells].join(" | "));
    }
  }
}

const upstream = Bun.spawn([process.execPath, programFile("mock-upstream.ts"), String(port)]);
const url = `http://127.0.0.1:${port}/v1/chat/completions`;
while ((await fetch(`http://127.0.0.1:${port}/v1/models`).catch(() => undefined)) === undefined)
  await Bun.sleep(20);
const costs = new Map<string, number[]>(clients.map(({ name }) => [name, []]));
// In turns, so that other load on the machine affects all of them; the first round is a warm-up.
for (let round = 0; round <= rounds; round++) {
  for (const client of clients) {
    const micros = await measureCost(client, url, callsOfARound);
    if (round > 0) costs.get(client.name)?.push(micros);
  }
}
upstream.kill();
print("");
print(`Client's processor time per call, median of ${rounds} rounds of ${callsOfARound} calls, 32 at once:`);
const reference = median(costs.get(clients[0]?.name ?? "") ?? []);
for (const [name, micros] of costs) {
  const cost = median(micros);
  print(`${name} | ${cost.toFixed(0)} µs | ${(cost / reference).toFixed(2)}`);
}
