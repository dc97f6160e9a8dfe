// `bun bench/upstream-clients/main.ts`: how Bun's HTTP clients handle an unsolicited response, and what each client costs.
// docs/decisions/0014-upstream-connections.md has its figures.
import { join } from "node:path";
import { median } from "../median.ts";
import { clients } from "./clients.ts";
import { calls, countMisdelivered } from "./count-misdelivered.ts";
import { measureCost } from "./measure-cost.ts";

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

const upstream = Bun.spawn([process.execPath, join(import.meta.dir, "../mock-upstream.ts"), String(port)]);
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
