import { type Micros, microsPerDay, microsPerMs } from "../../platform/storage/micros.ts";
import type { ResultFilter } from "../search/result-filter.ts";
import type { Dimension } from "../search/summary-dimensions.ts";

/** The rollup has a column for these, and for no filter that is added later. */
const rollupNames = [
  "app",
  "evaluatorId",
  "isExternal",
  "evaluatorFamily",
  "profileName",
  "profilePublicId",
  "profileRevision",
  "runId",
  "hasRun",
  "pass",
  "status",
] as const satisfies (keyof ResultFilter)[];
const rollupFields: ReadonlySet<string> = new Set(rollupNames);

/** A filter that the rollup can answer. */
export interface RollupFilter extends Pick<ResultFilter, (typeof rollupNames)[number]> {
  /** The first day, in days since 1970-01-01 UTC. */
  fromDay?: number;
  /** The day after the last. */
  untilDay?: number;
  /** The rollup is right only if no result was stored at exactly this time. */
  exceptAt?: Micros;
}

/** The filter in terms of the rollup, or undefined if the rollup cannot answer it. */
export function toRollupFilter(
  filter: ResultFilter,
  dimensions: readonly Dimension[],
): RollupFilter | undefined {
  const { createdAfter, createdBefore, tags, ...others } = filter;
  const isOther = Object.entries(others).some(
    ([name, value]) => value !== undefined && !rollupFields.has(name),
  );
  if (isOther || Object.keys(tags ?? {}).length > 0 || dimensions.includes("tag")) return undefined;
  const from = createdAfter === undefined ? {} : daysAfter(createdAfter);
  const until = createdBefore === undefined ? {} : daysBefore(createdBefore);
  return from === undefined || until === undefined ? undefined : { ...others, ...from, ...until };
}

/** A tag to group by, or one that results must have. */
export interface CountedTag {
  name: string;
  /** Absent: any value, and none. */
  value?: string | undefined;
}

/** The filter in terms of the rollup by tag, which knows one tag and no runs, or undefined if it cannot answer it. */
export function toTagRollupFilter(
  filter: ResultFilter,
  dimensions: readonly Dimension[],
  tagToGroupBy: string | undefined,
): { rollup: RollupFilter; tag: CountedTag } | undefined {
  const { tags = {}, ...others } = filter;
  const wanted: CountedTag[] = Object.entries(tags).map(([name, value]) => ({ name, value }));
  if (tagToGroupBy !== undefined) wanted.push({ name: tagToGroupBy });
  const [tag, ...more] = wanted;
  const isByRun = filter.runId !== undefined || filter.hasRun !== undefined || dimensions.includes("run");
  if (tag === undefined || more.length > 0 || isByRun) return undefined;
  const rollup = toRollupFilter(
    others,
    dimensions.filter((dimension) => dimension !== "tag"),
  );
  return rollup && { rollup, tag };
}

/** Results are stored at whole milliseconds. */
function daysAfter(time: Micros): Pick<RollupFilter, "fromDay" | "exceptAt"> | undefined {
  const firstTime = (Math.floor(time / microsPerMs) + 1) * microsPerMs;
  if (firstTime % microsPerDay === 0) return { fromDay: firstTime / microsPerDay };
  // Midnight includes the whole day, except for a result of exactly that instant.
  return time % microsPerDay === 0 ? { fromDay: time / microsPerDay, exceptAt: time } : undefined;
}

function daysBefore(time: Micros): Pick<RollupFilter, "untilDay"> | undefined {
  const endTime = Math.ceil(time / microsPerMs) * microsPerMs;
  return endTime % microsPerDay === 0 ? { untilDay: endTime / microsPerDay } : undefined;
}
