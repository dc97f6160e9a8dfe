// `bun bench/upstream-clients/measure-connections.ts`: how many connections Bun's HTTP clients open to one upstream with more calls in
// flight than `fetch` keeps idle connections, and what a call costs. docs/decisions/0023-workers.md has its figures.
import { Agent } from "node:http";
import { join } from "node:path";
import { median } from "../median.ts";
import { type Client, sendByAgent, sendByFetch } from "./clients.ts";
import { measureCost } from "./measure-cost.ts";
import { createSocketClient } from "./socket-client.ts";

const rounds = 5;
const callsOfEach = 30;
const delayMs = 20;
const all = Number.POSITIVE_INFINITY;

const createClients = (): readonly Client[] => {
  const agent = new Agent({ keepAlive: true, maxSockets: all, maxFreeSockets: all });
  const session = new Bun.FetchSession({ keepAlive: { maxIdleSockets: 65_535 } });
  return [
    { name: "fetch", send: sendByFetch },
    { name: "fetch with a session", send: (url, body) => sendByFetch(url, body, { session }) },
    {
      name: "fetch, a new connection per call",
      send: (url, body) => sendByFetch(url, body, { keepalive: false }),
    },
    { name: "node:http, Agent without limits", send: (url, body) => sendByAgent(url, body, agent) },
    { name: "Bun.connect, the least", send: createSocketClient() },
  ];
};

/** An upstream in a process of its own, which says how many connections it has accepted. */
const startUpstream = async (delays: string) => {
  let answer = Promise.withResolvers<number>();
  const upstream = Bun.spawn(
    [process.execPath, join(import.meta.dir, "counting-upstream.ts"), `${delayMs}`, delays],
    { ipc: (number: number) => answer.resolve(number) },
  );
  return {
    url: `http://127.0.0.1:${await answer.promise}/v1/chat/completions`,
    stop: () => upstream.kill(),
    async opened(): Promise<number> {
      answer = Promise.withResolvers<number>();
      upstream.send("opened?");
      return await answer.promise;
    },
  };
};

/** Prints a line for each client. */
const measure = async (delays: string, inFlight: number): Promise<void> => {
  const upstream = await startUpstream(delays);
  const calls = inFlight * callsOfEach;
  const samples = createClients().map((client) => ({
    client,
    micros: [] as number[],
    opened: [] as number[],
  }));
  // In turns, so that other load on the machine affects all of them; the first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { client, micros, opened } of samples) {
      const before = await upstream.opened();
      const cost = await measureCost(client, upstream.url, calls, inFlight);
      if (round === 0) continue;
      micros.push(cost);
      opened.push((((await upstream.opened()) - before) / calls) * 10_000);
    }
  }
  const reference = median(samples[0]?.micros ?? []);
  for (const { client, micros, opened } of samples) {
    const cost = median(micros);
    const figures = [median(opened).toFixed(0), cost.toFixed(0), (cost / reference).toFixed(2)];
    process.stdout.write(`${[delays, inFlight, client.name, ...figures].join(" | ")}\n`);
  }
  upstream.stop();
};

process.stdout.write(`Bun ${Bun.version}, delay ${delayMs} ms, median of ${rounds} rounds\n`);
process.stdout.write(
  "delays | in flight | client | connections opened per 10,000 calls | µs a call | to fetch\n",
);
for (const delays of ["constant", "spread"])
  for (const inFlight of [64, 128, 512]) await measure(delays, inFlight);
process.exit();
