import type { RunReport } from "@presage/contract";
import type { CallOptions } from "../../call.ts";
import type { Transport } from "../../transport.ts";

export interface RunReports {
  /** Gets what a run says so far: `GET /v1/runs/{id}/report`. */
  report(id: string, options?: CallOptions): Promise<RunReport>;
  /** Gets the same as one HTML page without scripts, or as Markdown. */
  reportAs(id: string, format: "html" | "md", options?: CallOptions): Promise<string>;
}

export function runReports({ json, text }: Transport): RunReports {
  const get = (id: string, format: "json" | "html" | "md") => ({
    method: "GET" as const,
    path: `/v1/runs/${encodeURIComponent(id)}/report`,
    query: { format },
    isRepeatable: true,
  });
  return {
    report: (id, options) => json(get(id, "json"), options),
    reportAs: (id, format, options) => text(get(id, format), options),
  };
}
