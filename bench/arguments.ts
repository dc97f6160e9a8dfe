import { parseArgs } from "node:util";
import type { DatabaseName } from "./evaluations/search/fill-and-start.ts";
import { type PartName, partNames } from "./parts.ts";
import { type TargetName, targetNames } from "./targets/target.ts";

export interface BenchArguments {
  readonly quick: boolean;
  readonly parts: readonly PartName[];
  /** Which targets predictions are measured through. */
  readonly targets: readonly TargetName[];
  /** How many results retention works on; undefined: as planned. */
  readonly results: number | undefined;
  /** How long retention's deletion is measured at most; undefined: as planned. */
  readonly minutes: number | undefined;
  /** The one engine that retention is measured on; undefined: each. */
  readonly database: DatabaseName | undefined;
}

const databaseNames: Readonly<Record<string, DatabaseName>> = { sqlite: "SQLite", postgresql: "PostgreSQL" };

/** `--only exactness`: it needs Python, so it is not part of the others. */
export interface ExactnessArguments {
  /** Transitions as JSON lines. Undefined: made ones. */
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
