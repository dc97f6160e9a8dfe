// `bun bench/upstream-clients/measure-connections.ts`: how many connections Bun's HTTP clients open to one upstream with more calls in
// flight than `fetch` keeps connections, and what a call costs. docs/decisions/0023-workers.md has its figures.
import { Agent } from "node:http";
import { join } from "node:path";
import { median } from "../median.ts";
import { type Client, sendByAgent, sendByFetch } from "./clients.ts";
import { measureCost } from "./measure-cost.ts";
import { createSocketClient } from "./socket-client.ts";

const rounds = 5;
const callsOfEach = 30;
const delayMs = 20;
const inFlight = [64, 128, 512, 2_000];

const all = Number.POSITIVE_INFINITY;
const agent = new Agent({ keepAlive: true, maxSockets: all, maxFreeSockets: all });
const session = new Bun.FetchSession({ keepAlive: { maxIdleSockets: 65_535 } });
const clients: readonly Client[] = [
  { name: "fetch", send: sendByFetch },
  { name: "fetch with a session", send: (url, body) => sendByFetch(url, body, { session }) },
  {
    name: "fetch, a new connection per call",
    send: (url, body) => sendByFetch(url, body, { keepalive: false }),
  },
  { name: "node:http, Agent without limits", send: (url, body) => sendByAgent(url, body, agent) },
  { name: "Bun.connect, the least", send: createSocketClient() },
];

const started = Promise.withResolvers<number>();
let answer = started;
const upstream = Bun.spawn([process.execPath, join(import.meta.dir, "counting-upstream.ts"), `${delayMs}`], {
  ipc: (number: number) => answer.resolve(number),
});
const url = `http://127.0.0.1:${await started.promise}/v1/chat/completions`;
const openedSoFar = async (): Promise<number> => {
  answer = Promise.withResolvers<number>();
  upstream.send("opened?");
  return await answer.promise;
};

process.stdout.write(
  `Bun ${Bun.version}, upstream responds after ${delayMs} ms, median of ${rounds} rounds\n`,
);
process.stdout.write("client | in flight | connections opened per 10,000 calls | µs a call | to fetch\n");
for (const concurrency of inFlight) {
  const calls = concurrency * callsOfEach;
  const samples = clients.map((client) => ({ client, micros: [] as number[], opened: [] as number[] }));
  // In turns, so that other load on the machine affects all of them; the first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { client, micros, opened } of samples) {
      const before = await openedSoFar();
      const cost = await measureCost(client, url, calls, concurrency);
      if (round === 0) continue;
      micros.push(cost);
      opened.push(((await openedSoFar()) - before) / (calls / 10_000));
    }
  }
  const reference = median(samples[0]?.micros ?? []);
  for (const { client, micros, opened } of samples) {
    const cost = median(micros);
    const cells = [
      client.name,
      concurrency,
      median(opened).toFixed(0),
      cost.toFixed(0),
      (cost / reference).toFixed(2),
    ];
    process.stdout.write(`${cells.join(" | ")}\n`);
  }
}
upstream.kill();
process.exit();
