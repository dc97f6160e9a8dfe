import { CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { formatShare } from "../../../format/numbers.ts";
import { Badge } from "../../../ui/badge.tsx";

/** A sample's verdict in one run: of all its repeats, or the share of them that pass. */
export function SideBadge({ passRate }: { passRate: number }) {
  if (passRate === 1) {
    return (
      <Badge tone="pass" icon={<CircleCheck aria-hidden />}>
        Pass
      </Badge>
    );
  }
  if (passRate === 0) {
    return (
      <Badge tone="fail" icon={<CircleX aria-hidden />}>
        Fail
      </Badge>
    );
  }
  return <Badge icon={<CircleMinus aria-hidden />}>{formatShare(passRate)} pass</Badge>;
}
