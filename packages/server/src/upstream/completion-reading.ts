import { readMessage, readTokenCounts } from "./read-completion.ts";
import type { CompletionBody, CompletionChoice } from "./upstream.ts";

/**
 * What is read of a completion, under the names that it has there. Everything else, such as log probabilities, which take far more memory
 * parsed than as bytes, is not in it.
 */
export interface CompletionReading extends CompletionBody {
  choices: [ReadChoice];
}

interface ReadChoice extends CompletionChoice {
  message: { content: string; reasoning: string | undefined };
}

export function readCompletion({ model, usage, choices: [choice] }: CompletionBody): CompletionReading {
  const { content, reasoning } = readMessage(choice);
  return {
    model: scalarOf(model),
    usage: readTokenCounts(usage),
    choices: [
      {
        message: { content: copyOf(content), reasoning: reasoning && copyOf(reasoning) },
        finish_reason: scalarOf(choice.finish_reason),
        matched_stop: scalarOf(choice.matched_stop),
        stop_reason: scalarOf(choice.stop_reason),
      },
    ],
  };
}

/** The memory of a reading's texts. */
export function bytesOfTexts({ choices: [{ message }] }: CompletionReading): number {
  return bytesOf(message.content) + bytesOf(message.reasoning ?? "");
}

function bytesOf(text: string): number {
  return text.length * (isLatin1(text) ? 1 : 2);
}

/** The same text in no more memory than it needs. The parser leaves room at its end, and may take two bytes for each character. */
function copyOf(text: string): string {
  const encoding = isLatin1(text) ? "latin1" : "utf16le";
  return Buffer.from(text, encoding).toString(encoding);
}

function isLatin1(text: string): boolean {
  return !/[\u0100-\uffff]/.test(text);
}

function scalarOf(value: unknown): string | number | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
