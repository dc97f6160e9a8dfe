import { quoted } from "../printable.ts";

const maxColumns = 120;

/** What the log says about a request. */
export interface RequestRecord {
  requestId: string;
  keyId: string | undefined;
  sessionId: string | undefined;
  method: string;
  route: string;
  status: number;
  totalMs: number;
  upstreamMs: number | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** Where a prediction is from, if it may have been kept. */
  cache: string | undefined;
  /** Why it failed. */
  category: string | undefined;
}

/** What a line names beside the request; a worker only if there are several. */
export interface RequestNames {
  keyName?: string | undefined;
  worker?: number | undefined;
}

/** A request in one line for people: `19:17:03 POST /v1/predict 200 42 ms 17→5 tokens "training"`, with its key's name at the end. */
export function requestLine(record: RequestRecord, { keyName, worker }: RequestNames, at: Date): string {
  const { method, route, status, category, totalMs, promptTokens, completionTokens } = record;
  const hasTokens = promptTokens !== undefined || completionTokens !== undefined;
  const parts = [
    at.toTimeString().slice(0, "HH:MM:SS".length),
    worker === undefined ? undefined : `worker ${worker}`,
    method,
    route,
    status,
    category,
    duration(totalMs),
    hasTokens ? `${promptTokens ?? "?"}→${completionTokens ?? "?"} tokens` : undefined,
    keyName === undefined ? undefined : quoted(keyName),
  ];
  const line = parts.filter((part) => part !== undefined).join(" ");
  return Bun.sliceAnsi(line, 0, maxColumns, "…");
}

function duration(totalMs: number): string {
  if (totalMs >= 10_000) return `${(totalMs / 1000).toFixed(1)} s`;
  return totalMs < 10 ? `${totalMs.toFixed(1)} ms` : `${Math.round(totalMs)} ms`;
}
