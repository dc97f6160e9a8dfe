import { UploadError } from "../../platform/errors.ts";
import { isObject } from "./content.ts";
import type { Layout, TraceDocument } from "./layout.ts";
import { atif } from "./layouts/agents/atif.ts";
import { claudeCode } from "./layouts/agents/claude-code.ts";
import { codex } from "./layouts/agents/codex.ts";
import { inspect } from "./layouts/agents/inspect.ts";
import { openHands } from "./layouts/agents/openhands.ts";
import { openHandsV0 } from "./layouts/agents/openhands-v0.ts";
import { sts } from "./layouts/agents/sts.ts";
import { sweAgent } from "./layouts/agents/swe-agent.ts";
import { tau } from "./layouts/agents/tau.ts";
import { agentworld } from "./layouts/messages/agentworld.ts";
import { anthropic } from "./layouts/messages/anthropic.ts";
import { chatGpt } from "./layouts/messages/chatgpt.ts";
import { gemini } from "./layouts/messages/gemini.ts";
import { openAiChat } from "./layouts/messages/openai-chat.ts";
import { openAiResponses } from "./layouts/messages/openai-responses.ts";
import { chat, llmSim, predictions, presage } from "./layouts/messages/own.ts";
import { sharegpt } from "./layouts/messages/sharegpt.ts";
import { steps } from "./layouts/messages/steps.ts";
import { verifiers } from "./layouts/messages/verifiers.ts";
import { langfuse } from "./layouts/spans/langfuse.ts";
import { langsmith } from "./layouts/spans/langsmith.ts";
import { openInference } from "./layouts/spans/openinference.ts";
import { otelGenAi } from "./layouts/spans/otel-genai.ts";

/** All layouts, in the order in which they are tried on a file. */
export const layouts: readonly Layout[] = [
  llmSim,
  presage,
  predictions,
  agentworld,
  atif,
  sts,
  claudeCode,
  codex,
  openHands,
  openHandsV0,
  sweAgent,
  tau,
  inspect,
  verifiers,
  otelGenAi,
  openInference,
  langfuse,
  langsmith,
  gemini,
  openAiResponses,
  anthropic,
  openAiChat,
  sharegpt,
  chatGpt,
  steps,
  chat,
];

export function findLayout(format: string): Layout {
  const layout = layouts.find((one) => one.format === format);
  if (layout === undefined) throw new Error(`There is no reader of ${format}`);
  return layout;
}

/** The most keys that a refusal names. */
const maxKeys = 20;

/** A file of unknown format. The error says which keys were seen, and what each layout needs. */
export class UnrecognisedError extends UploadError {
  constructor(documents: readonly TraceDocument[], file: string | undefined) {
    const keys = new Set(documents.flatMap(({ value }) => (isObject(value) ? Object.keys(value) : [])));
    const seen = [...keys].slice(0, maxKeys).map((key) => JSON.stringify(key.slice(0, 100)));
    const what =
      documents.length === 0
        ? "it is not JSON. WebArena's and BrowserGym's pickles and HTML are not read; both can write ATIF or OpenTelemetry"
        : keys.size === 0
          ? "it has no JSON object"
          : `its keys are ${seen.join(", ")}${keys.size > maxKeys ? ", …" : ""}`;
    super({
      line: undefined,
      path: [],
      file,
      type: "unrecognised_layout",
      reason: `No known format: ${what}`,
      ctx: { formats: layouts.map(({ format, about }) => ({ format, needs: about.recognised_by })) },
    });
  }
}
