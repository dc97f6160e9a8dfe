import { parseArgs } from "node:util";
import { type TargetName, targetNames } from "./targets/target.ts";

export interface BenchArguments {
  /** Short runs, to check that everything works. The figures mean little and no report is written. */
  readonly quick: boolean;
  readonly targets: readonly TargetName[];
  readonly evaluations: boolean;
  readonly processes: boolean;
  readonly workers: boolean;
  readonly dashboard: boolean;
  readonly replicas: boolean;
  readonly cache: boolean;
  readonly runs: boolean;
  readonly episodes: boolean;
  readonly retention: boolean;
  /** `--results NUMBER`: how many the retention works on. Undefined: as planned. */
  readonly results: number | undefined;
  readonly statistics: boolean;
}

/** `--only exactness`: it needs Python, so it is not part of the others. */
export interface ExactnessArguments {
  /** Transitions as JSON lines. Undefined: made ones. */
  readonly data: string | undefined;
  /** The interpreter that has numpy. */
  readonly python: string;
}

export const readExactnessArguments = (argv: readonly string[]): ExactnessArguments | undefined => {
  const { values } = parseArgs({ args: [...argv], options });
  return values.only === "exactness" ? { data: values.data, python: values.python } : undefined;
};

const options = {
  quick: { type: "boolean", default: false },
  only: { type: "string" },
  data: { type: "string" },
  results: { type: "string" },
  python: { type: "string", default: "python3" },
} as const;

const partNames = [
  ...targetNames,
  "evaluations",
  "processes",
  "workers",
  "dashboard",
  "replicas",
  "cache",
  "runs",
  "episodes",
  "retention",
  "statistics",
] as const;

const isPartName = (text: string): text is (typeof partNames)[number] =>
  partNames.some((name) => name === text);

export const readArguments = (argv: readonly string[]): BenchArguments => {
  const { values } = parseArgs({ args: [...argv], options });
  const wanted = values.only?.split(",").map((name) => name.trim()) ?? partNames;
  const unknown = wanted.filter((name) => !isPartName(name));
  if (unknown.length > 0) {
    throw new Error(`--only: got ${unknown.join(",")}; expected ${partNames.join(",")}, or exactness alone`);
  }
  return {
    quick: values.quick,
    targets: targetNames.filter((name) => wanted.includes(name)),
    evaluations: wanted.includes("evaluations"),
    processes: wanted.includes("processes"),
    workers: wanted.includes("workers"),
    dashboard: wanted.includes("dashboard"),
    replicas: wanted.includes("replicas"),
    cache: wanted.includes("cache"),
    runs: wanted.includes("runs"),
    episodes: wanted.includes("episodes"),
    retention: wanted.includes("retention"),
    results: values.results === undefined ? undefined : Number(values.results),
    statistics: wanted.includes("statistics"),
  };
};
