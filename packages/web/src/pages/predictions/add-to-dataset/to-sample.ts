import type { DatasetSample, StoredPredictionDetail } from "@presage/sdk";
import type { NewSample } from "../../../data/evaluation/add-sample.ts";

type Messages = NonNullable<DatasetSample["messages"]>;

/** A prediction as a recorded transition; undefined if what was asked is not known, or is more than text. */
export function toSample(prediction: StoredPredictionDetail): NewSample | undefined {
  const { id, context, interaction, output } = prediction;
  const asked =
    interaction === null
      ? toMessages(prediction.messages)
      : { interaction, ...(context !== null && { context }) };
  if (asked === undefined) return undefined;
  return {
    trajectory_id: `prediction-${id}`,
    step: 0,
    ...asked,
    next_state: output ?? "",
    tags: { source: "captured" },
  };
}

const roles = ["system", "user", "assistant"] as const;

function toMessages(messages: StoredPredictionDetail["messages"]): { messages: Messages } | undefined {
  if (messages === null || messages.length === 0) return undefined;
  const read = messages.map(({ role, content }) => {
    const known = roles.find((one) => one === role);
    return known === undefined || typeof content !== "string" ? undefined : { role: known, content };
  });
  return read.includes(undefined) ? undefined : { messages: read.filter((turn) => turn !== undefined) };
}
