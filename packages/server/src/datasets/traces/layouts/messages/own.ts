import {
  countRepeatedIndexes,
  predictionFields,
  readLlmSimTransition,
  readOwnLine,
  readPredictionLine,
} from "../../../formats.ts";
import { isObject } from "../../content.ts";
import { asEnvironment, eachSample, type Layout, type TraceDocument } from "../../layout.ts";
import { openAiChat } from "./openai-chat.ts";

const has = ({ value }: TraceDocument, name: string) => isObject(value) && name in value;

const ownExample = `{"trajectory_id":"kitchen-1","step":0,"context":{"task_context":"Take the milk."},"interaction":{"state":"The fridge is closed.","action":"open fridge"},"next_state":"The fridge is open. It contains milk."}`;

/** Presage's own lines. */
export const presage: Layout = {
  format: "presage",
  version: 1,
  isVerbatim: true,
  about: {
    title: "Presage",
    recognised_by: "`next_state`, or `trajectory_id` and `step`, without `action`",
    trajectory: "the lines of one `trajectory_id`",
    action: "`interaction.action`",
    answer: "`next_state`",
    context: "`context`",
    also: "`reward`, `done`, `at`, `usage`, `tags`",
    left_out: "nothing: other fields are refused",
    example: ownExample,
  },
  recognises(document) {
    // Its action is in `interaction`.
    if (has(document, "action")) return undefined;
    if (has(document, "next_state")) return "next_state";
    return has(document, "trajectory_id") && has(document, "step") ? "trajectory_id and step" : undefined;
  },
  open: eachSample(readOwnLine),
};

/** The transitions of LLM-Sim. */
export const llmSim: Layout = {
  format: "llm-sim",
  version: 1,
  isVerbatim: true,
  about: {
    title: "LLM-Sim",
    recognised_by: "`tick_state`",
    trajectory: "the lines of one `game`, by `state_id`",
    action: "`tick_state.lastAction`",
    answer: "`tick_state` as JSON, with the score",
    context: "`current_state.taskDesc`",
    also: "score and `gameOver` as reward and end",
    left_out: "other fields",
    example: `{"game":"bath-tub","state_id":0,"current_state":{"taskDesc":"Run a bath.","tap":"off"},"tick_state":{"lastAction":"open tap","tap":"on","score":1,"gameOver":false}}`,
  },
  recognises: (document) => (has(document, "tick_state") ? "tick_state" : undefined),
  open: eachSample(readLlmSimTransition),
};

/** Predictions made elsewhere, whose references are stored. */
export const predictions: Layout = {
  format: "predictions",
  version: 1,
  isVerbatim: true,
  about: {
    title: "mdlm_world_modeling",
    recognised_by: `one of ${predictionFields.map((name) => `\`${name}\``).join(", ")}`,
    trajectory: "each line its own; `index`",
    action: "none is known",
    answer: "`reference`, `expected` or `ground_truth`",
    context: "none is known",
    also: "nothing",
    left_out: "the prediction, and lines whose `index` an earlier one has",
    example: `{"index":0,"prediction_raw":"The door is open.","reference":"The door opens."}`,
  },
  recognises: (document) => predictionFields.find((name) => has(document, name)),
  open() {
    const indexes = countRepeatedIndexes();
    return {
      *read({ value, place: [, number] }) {
        for (const sample of readPredictionLine(value, number))
          if (!indexes.isRepeated(sample.dataset_sample_id ?? number)) yield { sample };
      },
      warnings: indexes.warnings,
    };
  },
};

/** Conversations in which the assistant is the environment, unless the upload says otherwise. */
export const chat: Layout = {
  format: "chat",
  version: 1,
  assistantIs: "environment",
  isVerbatim: true,
  about: {
    title: "Conversations with an environment (Word2World)",
    recognised_by: "`messages` of texts, whose assistant is the environment",
    trajectory: "a line; `trajectory_id`, `id` or `item_id`, else `line-N`",
    action: "a user turn before an assistant's",
    answer: "the assistant's turn",
    context: "the turns before it, as `messages`",
    also: "nothing",
    left_out: "other fields",
    example: `{"id":"walk-1","messages":[{"role":"system","content":"You are a kitchen."},{"role":"user","content":"open fridge"},{"role":"assistant","content":"The fridge is open."}]}`,
  },
  recognises: (document) => (has(document, "messages") ? "messages of texts alone" : undefined),
  admits: ({ value }) => isObject(value) && Array.isArray(value.messages),
  open: (options) => (options.assistantIs === "agent" ? openAiChat.open : asEnvironment)(options),
};
