import type { Run } from "@presage/sdk";
import { humanizeName } from "../../format/humanize-name.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";

const tones: Record<Run["status"], Tone> = {
  queued: "neutral",
  running: "accent",
  paused: "warn",
  finished: "pass",
  cancelled: "neutral",
  failed: "fail",
};

export function RunStatus({ status }: Pick<Run, "status">) {
  return <Badge tone={tones[status]}>{humanizeName(status)}</Badge>;
}
