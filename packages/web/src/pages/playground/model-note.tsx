import type { Model } from "@presage/sdk";
import { Cpu, FlaskConical } from "lucide-react";
import { isSimulator } from "../../data/is-simulator.ts";
import { Badge } from "../../ui/badge.tsx";

/** Which model answers. */
export function ModelNote({ model, isUnknown }: { model: Model | undefined; isUnknown: boolean }) {
  if (isUnknown) return <Badge tone="warn">Model not known</Badge>;
  if (model === undefined) return null;
  if (isSimulator(model)) {
    return (
      <Badge tone="warn" icon={<FlaskConical aria-hidden />}>
        Simulator, no model
      </Badge>
    );
  }
  return <Badge icon={<Cpu aria-hidden />}>{model.id}</Badge>;
}
