import type { EpisodeSummary } from "@presage/sdk";
import { CircleCheck, CircleDashed, CircleMinus, CircleX, Hourglass, type LucideIcon } from "lucide-react";
import { Badge, type Tone } from "../ui/badge.tsx";

type Ending = "open" | "expired" | "success" | "failure" | "cut short";

const looks: Record<Ending, [tone: Tone, Icon: LucideIcon]> = {
  open: ["accent", CircleDashed],
  expired: ["neutral", Hourglass],
  success: ["pass", CircleCheck],
  failure: ["fail", CircleX],
  "cut short": ["warn", CircleMinus],
};

/** How an episode ended, or its status. A cut-short episode never looks like a failure. */
export function EpisodeBadge({ episode }: { episode: Pick<EpisodeSummary, "status" | "outcome"> }) {
  const { status, outcome } = episode;
  const name = status === "finished" ? (outcome ?? "cut short") : status;
  const [tone, Icon] = looks[name];
  return (
    <Badge tone={tone} icon={<Icon aria-hidden />}>
      {name}
    </Badge>
  );
}

export const stopKinds = ["output_contains", "output_matches", "action_equals", "action_matches"] as const;
export type StopKind = (typeof stopKinds)[number];

export const stopLabels: Record<StopKind, string> = {
  output_contains: "observation contains",
  output_matches: "observation matches",
  action_equals: "action is",
  action_matches: "action matches",
};

/** Why an episode ended. For a stop rule, the server states its field and its text; other reasons are sentences. */
export function describeStopReason(reason: string): string {
  const kind = stopKinds.find((one) => reason.startsWith(`${one}: `));
  if (kind === undefined) return reason;
  const text = reason.slice(kind.length + 2);
  return `${stopLabels[kind]} ${text === "{goal}" ? "the goal" : `“${text}”`}`;
}
