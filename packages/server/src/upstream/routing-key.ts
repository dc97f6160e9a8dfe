import type { CompletionRequest, SessionHeader } from "./upstream.ts";

/**
 * What requests of one trajectory have in common, so that they come to one replica: the client's session, or the part of the
 * prompt that no step changes, which is the system turn and, in a chat of three or more messages, the first user turn. In a
 * shorter chat the user turn is the step itself.
 */
export function routingKeyOf(
  { messages }: Pick<CompletionRequest, "messages">,
  session: SessionHeader | undefined,
): number {
  if (session !== undefined) return hash(session.value);
  const system = contentOf(messages, "system");
  const user = messages.length >= 3 || system === undefined ? contentOf(messages, "user") : undefined;
  return hash(user ?? "", hash(system ?? ""));
}

function contentOf(messages: CompletionRequest["messages"], role: string): string | undefined {
  return messages.find((message) => message.role === role)?.content ?? undefined;
}

/** 32 bits, the same in every process. */
export function hash(text: string, seed = 0): number {
  return Number(BigInt.asUintN(32, Bun.hash.rapidhash(text, BigInt(seed))));
}
