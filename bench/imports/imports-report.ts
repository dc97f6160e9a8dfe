import {
  figureOf,
  type Goal,
  judgeDatabases,
  median,
  showCount,
  showFigure,
  showMegabytes,
  tableOf,
} from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  fullImportsPlan,
  type ImportsPlan,
  type ImportsResult,
  quickImportsPlan,
  type ReadSample,
  runImports,
  type StoredSample,
} from "./imports.ts";

export const importsPart: Part = {
  title: "Imports of traces",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickImportsPlan : fullImportsPlan;
    const result = await runImports(group, upstream, plan);
    return { goals: judgeImports(result, plan), problems: [], text: writeImports(result, plan) };
  },
};

const leastBytesPerS = 40e6;
const mostGrowthBytes = 150e6;
const mostSeconds = { SQLite: 15, PostgreSQL: 25 } as const;

type Read = ReadSample["imported"];

const bytesPerS = ({ bytes, cpuSeconds }: Read): number => bytes / cpuSeconds;
const growth = ({ startRssBytes, peakRssBytes }: Read): number => peakRssBytes - startRssBytes;

/** The samples of each title, in their order. */
const byTitle = <Sample>(samples: readonly Sample[], titleOf: (sample: Sample) => string) => [
  ...Map.groupBy(samples, titleOf).entries(),
];

const judgeImports = ({ reads, stored }: ImportsResult, plan: ImportsPlan): Goal[] => {
  const titles = byTitle(reads, ({ title }) => title);
  const speeds = titles.map(([title, samples]) => ({
    title,
    speed: median(samples.map(({ imported }) => bytesPerS(imported))),
    growth: Math.max(...samples.map(({ imported }) => growth(imported))),
  }));
  const isWhole = plan.bytes >= fullImportsPlan.bytes;
  const databases = byTitle(stored, ({ database }) => database).map(([, samples]) => ({
    ...(samples[0] as StoredSample),
    seconds: median(samples.map(({ seconds }) => seconds)),
  }));
  return [
    {
      text: `Traces are read at ${leastBytesPerS / 1e6} MB or more a second of processor time`,
      measured: speeds.map(({ title, speed }) => `${title} ${(speed / 1e6).toFixed(1)} MB/s`).join("; "),
      met: isWhole ? speeds.every(({ speed }) => speed >= leastBytesPerS) : undefined,
    },
    {
      text: `Memory grows by less than ${mostGrowthBytes / 1e6} MB while ${plan.bytes / 1e9} GB is read`,
      measured: speeds.map((one) => `${one.title} ${showMegabytes(one.growth)} MB`).join("; "),
      met: isWhole ? speeds.every((one) => one.growth < mostGrowthBytes) : undefined,
    },
    judgeDatabases(
      `${showCount(plan.samples)} samples of ${plan.sampleBytes} bytes are stored within ${mostSeconds.SQLite} s on SQLite, ${mostSeconds.PostgreSQL} s on PostgreSQL`,
      databases,
      plan.samples >= fullImportsPlan.samples,
      ({ database, seconds }) => seconds <= mostSeconds[database],
      ({ seconds }) => `${seconds.toFixed(1)} s`,
    ),
  ];
};

const writeImports = ({ reads, stored }: ImportsResult, plan: ImportsPlan): string => `
Files of ${plan.bytes / 1e9} GB, made up: lines of 2 to 20 kB with calls of tools, other scripts than Latin, emoji, escapes, JSON in texts, and a secret
in one of a hundred texts; of \`otel-genai\`, eight traces are recorded beside each other. A thread like an upload's reads them without storing
anything, redaction at its default. MB/s are of processor time, of all threads together; the reference is \`JSON.parse\` of the same lines,
which are split and decoded, in a process of its own. ${plan.rounds} rounds, both in turns; medians with ranges. Memory is what the process grows by at
its peak. Load is the machine's load average at the end.

${tableOf(
  byTitle(reads, ({ title }) => title),
  [
    ["read", ([title]) => title],
    [
      "MB/s",
      ([, samples]) =>
        showFigure(
          figureOf(samples, ({ imported }) => bytesPerS(imported)),
          1e-6,
        ),
    ],
    [
      "reference, MB/s",
      ([, samples]) =>
        showFigure(
          figureOf(samples, ({ parsed }) => bytesPerS(parsed)),
          1e-6,
        ),
    ],
    [
      "times the reference's time",
      ([, samples]) =>
        showFigure(figureOf(samples, ({ imported, parsed }) => imported.cpuSeconds / parsed.cpuSeconds)),
    ],
    [
      "MB/s by the clock",
      ([, samples]) =>
        showFigure(
          figureOf(samples, ({ imported }) => imported.bytes / imported.seconds),
          1e-6,
        ),
    ],
    [
      "memory, + MB",
      ([, samples]) =>
        showFigure(
          figureOf(samples, ({ imported }) => growth(imported)),
          1e-6,
        ),
    ],
    [
      "reference, + MB",
      ([, samples]) =>
        showFigure(
          figureOf(samples, ({ parsed }) => growth(parsed)),
          1e-6,
        ),
    ],
    ["load", ([, samples]) => samples.at(-1)?.load.toFixed(1) ?? ""],
  ],
)}

${showCount(plan.samples)} samples of ${plan.sampleBytes} bytes, uploaded as lines of \`presage\` to a server while another client makes a dataset every 20 ms:

${tableOf(
  byTitle(stored, ({ database }) => database),
  [
    ["stored in", ([database]) => database],
    ["seconds", ([, samples]) => showFigure(figureOf(samples, ({ seconds }) => seconds))],
    [
      "processor time of the server, s",
      ([, samples]) => showFigure(figureOf(samples, ({ cpuSeconds }) => cpuSeconds)),
    ],
    [
      "peak, MB",
      ([, samples]) =>
        showFigure(
          figureOf(samples, ({ peakRssBytes }) => peakRssBytes),
          1e-6,
        ),
    ],
    [
      "another write, median ms",
      ([, samples]) => showFigure(figureOf(samples, ({ writeMs }) => writeMs.median)),
    ],
    ["p99, ms", ([, samples]) => showFigure(figureOf(samples, ({ writeMs }) => writeMs.p99))],
    ["longest, ms", ([, samples]) => showFigure(figureOf(samples, ({ writeMs }) => writeMs.longest))],
    ["load", ([, samples]) => samples.at(-1)?.load.toFixed(1) ?? ""],
  ],
)}
`;
