export const stopKinds = ["output_contains", "output_matches", "action_equals", "action_matches"] as const;
export type StopKind = (typeof stopKinds)[number];

export const stopLabels: Record<StopKind, string> = {
  output_contains: "observation contains",
  output_matches: "observation matches",
  action_equals: "action is",
  action_matches: "action matches",
};

/** Why an episode ended. Of a stop rule the server says its field and its text; other reasons are sentences. */
export function describeStopReason(reason: string): string {
  const kind = stopKinds.find((one) => reason.startsWith(`${one}: `));
  if (kind === undefined) return reason;
  const text = reason.slice(kind.length + 2);
  return `${stopLabels[kind]} ${text === "{goal}" ? "the goal" : `“${text}”`}`;
}
