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
  readonly statistics: boolean;
}

const partNames = [
  ...targetNames,
  "evaluations",
  "processes",
  "workers",
  "dashboard",
  "replicas",
  "cache",
  "statistics",
] as const;

const isPartName = (text: string): text is (typeof partNames)[number] =>
  partNames.some((name) => name === text);

export const readArguments = (argv: readonly string[]): BenchArguments => {
  const { values } = parseArgs({
    args: [...argv],
    options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
  });
  const wanted = values.only?.split(",").map((name) => name.trim()) ?? partNames;
  const unknown = wanted.filter((name) => !isPartName(name));
  if (unknown.length > 0) {
    throw new Error(`--only: got ${unknown.join(",")}; expected ${partNames.join(",")}`);
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
    statistics: wanted.includes("statistics"),
  };
};
