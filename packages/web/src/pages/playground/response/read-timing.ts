export interface Timing {
  /** Measured by the server. */
  totalMs: number;
  /** The model's part; undefined if no model was called. */
  upstreamMs: number | undefined;
}

/** Parses a `Server-Timing` header; undefined without a total. */
export function readTiming(header: string | null): Timing | undefined {
  const durations = new Map<string, number>();
  for (const entry of header?.split(",") ?? []) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith("dur="))?.slice("dur=".length);
    if (duration !== undefined && Number.isFinite(Number(duration))) durations.set(name, Number(duration));
  }
  const totalMs = durations.get("total");
  return totalMs === undefined ? undefined : { totalMs, upstreamMs: durations.get("upstream") };
}
