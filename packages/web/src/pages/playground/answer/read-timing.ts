export interface Timing {
  /** The whole of it, in milliseconds, as the server measured it. */
  totalMs: number;
  /** The model's share; undefined if no model was asked. */
  upstreamMs: number | undefined;
}

/** What a `Server-Timing` header says; undefined if it does not name a total. */
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
