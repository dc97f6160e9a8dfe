import type { Model } from "@presage/sdk";
import { Cpu, FlaskConical } from "lucide-react";
import { explainError } from "../../text/explain-error.ts";
import { Badge } from "../../ui/badge.tsx";
import { Tooltip } from "../../ui/tooltip.tsx";

/** Which model answers; whether it is the simulator that comes with Presage. */
export function ModelNote({ model, error }: { model: Model | undefined; error: unknown }) {
  if (model === undefined) {
    if (error === null) return null;
    const { title, advice } = explainError(error);
    return (
      <Note text={`The model’s name is not known. ${title}. ${advice}`} label="Model unknown" isWarning />
    );
  }
  if (!isSimulator(model)) return <Note text={`Answers come from ${model.id}.`} label={model.id} />;
  return (
    <Note
      text="Answers come from the simulator that is built in: rules for a text world, and no language model. Set PRESAGE_UPSTREAM_URL to ask a real one."
      label="Simulator, no model"
      isWarning
    />
  );
}

function Note({ text, label, isWarning = false }: { text: string; label: string; isWarning?: boolean }) {
  return (
    <Tooltip text={text}>
      <button type="button" className="max-w-full rounded-full">
        <Badge
          tone={isWarning ? "warn" : "neutral"}
          icon={isWarning ? <FlaskConical aria-hidden /> : <Cpu aria-hidden />}
        >
          {label}
        </Badge>
      </button>
    </Tooltip>
  );
}

function isSimulator({ owned_by, description }: Model): boolean {
  return owned_by === "presage" && typeof description === "string" && description.includes("simulator");
}
