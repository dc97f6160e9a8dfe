import type { StoredPredictionDetail } from "@presage/sdk";
import { contextSections } from "../../playground/input/context-sections.ts";
import { type Draft, emptyDraft, paramFields } from "../../playground/input/draft.ts";

/** The playground's input that asks the same again; undefined for a chat, which it has no fields for. */
export function toPlaygroundDraft({
  context,
  interaction,
  params,
}: Pick<StoredPredictionDetail, "context" | "interaction" | "params">): Draft | undefined {
  if (interaction === null) return undefined;
  const sections = contextSections.map(({ field }) => [field, context?.[field] ?? ""]);
  const { known, further } = splitParams(params ?? {});
  return {
    ...emptyDraft,
    context: { ...emptyDraft.context, ...Object.fromEntries(sections) },
    state: interaction.state,
    action: interaction.action,
    params: {
      ...emptyDraft.params,
      ...known,
      further: Object.keys(further).length === 0 ? "" : JSON.stringify(further, undefined, 2),
    },
  };
}

function splitParams(params: Record<string, unknown>) {
  const entries = Object.entries(params).filter(([, value]) => value !== null && value !== undefined);
  const hasField = ([name, value]: [string, unknown]) =>
    name !== "further" && paramFields.some((field) => field === name) && typeof value !== "object";
  return {
    known: Object.fromEntries(entries.filter(hasField).map(([name, value]) => [name, String(value)])),
    further: Object.fromEntries(entries.filter((entry) => !hasField(entry))),
  };
}
