import { LineError } from "../../../upload/lines.ts";
import { type Content, exactIn, isObject, LeftOut, refIn, textIn } from "../../content.ts";
import { hasBlocks, isItem, toldCalls, turnsOfMessages } from "../../messages.ts";
import { type AgentTurn, type Call, joinedTurn, type Turn } from "../../turns.ts";
import { parsed } from "./span-values.ts";

type Message = Record<string, unknown>;

/**
 * The turns of messages as tracers record them: in the forms of OpenAI, Anthropic, LangChain and OpenTelemetry, alone, in a list or
 * under `messages`, or as JSON text. Anything that is not a message is counted.
 */
export function looseTurns(recorded: unknown, leftOut: LeftOut): Turn[] {
  const value = parsed(recorded);
  if (typeof value === "string") return value === "" ? [] : [{ by: "environment", content: value }];
  const list = listOf(value);
  return list.flatMap((message) => turnsOf(message, leftOut));
}

function listOf(value: unknown): readonly unknown[] {
  if (isObject(value)) {
    // Gemini's are `contents`, which can be a text.
    const { messages = value.contents } = value;
    if (typeof messages === "string") return [{ role: "user", content: messages }];
    return Array.isArray(messages) ? listOf(messages) : [value];
  }
  if (!Array.isArray(value)) return [];
  // LangChain can call a model with several lists in one call; a trace follows the first.
  return Array.isArray(value[0]) ? value[0] : value;
}

function turnsOf(value: unknown, leftOut: LeftOut): Turn[] {
  const message = plainMessage(value);
  if (message === undefined) {
    leftOut.count("other_event");
    return [];
  }
  if (Array.isArray(message.parts)) return turnsOfParts(message, leftOut);
  try {
    return turnsOfMessages([message], leftOut);
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    leftOut.count("other_event");
    return [];
  }
}

/** The names that LangChain and others use for speakers. */
const roles: Record<string, string> = {
  human: "user",
  HumanMessage: "user",
  HumanMessageChunk: "user",
  ai: "assistant",
  AIMessage: "assistant",
  AIMessageChunk: "assistant",
  model: "assistant",
  system: "system",
  SystemMessage: "system",
  developer: "system",
  tool: "tool",
  ToolMessage: "tool",
  function: "function",
  FunctionMessage: "function",
  user: "user",
  assistant: "assistant",
};

/** A message with its role and fields as in OpenAI's form; undefined if the value is not a message. */
function plainMessage(value: unknown): Message | undefined {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === "string")
    return plainMessage({ role: value[0], content: value[1] });
  if (!isObject(value)) return undefined;
  if (value.type === "function_call_output")
    return { role: "tool", tool_call_id: value.call_id, content: value.output };
  if (isItem(value)) return value;
  const { kwargs, data, type } = value;
  const fields = isObject(kwargs) ? kwargs : isObject(data) ? data : value;
  const name =
    textIn(fields, "role") ?? textIn(value, "role") ?? classOf(value) ?? textIn(fields, "type") ?? type;
  const role = typeof name === "string" && Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (role === undefined) return undefined;
  const ofProvider = isObject(fields.additional_kwargs) ? fields.additional_kwargs : {};
  const own = toldCalls(fields);
  const tool_calls = own.length > 0 ? own : toldCalls(ofProvider);
  // Anthropic's calls appear in the content as well.
  const content =
    tool_calls.length > 0 && hasBlocks(fields.content, "tool_use")
      ? fields.content.filter((block) => !isObject(block) || block.type !== "tool_use")
      : fields.content;
  return { ...fields, role, content, tool_calls };
}

/** The class of a message that LangChain serialized. */
function classOf({ lc, id }: Message): string | undefined {
  const last = lc !== undefined && Array.isArray(id) ? id.at(-1) : undefined;
  return typeof last === "string" ? last : undefined;
}

/** A part of a message of Gemini in OpenTelemetry's form; any other part unchanged. */
function plainPart(part: Message): Message {
  const call = part.functionCall ?? part.function_call;
  if (isObject(call)) return { type: "tool_call", id: call.id, name: call.name, arguments: call.args };
  const answer = part.functionResponse ?? part.function_response;
  if (isObject(answer)) {
    // In Gemini's API, these two fields are the answer; without them, all fields are.
    const { output, error } = isObject(answer.response) ? answer.response : {};
    const response = output ?? error ?? answer.response;
    return { type: "tool_call_response", id: answer.id, response, is_error: error !== undefined };
  }
  const media = [part.inlineData, part.inline_data, part.fileData, part.file_data].find(isObject);
  if (media !== undefined) return { modality: textIn(media, "mimeType") ?? textIn(media, "mime_type") ?? "" };
  if (part.type !== undefined || typeof part.text !== "string") return part;
  return { ...part, type: part.thought === true ? "reasoning" : "text" };
}

/** The turns of a message in OpenTelemetry's or Gemini's parts. */
export function turnsOfParts({ role, parts }: Message, leftOut: LeftOut): Turn[] {
  const said: unknown[] = [];
  const calls: Call[] = [];
  const reasoning: string[] = [];
  const answers: Turn[] = [];
  for (const told of Array.isArray(parts) ? parts : []) {
    if (!isObject(told)) {
      if (typeof told === "string") said.push(told);
      continue;
    }
    const part = plainPart(told);
    const id = refIn(part, "id");
    if (part.type === "tool_call") {
      const name = textIn(part, "name");
      if (name === undefined) leftOut.count("call_without_answer");
      else calls.push({ id, name, input: part.arguments });
    } else if (part.type === "tool_call_response") {
      const content = exactIn(part, "response") ?? exactIn(part, "result") ?? exactIn(part, "content");
      answers.push({ by: "answer", of: id, content, isError: part.is_error === true });
    } else if (part.type === "reasoning")
      reasoning.push(textIn(part, "content") ?? textIn(part, "text") ?? "");
    else if (part.type === "text") said.push(textIn(part, "content") ?? textIn(part, "text") ?? "");
    else if (typeof part.modality === "string") said.push({ type: mediaOf(part.modality) });
    else leftOut.count("other_event");
  }
  const content = said.length === 0 ? undefined : said;
  if (role === "assistant") return [{ by: "agent", content, calls, reasoning }, ...answers];
  if (role === "system") return [{ by: "system", content }];
  if (role === "tool" && answers.length === 0) return [{ by: "answer", content }];
  return content === undefined ? answers : [...answers, { by: "environment", content }];
}

const mediaOf = (modality: string) => /image|audio/.exec(modality)?.[0] ?? "file";

/** The turn of a model's answer, in the forms that `looseTurns` reads or as models' clients return it. */
export function looseAnswer(recorded: unknown, leftOut: LeftOut): AgentTurn | undefined {
  const value = answerIn(parsed(recorded));
  if (typeof value === "string") return value === "" ? undefined : { by: "agent", content: value };
  const messages = listOf(value).map((one) => {
    const isPlain = isObject(one) && plainMessage(one) === undefined;
    const isSaid = isPlain && ["content", "tool_calls", "function_call", "parts"].some((name) => name in one);
    return isSaid ? { ...one, role: "assistant" } : one;
  });
  const turns = messages.flatMap((message) => turnsOf(message, leftOut));
  const agents = turns.filter((turn) => turn.by === "agent");
  const [first, ...others] = agents;
  return first && others.reduce(joinedTurn, first);
}

/** A model's call: its input and its answer, with what is known about the answer. */
export function looseCall(
  input: unknown,
  answer: unknown,
  facts: Pick<AgentTurn, "usage" | "model">,
  leftOut: LeftOut,
): { input: Turn[]; output: AgentTurn | undefined } {
  const output = looseAnswer(answer, leftOut);
  return { input: looseTurns(input, leftOut), output: output && { ...output, ...facts } };
}

/** The message, the messages or the text in an answer: from OpenAI's `choices`, LangChain's `generations`, or a wrapper of these. */
function answerIn(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (isObject(value.kwargs) || value.role !== undefined) return value;
  const { candidates, choices, content, generations, message, output } = value;
  if (Array.isArray(candidates)) return answerIn(candidates[0]);
  if (isObject(content) && Array.isArray(content.parts)) return content;
  if (Array.isArray(choices))
    return isObject(choices[0]) ? (choices[0].message ?? choices[0].text) : undefined;
  if (Array.isArray(generations)) return answerIn(generations.flat()[0]);
  if (isObject(message)) return message;
  if (typeof value.text === "string" && value.content === undefined) return value.text;
  return output === undefined || output === null ? value : answerIn(parsed(output));
}

/** A tool's answer, which may be recorded as the message that reports it to the model. */
export function toolAnswer(recorded: unknown): {
  of?: string | undefined;
  content: Content;
  isError: boolean;
} {
  const message = isObject(recorded) ? plainMessage(recorded) : undefined;
  if (message?.role !== "tool" || !("content" in message)) return { content: recorded, isError: false };
  const { content, status } = message;
  return { of: refIn(message, "tool_call_id"), content, isError: status === "error" };
}

/** The text of the first user message, if the value is messages. */
export function firstUserIn(recorded: unknown): string | undefined {
  if (typeof parsed(recorded) === "string") return undefined;
  const said = looseTurns(recorded, new LeftOut()).find(({ by }) => by === "environment");
  return said?.by === "environment" ? textOf(said.content) : undefined;
}

/** Content as plain text, if all of it is text. */
export function textOf(content: Content): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((part) => (isObject(part) ? (part.text ?? part.content) : part));
  return texts.every((text) => typeof text === "string") ? texts.join("") : undefined;
}
