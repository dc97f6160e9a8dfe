import { readTurn, simulateTurn } from "./simulate-turn.ts";

/** The parts of a chat-completions request that the sandbox uses. Other sampling parameters do not apply to rules. */
export interface ChatRequest {
  systemPrompt: string;
  userTurn: string;
  maxTokens: number;
}

const actionLabel = "Action: ";
/** The sandbox runs in the server's main thread, where a turn of this many characters takes 0.1 s. */
const maxPromptCharacters = 500_000;

/** Reads the body leniently, as upstreams do. Returns a message if the body is invalid. */
export function readChatRequest(body: unknown): ChatRequest | string {
  if (typeof body !== "object" || body === null || !("messages" in body))
    return "'messages' is a required property";
  if (!Array.isArray(body.messages) || body.messages.length === 0)
    return "'messages' must be a list that is not empty";
  if ("stream" in body && body.stream === true) return "The sandbox does not stream";

  const messages = body.messages.map(readMessage);
  const characters = messages.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > maxPromptCharacters) {
    return `The sandbox's maximum context length is ${maxPromptCharacters} characters. The messages have ${characters}.`;
  }
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  const maxTokens = [readLimit(body, "max_tokens"), readLimit(body, "max_completion_tokens")];
  return {
    systemPrompt: system.map(({ text }) => text).join("\n\n"),
    userTurn: readUserTurn(messages),
    maxTokens: Math.min(...maxTokens),
  };
}

/** The last user turn. If it has no state, the conversation is the state: it began with one, and the world has answered since. */
function readUserTurn(messages: readonly { role: unknown; text: string }[]): string {
  const turns = messages.filter(({ role }) => role === "user" || role === "assistant");
  const last = turns.findLast(({ role }) => role === "user")?.text ?? "";
  const [first, ...later] = turns.map(({ role, text }) => (role === "user" ? readTurn(text).state : text));
  if (later.length === 0 || !last.startsWith(actionLabel)) return last;
  return `State: ${[first, ...later].filter((text) => text !== "").join("\n")}\n\n${last}`;
}

function readMessage(message: unknown): { role: unknown; text: string } {
  if (typeof message !== "object" || message === null) return { role: undefined, text: "" };
  const role = "role" in message ? message.role : undefined;
  return { role, text: "content" in message ? readContent(message.content) : "" };
}

/** Content is a text or a list of parts, of which only text parts are read. */
function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) =>
      typeof part === "object" && part !== null && "text" in part ? String(part.text) : "",
    )
    .join("");
}

function readLimit(body: object, name: string): number {
  const limit: unknown = new Map(Object.entries(body)).get(name);
  return typeof limit === "number" && limit >= 1 ? Math.floor(limit) : Number.POSITIVE_INFINITY;
}

export const sandboxModel = {
  id: "presage-sandbox",
  object: "model",
  created: 1_767_225_600,
  owned_by: "presage",
  description:
    "A rule-based simulator of a text world. It is not a language model; it is built in so that you can try Presage.",
};

/** Responds with a `chat.completion` object. */
export function completeChat({ systemPrompt, userTurn, maxTokens }: ChatRequest): object {
  const observation = simulateTurn(systemPrompt, userTurn);
  const content = cutTokens(observation, maxTokens);
  const promptTokens = countTokens(systemPrompt) + countTokens(userTurn);
  const completionTokens = countTokens(content);
  return {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: sandboxModel.id,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content },
        finish_reason: content === observation ? "stop" : "length",
      },
    ],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

/**
 * The sandbox has no tokenizer. It counts each word and each punctuation mark as one token, which for English prose is
 * within about ten per cent of the counts of language models' tokenizers.
 */
const tokenPattern = /\w+|[^\w\s]/gu;

export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(tokenPattern)) count += 1;
  return count;
}

/** The text up to the end of token number `maxTokens`. */
export function cutTokens(text: string, maxTokens: number): string {
  let count = 0;
  for (const token of text.matchAll(tokenPattern)) {
    if (count === maxTokens) return text.slice(0, token.index).trimEnd();
    count += 1;
  }
  return text;
}
