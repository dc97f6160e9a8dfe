import { parseArgs } from "node:util";
import { type TargetName, targetNames } from "./targets/target.ts";

export interface BenchArguments {
  /** Short runs, to see that everything works; the figures mean little and no report is written. */
  readonly quick: boolean;
  readonly targets: readonly TargetName[];
}

const isTargetName = (text: string): text is TargetName => targetNames.some((name) => name === text);

export const readArguments = (argv: readonly string[]): BenchArguments => {
  const { values } = parseArgs({
    args: [...argv],
    options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
  });
  const wanted = values.only?.split(",").map((name) => name.trim()) ?? targetNames;
  const unknown = wanted.filter((name) => !isTargetName(name));
  if (unknown.length > 0) {
    throw new Error(`--only takes ${targetNames.join(",")}; it got ${unknown.join(",")}`);
  }
  return { quick: values.quick, targets: targetNames.filter((name) => wanted.includes(name)) };
};
