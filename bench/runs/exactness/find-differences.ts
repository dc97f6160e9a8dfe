/** What names a run or says how long it took, not how true it is. */
const notFigures: ReadonlySet<string> = new Set([
  ...["id", "run_id", "name", "run", "runs", "provenance", "created_at", "started_at", "finished_at"],
  ...["latency_ms", "predictions_per_second", "cost", "waited", "duration_ms"],
]);

/** Where two answers differ in a figure, to the last digit; one sentence each. */
export const findDifferences = (label: string, expected: unknown, received: unknown): string[] => {
  if (isRecord(expected) && isRecord(received)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(received)]);
    return [...keys]
      .filter((key) => !notFigures.has(key))
      .flatMap((key) => findDifferences(`${label}.${key}`, expected[key], received[key]));
  }
  if (Object.is(expected, received)) return [];
  return [
    `${label}: ${JSON.stringify(expected)} by the API, ${JSON.stringify(received)} by the command line`,
  ];
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
