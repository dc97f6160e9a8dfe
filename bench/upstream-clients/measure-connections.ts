// `bun bench/upstream-clients/measure-connections.ts`: how many connections Bun's HTTP clients open to one upstream with more calls in
// flight than `fetch` keeps idle connections, and what a call costs. bench/MEASUREMENTS.md has its figures.

import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnectionPools } from "../../packages/server/src/upstream/send.ts";
import { selfSignedCertificate } from "../../packages/server/test/support/upstream/self-signed-certificate.ts";
import { median } from "../lib/figures.ts";
import { programFile } from "../lib/processes.ts";
import { type Client, createSocketClient, measureCost, sendByAgent, sendByFetch } from "./clients.ts";

const rounds = 5;
/** A handshake takes the upstream's time too. */
const callsOfEach = { http: 30, https: 5 };
const delayMs = 20;
const all = Number.POSITIVE_INFINITY;

interface Certificate {
  keyFile: string;
  certificateFile: string;
}

const fetches: readonly Client[] = [
  { name: "fetch", send: sendByFetch },
  {
    name: "fetch, a new connection per call",
    send: (url, body) => sendByFetch(url, body, { keepalive: false }),
  },
];

const createPlainClients = (): readonly Client[] => {
  const agent = new Agent({ keepAlive: true, maxSockets: all, maxFreeSockets: all });
  const session = new Bun.FetchSession({ keepAlive: { maxIdleSockets: 65_535 } });
  return [
    ...fetches,
    { name: "fetch with a session", send: (url, body) => sendByFetch(url, body, { session }) },
    { name: "node:http, Agent without limits", send: (url, body) => sendByAgent(url, body, agent) },
    { name: "Bun.connect, the least", send: createSocketClient() },
  ];
};

const createTlsClients = (): readonly Client[] => {
  let pools: ReturnType<typeof createConnectionPools>;
  const send: Client["send"] = async (url, body) => {
    pools ??= createConnectionPools(url, 1);
    const pool = pools?.take();
    try {
      return await sendByFetch(url, body, { session: pool?.session });
    } finally {
      if (pool !== undefined) pool.inFlight -= 1;
    }
  };
  return [...fetches, { name: "fetch with Presage's pools", send }];
};

/** An upstream in its own process, which reports how many connections it has accepted. */
const startUpstream = async (delays: string, certificate: Certificate | undefined) => {
  let answer = Promise.withResolvers<number>();
  const files = certificate === undefined ? [] : [certificate.keyFile, certificate.certificateFile];
  const upstream = Bun.spawn(
    [process.execPath, programFile("counting-upstream.ts"), `${delayMs}`, delays, ...files],
    { ipc: (number: number) => answer.resolve(number) },
  );
  const scheme = certificate === undefined ? "http" : "https";
  return {
    url: `${scheme}://localhost:${await answer.promise}/v1/chat/completions`,
    stop: () => upstream.kill(),
    async opened(): Promise<number> {
      answer = Promise.withResolvers<number>();
      upstream.send("opened?");
      return await answer.promise;
    },
  };
};

/** Prints a line for each client. */
const measure = async (delays: string, inFlight: number, certificate?: Certificate): Promise<void> => {
  const upstream = await startUpstream(delays, certificate);
  const scheme = certificate === undefined ? "http" : "https";
  const calls = inFlight * callsOfEach[scheme];
  const clients = certificate === undefined ? createPlainClients() : createTlsClients();
  const samples = clients.map((client) => ({ client, micros: [] as number[], opened: [] as number[] }));
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
    process.stdout.write(`${[scheme, delays, inFlight, client.name, ...figures].join(" | ")}\n`);
  }
  upstream.stop();
};

const [, , keyFile, certificateFile] = process.argv;
if (keyFile !== undefined && certificateFile !== undefined) {
  for (const inFlight of [64, 512]) await measure("constant", inFlight, { keyFile, certificateFile });
} else {
  process.stdout.write(`Bun ${Bun.version}, delay ${delayMs} ms, median of ${rounds} rounds\n`);
  process.stdout.write(
    "scheme | delays | in flight | client | connections opened per 10,000 calls | µs a call | to fetch\n",
  );
  for (const delays of ["constant", "spread"])
    for (const inFlight of [64, 128, 512]) await measure(delays, inFlight);
  // Bun reads which certificates to trust when it starts.
  const directory = mkdtempSync(join(tmpdir(), "presage-bench-"));
  const { key, cert } = selfSignedCertificate();
  const files = [join(directory, "key.pem"), join(directory, "certificate.pem")] as const;
  await Promise.all([Bun.write(files[0], key), Bun.write(files[1], cert)]);
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: files[1] };
  await Bun.spawn([process.execPath, import.meta.path, ...files], { env, stdout: "inherit" }).exited;
  rmSync(directory, { recursive: true });
}
process.exit();
