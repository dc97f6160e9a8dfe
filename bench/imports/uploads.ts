import { createDataset } from "../lib/api.ts";
import {
  figureOf,
  type Goal,
  judge,
  median,
  showCount,
  showFigure,
  showMegabytes,
  tableOf,
} from "../lib/figures.ts";
import { fewCallers, loadNow, p99, pauseMs, predictWhile } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { bun, type ProcessGroup, programFile } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import { readCpuMs, readMainThread, readMemory } from "../lib/usage.ts";
import type { SendArray, SentArray } from "../programs/send-array.ts";

const fullPlan = { bytes: 10e9, rounds: 7, secondsEach: 8 };
const quickPlan = { bytes: 1e9, rounds: 3, secondsEach: 3 };

export const uploadsPart: Part = {
  title: "A large import, and other callers beside one",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const { origin } = await upstream();
    const limits = { PRESAGE_MAX_DATASET_BYTES: String(2 * plan.bytes) };
    const presage = await startPresage(group, origin, "uploads", undefined, limits);
    const rounds = await measureBeside(group, presage, plan);
    await group.stop(presage.process);
    const fresh = await startPresage(group, origin, "large-upload", undefined, limits);
    const large = await measureLarge(group, fresh, plan.bytes);
    await group.stop(fresh.process);
    return { goals: judgeUploads(large, rounds, quick), problems: [], text: writeUploads(large, rounds) };
  },
};

/** Has a separate process generate and send an array, until it has this many bytes or seconds. */
const importArray = async (
  group: ProcessGroup,
  presage: RunningPresage,
  name: string,
  until: SendArray["until"],
): Promise<SentArray> => {
  const id = await createDataset(presage, name);
  const url = `${presage.origin}/v1/datasets/${id}/revisions`;
  const input = JSON.stringify({ url, headers: presage.headers, until } satisfies SendArray);
  const argv = [bun, programFile("send-array.ts")];
  return JSON.parse(await group.outputOf("the sender of an array", { argv, input }));
};

const measureLarge = async (group: ProcessGroup, presage: RunningPresage, least: number) => {
  const { pid } = presage.process;
  const cpuBeforeMs = readCpuMs(pid);
  const startedAtMs = performance.now();
  const { documents, bytes } = await importArray(group, presage, "large", { bytes: least });
  const seconds = (performance.now() - startedAtMs) / 1000;
  const cpuSeconds = (readCpuMs(pid) - cpuBeforeMs) / 1000;
  const { peakRssBytes } = readMemory(pid);
  const measured = { documents, bytes, seconds, cpuSeconds, peakRssBytes, load: loadNow() };
  process.stdout.write(
    `uploads  ${bytes / 1e9} GB: ${seconds.toFixed(0)} s, ${showMegabytes(peakRssBytes)} MB at most\n`,
  );
  return measured;
};
type Large = Awaited<ReturnType<typeof measureLarge>>;

interface Round {
  readonly round: number;
  readonly aloneMs: number;
  readonly besideMs: number;
  /** The shares of the time during an import that the server's main thread ran, and waited for a processor. */
  readonly ran: number;
  readonly waited: number;
  readonly predictions: number;
  readonly load: number;
}

/** How long predictions take, a few at a time with pauses, alternately without an import and during one. */
const measureBeside = async (
  group: ProcessGroup,
  presage: RunningPresage,
  { rounds, secondsEach }: typeof fullPlan,
): Promise<Round[]> => {
  const measured: Round[] = [];
  const predictFor = (seconds: number) => {
    const untilMs = performance.now() + seconds * 1000;
    return predictWhile(presage.predict, () => performance.now() < untilMs);
  };
  await predictFor(secondsEach);
  for (let round = 0; round < rounds; round += 1) {
    const alone = await predictFor(secondsEach);
    const importing = importArray(group, presage, `beside ${round}`, { seconds: secondsEach + 2 });
    await Bun.sleep(1_000);
    const before = readMainThread(presage.process.pid);
    const beside = await predictFor(secondsEach);
    const after = readMainThread(presage.process.pid);
    const ran = (after.ranMs - before.ranMs) / (secondsEach * 1000);
    const waited = (after.waitedMs - before.waitedMs) / (secondsEach * 1000);
    await importing;
    const [aloneMs, besideMs] = [p99(alone), p99(beside)];
    measured.push({ round, aloneMs, besideMs, ran, waited, predictions: beside.length, load: loadNow() });
    process.stdout.write(
      `uploads  round ${round + 1}: p99 ${aloneMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside an import, the main thread runs ${(100 * ran).toFixed(0)} % and waits ${(100 * waited).toFixed(0)} %; load ${loadNow().toFixed(1)}\n`,
    );
  }
  return measured;
};

const mostBytes = 400e6;
const mostTimes = 1.2;

const judgeUploads = (large: Large, rounds: readonly Round[], quick: boolean): Goal[] => [
  {
    text: `An array of ${fullPlan.bytes / 1e9} GB is imported in at most ${mostBytes / 1e6} MB`,
    measured: `${showMegabytes(large.peakRssBytes)} MB, ${large.bytes / 1e9} GB`,
    met: quick ? undefined : large.peakRssBytes <= mostBytes,
  },
  judge(
    `Beside an import, other callers' p99 is at most ${mostTimes} times what it is without`,
    median(rounds.map(({ aloneMs, besideMs }) => besideMs / aloneMs)),
    (times) => times <= mostTimes,
    (times) => `${times.toFixed(2)} times`,
  ),
];

const writeUploads = (large: Large, rounds: readonly Round[]): string => `
One JSON array of \`openai-chat\`, made as it is sent over HTTP and stored in SQLite: documents of 100 kB, of which nearly all is reasoning, which is left out.
The server's resident memory at its peak is all that it uses, from its start. Beside an import, ${fewCallers} callers predict with pauses of ${pauseMs} ms, no delay at
the upstream; ${rounds.length} rounds, without an import and beside one in turns, ratios within a round, medians with ranges. Server, upstream, callers and the
maker of the array share the machine's cores; the maker gives way to the others (\`nice\` 19), as one on a machine of its own does.

${tableOf(
  [large],
  [
    ["array, GB", ({ bytes }) => (bytes / 1e9).toFixed(1)],
    ["documents", ({ documents }) => showCount(documents)],
    ["peak, MB", ({ peakRssBytes }) => showMegabytes(peakRssBytes)],
    ["seconds", ({ seconds }) => seconds.toFixed(0)],
    ["processor time of the server, s", ({ cpuSeconds }) => cpuSeconds.toFixed(0)],
    ["load", ({ load }) => load.toFixed(1)],
  ],
)}

${tableOf(
  [rounds],
  [
    ["p99 without an import, ms", (all) => showFigure(figureOf(all, ({ aloneMs }) => aloneMs))],
    ["beside one, ms", (all) => showFigure(figureOf(all, ({ besideMs }) => besideMs))],
    ["times", (all) => showFigure(figureOf(all, ({ aloneMs, besideMs }) => besideMs / aloneMs))],
    [
      "main thread runs, waits for a processor, % of the time",
      (all) =>
        `${showFigure(
          figureOf(all, ({ ran }) => ran),
          100,
        )}; ${showFigure(
          figureOf(all, ({ waited }) => waited),
          100,
        )}`,
    ],
    ["predictions a round", (all) => showFigure(figureOf(all, ({ predictions }) => predictions))],
    ["load", (all) => showFigure(figureOf(all, ({ load }) => load))],
  ],
)}
`;
