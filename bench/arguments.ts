import { parseArgs } from "node:util";
import { dashboardPart } from "./dashboard/dashboard-report.ts";
import { questionsPart } from "./dashboard/questions.ts";
import { episodesPart } from "./episodes/episodes-report.ts";
import { evaluationsPart } from "./evaluations/evaluations-report.ts";
import { processesPart } from "./evaluations/processes.ts";
import { importsPart } from "./imports/imports-report.ts";
import { uploadsPart } from "./imports/uploads.ts";
import type { BenchChoices, Part } from "./lib/part.ts";
import type { DatabaseName } from "./lib/postgres.ts";
import { targetNames } from "./lib/targets.ts";
import { cachePart } from "./predictions/cache.ts";
import { peersPart } from "./predictions/peers.ts";
import { predictionsPart } from "./predictions/predictions-report.ts";
import { workersPart } from "./predictions/workers.ts";
import { realityPart } from "./reality/reality.ts";
import { replicasPart } from "./replicas/replicas-report.ts";
import { retentionPart } from "./retention/retention-report.ts";
import { runsPart } from "./runs/runs-report.ts";
import { searchPart } from "./search/search-report.ts";
import { statisticsPart } from "./statistics/statistics-report.ts";
import { worldsPart } from "./worlds/worlds.ts";

/** In the order of RESULTS.md. */
export const parts = {
  predictions: predictionsPart,
  peers: peersPart,
  workers: workersPart,
  cache: cachePart,
  replicas: replicasPart,
  evaluations: evaluationsPart,
  processes: processesPart,
  search: searchPart,
  runs: runsPart,
  imports: importsPart,
  uploads: uploadsPart,
  worlds: worldsPart,
  episodes: episodesPart,
  reality: realityPart,
  retention: retentionPart,
  dashboard: dashboardPart,
  questions: questionsPart,
  statistics: statisticsPart,
} satisfies Readonly<Record<string, Part>>;

export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts) as PartName[];

export interface BenchArguments extends BenchChoices {
  readonly parts: readonly PartName[];
}

const databaseNames: Readonly<Record<string, DatabaseName>> = { sqlite: "SQLite", postgresql: "PostgreSQL" };

/** `--only exactness`: it needs Python, so it is not part of the others. */
export interface ExactnessArguments {
  /** Transitions as JSON lines; generated ones if undefined. */
  readonly data: string | undefined;
  /** The interpreter that has numpy and scipy. */
  readonly python: string;
}

const options = {
  quick: { type: "boolean", default: false },
  only: { type: "string" },
  data: { type: "string" },
  python: { type: "string", default: "python3" },
  results: { type: "string" },
  minutes: { type: "string" },
  database: { type: "string" },
} as const;

export const readExactnessArguments = (argv: readonly string[]): ExactnessArguments | undefined => {
  const { values } = parseArgs({ args: [...argv], options });
  return values.only === "exactness" ? { data: values.data, python: values.python } : undefined;
};

/** `--only` names parts, or targets: predictions through these alone. */
export const readArguments = (argv: readonly string[]): BenchArguments => {
  const { values } = parseArgs({ args: [...argv], options });
  const wanted: readonly string[] = values.only?.split(",").map((name) => name.trim()) ?? partNames;
  const known: readonly string[] = [...partNames, ...targetNames];
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`--only: got ${unknown.join(",")}; expected ${known.join(",")}, or exactness alone`);
  }
  const targets = targetNames.filter((name) => wanted.includes(name));
  return {
    quick: values.quick,
    parts: partNames.filter(
      (name) => wanted.includes(name) || (name === "predictions" && targets.length > 0),
    ),
    results: readPositive("results", values.results),
    minutes: readPositive("minutes", values.minutes),
    database: readDatabase(values.database),
    targets: wanted.includes("predictions") || targets.length === 0 ? targetNames : targets,
  };
};

const readPositive = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(number > 0 && number < Number.POSITIVE_INFINITY))
    throw new Error(`--${option}: got ${text}; expected a number above 0`);
  return number;
};

const readDatabase = (name: string | undefined): DatabaseName | undefined => {
  if (name === undefined) return undefined;
  const database = databaseNames[name.toLowerCase()];
  if (database === undefined)
    throw new Error(`--database: got ${name}; expected ${Object.keys(databaseNames).join(" or ")}`);
  return database;
};
