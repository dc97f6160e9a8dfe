import type { EpisodeSummary } from "@presage/sdk";
import { CircleCheck, CircleDashed, CircleMinus, CircleX, Hourglass } from "lucide-react";
import { Badge } from "../ui/badge.tsx";

/** How an episode ended, or that it has not. Being cut short never looks like a failure. */
export function EpisodeBadge({ episode }: { episode: Pick<EpisodeSummary, "status" | "outcome"> }) {
  const { status, outcome } = episode;
  if (status === "open")
    return (
      <Badge tone="accent" icon={<CircleDashed aria-hidden />}>
        open
      </Badge>
    );
  if (status === "expired") return <Badge icon={<Hourglass aria-hidden />}>expired</Badge>;
  if (outcome === "success")
    return (
      <Badge tone="pass" icon={<CircleCheck aria-hidden />}>
        success
      </Badge>
    );
  if (outcome === "failure")
    return (
      <Badge tone="fail" icon={<CircleX aria-hidden />}>
        failure
      </Badge>
    );
  return (
    <Badge tone="warn" icon={<CircleMinus aria-hidden />}>
      cut short
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

/** Why an episode ended. Of a stop rule the server says its field and its text; other reasons are sentences. */
export function describeStopReason(reason: string): string {
  const kind = stopKinds.find((one) => reason.startsWith(`${one}: `));
  if (kind === undefined) return reason;
  const text = reason.slice(kind.length + 2);
  return `${stopLabels[kind]} ${text === "{goal}" ? "the goal" : `“${text}”`}`;
}
