import { useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { isSandbox, modelsQuery } from "../../data/models.ts";
import { usePresage } from "../../data/use-presage.ts";

export function SandboxNote() {
  const presage = usePresage();
  const { data: models } = useQuery(modelsQuery(presage));
  if (!models?.some(isSandbox)) return null;
  return (
    <p className="flex gap-2 rounded-lg border border-line bg-surface px-4 py-2.5 text-sm text-ink-2">
      <FlaskConical className="mt-0.5 size-4 shrink-0 text-ink-3" aria-hidden />
      <span>
        Predictions come from the built-in sandbox, a rule-based simulator, not from a language model. Set{" "}
        <code className="font-mono text-xs">PRESAGE_UPSTREAM_URL</code> to use one.
      </span>
    </p>
  );
}
