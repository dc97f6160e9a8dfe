import type { DatabaseName } from "./evaluations/search/fill-and-start.ts";
import type { ProcessGroup } from "./processes.ts";
import type { Goal } from "./report/goal.ts";
import type { Upstream } from "./targets/start-upstream.ts";
import type { TargetName } from "./targets/target.ts";

export interface BenchContext {
  readonly group: ProcessGroup;
  /** The mock upstream, started when first asked for. */
  readonly upstream: () => Promise<Upstream>;
  /** Short runs, to check that everything works. The figures mean little and are not written. */
  readonly quick: boolean;
  /** How many results retention works on; undefined: as planned. */
  readonly results: number | undefined;
  /** How long retention's deletion is measured at most; undefined: as planned. */
  readonly minutes: number | undefined;
  /** The one engine that retention is measured on; undefined: each. */
  readonly database: DatabaseName | undefined;
  /** Which targets predictions are measured through. */
  readonly targets: readonly TargetName[];
}

/** What a part measured, as its section of RESULTS.md shows it. */
export interface PartReport {
  readonly goals: readonly Goal[];
  /** What invalidates a figure, one sentence each. */
  readonly problems: readonly string[];
  /** Markdown with conditions and tables; headings are ### or lower. */
  readonly text: string;
}

export interface Part {
  readonly title: string;
  readonly measure: (context: BenchContext) => Promise<PartReport>;
}
