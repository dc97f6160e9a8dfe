// `bun bench/upstream-clients/measure-presage.ts [ROUNDS]`: the processor time of a prediction with PRESAGE_UPSTREAM_CLIENT=sockets as a ratio to
// that with fetch, both servers on one core. bench/MEASUREMENTS.md has its figures.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { compareRounds, figureOf, showFigure, withoutProblems } from "../lib/figures.ts";
import { type LoadSample, measurePredictions, runWrk } from "../lib/load.ts";
import { createProcessGroup, workDirectory } from "../lib/processes.ts";
import { startPresage, verifyTarget } from "../lib/targets.ts";
import { startUpstream } from "../lib/upstream.ts";

const rounds = Number(process.argv[2] ?? 9);
const clients = ["fetch", "sockets"] as const;
const scenarios = [
  { connections: 64, delayMs: 0 },
  { connections: 1, delayMs: 0 },
  { connections: 64, delayMs: 20 },
];
const core = "1";

const group = createProcessGroup();
mkdirSync(workDirectory, { recursive: true });
try {
  const upstream = await startUpstream(group, join(workDirectory, "upstream"));
  const servers = await Promise.all(
    clients.map(async (client) => {
      const server = await startPresage(group, upstream.origin, client, undefined, {
        PRESAGE_UPSTREAM_CLIENT: client,
      });
      await group.outputOf("taskset", { argv: ["taskset", "-a", "-p", "-c", core, `${server.process.pid}`] });
      return { client, ...server };
    }),
  );
  for (const { predict } of servers) {
    await verifyTarget("presage", predict, upstream);
    await runWrk(group, predict, 64, 4);
  }
  process.stdout.write(
    "connections, delay | µs a prediction: fetch | sockets | ratio within rounds | left out\n",
  );
  for (const { connections, delayMs } of scenarios) {
    const samples: (LoadSample & { round: number; client: (typeof clients)[number] })[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const { client, predict, process: server } of round % 2 === 0 ? servers : servers.toReversed()) {
        const run = (durationS: number) => runWrk(group, predict, connections, durationS);
        const load = { run, pids: [server.pid], connections, delayMs, warmUpS: 1, durationS: 3 };
        samples.push({ ...(await measurePredictions(upstream, load)), round, client });
      }
    }
    const good = withoutProblems(samples);
    const [byFetch, bySockets] = clients.map((wanted) => good.filter(({ client }) => client === wanted));
    const read = ({ cpuUsPerRequest }: LoadSample) => cpuUsPerRequest;
    const row = [
      `${connections}, ${delayMs} ms`,
      showFigure(figureOf(byFetch ?? [], read)),
      showFigure(figureOf(bySockets ?? [], read)),
      showFigure(compareRounds(bySockets ?? [], byFetch ?? [], read)),
      samples.length - good.length,
    ];
    process.stdout.write(`${row.join(" | ")}\n`);
  }
} finally {
  await group.stopAll();
  rmSync(workDirectory, { recursive: true, force: true });
}
