import type { World } from "@presage/contract";
import { worldDefaults } from "@presage/contract/defaults";
import { countOf, printable } from "../../platform/words.ts";

const { history, ...retrieval } = worldDefaults;

/** What applies where a world sets nothing, under the names that differences use. */
const defaults: Record<string, unknown> = {
  "examples.order": "revision",
  ...Object.fromEntries(leavesOf({ retrieval, history }, "")),
};

const names: Record<string, string> = {
  "pinned.dataset": "examples are of the dataset",
  "pinned.revision": "of its revision",
  "pinned.count": "examples",
  "pinned.trajectories": "trajectories of examples",
  "pinned.actions": "distinct actions",
  "pinned.run": "calibrated by the run",
};

/** The differences between two worlds or revisions, one per line; for long texts, the lines that are not in both. */
export function describeDifferences(before: World, after: World): string[] {
  const [first, second] = [fieldsOf(before), fieldsOf(after)];
  const all = [...new Set([...first.keys(), ...second.keys()])];
  return all.flatMap((name) => {
    const [one, other] = [first.get(name) ?? defaults[name], second.get(name) ?? defaults[name]];
    if (JSON.stringify(one) === JSON.stringify(other)) return [];
    const shown = names[name] ?? name;
    if (isLong(one) || isLong(other)) return describeTexts(shown, String(one ?? ""), String(other ?? ""));
    return [`${shown}: ${show(one)} → ${show(other)}`];
  });
}

/** The values of a world by path, without digests, which change along with the values that they are of. */
function fieldsOf({ config, pinned }: World): Map<string, unknown> {
  const { examples, ...own } = config;
  const { dataset: _, revision: __, ...chosen } = examples ?? { dataset: undefined };
  const { dataset, revision, count, trajectories, actions } = pinned.examples ?? {};
  const run = pinned.calibration?.run_id;
  const held = { ...own, examples: chosen, pinned: { dataset, revision, count, trajectories, actions, run } };
  return new Map(leavesOf(held, "").filter(([, value]) => value !== null && value !== undefined));
}

function leavesOf(value: object, path: string): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    typeof inner === "object" && inner !== null
      ? leavesOf(inner, `${path}${name}.`)
      : [[`${path}${name}`, inner]],
  );
}

const longText = 60;

function isLong(value: unknown): boolean {
  return typeof value === "string" && (value.length > longText || value.includes("\n"));
}

function describeTexts(name: string, before: string, after: string): string[] {
  const [first, second] = [before, after].map((text) => (text === "" ? [] : text.split(/\r?\n/)));
  const gone = (first ?? []).filter((line) => !second?.includes(line));
  const added = (second ?? []).filter((line) => !first?.includes(line));
  return [
    `${name}: ${countOf(added.length, "line")} added, ${gone.length} removed`,
    ...gone.map((line) => `  − ${printable(line)}`),
    ...added.map((line) => `  + ${printable(line)}`),
  ];
}

function show(value: unknown): string {
  return value === undefined ? "none" : printable(String(value));
}
