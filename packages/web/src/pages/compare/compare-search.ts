/** The most runs that are compared at once: one for each colour and letter. */
export const maxRuns = 5;

export const directions = ["worse", "better"] as const;
export type Direction = (typeof directions)[number];

/** The search parameters of the comparison. */
export interface CompareSearch {
  /** Run ids, separated by commas. The first is the reference. */
  runs?: string;
  /** The key of an evaluator. Absent: the first. */
  evaluator?: string;
  /** The id of the run whose samples are listed. Absent: the first after the reference. */
  with?: string;
  /** Absent: what got worse, if anything did. */
  direction?: Direction;
  /** What is drawn by step. Absent: the mean scores. */
  curves?: "differences";
  /** The sample that is open, as TRAJECTORY/STEP. */
  open?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readCompareSearch(search: Record<string, unknown>): CompareSearch {
  const runs = readRunIds(textOf(search.runs));
  const evaluator = textOf(search.evaluator);
  const candidate = textOf(search.with);
  const direction = directions.find((known) => known === search.direction);
  const open = textOf(search.open);
  return {
    ...(runs.length > 0 && { runs: runs.join(",") }),
    ...(evaluator !== undefined && { evaluator }),
    ...(candidate !== undefined && { with: candidate }),
    ...(search.curves === "differences" && { curves: "differences" as const }),
    ...(direction !== undefined && { direction }),
    ...(open !== undefined && { open }),
  };
}

/** Ids without repetitions, at most as many as are compared. */
export function readRunIds(runs: string | undefined): string[] {
  const ids = (runs ?? "").split(",").filter((id) => id !== "");
  return [...new Set(ids)].slice(0, maxRuns);
}

export interface SamplePlace {
  trajectory_id: string;
  step: number;
}

export function writePlace({ trajectory_id, step }: SamplePlace): string {
  return `${trajectory_id}/${step}`;
}

export function readPlace(text: string | undefined): SamplePlace | undefined {
  const [, trajectory_id, step] = /^(.+)\/(\d{1,9})$/s.exec(text ?? "") ?? [];
  return trajectory_id === undefined ? undefined : { trajectory_id, step: Number(step) };
}

function textOf(value: unknown): string | undefined {
  // A sample may be called “12” or “true”.
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text !== "" && text.isWellFormed() && !text.includes("\0")
    ? text
    : undefined;
}
