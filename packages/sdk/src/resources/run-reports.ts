import type { RunReport } from "@presage/contract";
import type { CallOptions } from "../call.ts";
import type { Transport } from "../transport.ts";

export interface RunReports {
  /** What a run says so far: `GET /v1/runs/{id}/report`. */
  report(id: string, options?: CallOptions): Promise<RunReport>;
  /** The same as one page without scripts, or as Markdown. */
  reportAs(id: string, format: "html" | "md", options?: CallOptions): Promise<string>;
}
