import type { FuzzReport } from "../run-fuzz.ts";
import { describeFinding } from "./describe-finding.ts";

/** The findings of a run and its statistics. */
export function writeReport(report: FuzzReport, seed: number): string {
  const { upstream, findings, responses, tookMs, slowestHealthMs, healthRequests, memory, slowest } = report;
  const rows = [...responses]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([operation, byStatus]) => {
      const counts = [...byStatus]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${status || "none"} × ${count}`);
      return `  ${operation.padEnd(30)} ${counts.join(", ")}`;
    });
  const total = [...responses.values()]
    .flatMap((byStatus) => [...byStatus.values()])
    .reduce((a, b) => a + b, 0);
  const lines = [
    `Upstream: ${upstream}; ${total} requests in ${(tookMs / 1000).toFixed(1)} s`,
    ...rows,
    `  slowest response: ${slowest.ms.toFixed(0)} ms, ${slowest.what}`,
    `  /health: slowest of ${healthRequests} responses: ${slowestHealthMs.toFixed(0)} ms`,
    ...(memory === undefined
      ? []
      : [`  memory: ${megabytes(memory.peakBytes)} MB at most, ${megabytes(memory.endBytes)} MB at the end`]),
    ...findings.map((finding) => describeFinding(finding, seed)),
    findings.length === 0 ? "  no findings" : `  ${findings.length} findings`,
  ];
  return `${lines.join("\n")}\n`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
