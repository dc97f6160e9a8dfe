/** The client reads lines, and each of them into one buffer. */
const maxChunkCharacters = 4_096;

/** A server-sent event. */
export function toEvent(name: "task_id" | "chunk" | "end" | "error", data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** Keeps the connection alive. */
export const comment = ": waiting\n\n";

/**
 * JSON in chunks whose concatenation is the same value. The client strips white space, all that Unicode has, from the left of each, so
 * none begins with any: JSON has it in its strings only, where it can be escaped.
 */
export function toChunks(json: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < json.length; ) {
    const to = endOfChunk(json, from + maxChunkCharacters);
    chunks.push(escapeFirst(json.slice(from, to)));
    from = to;
  }
  return chunks;
}

/** Not between the halves of a character. */
function endOfChunk(json: string, wanted: number): number {
  const code = json.charCodeAt(wanted - 1);
  const isFirstHalf = code >= 0xd800 && code <= 0xdbff;
  return isFirstHalf && wanted < json.length ? wanted - 1 : wanted;
}

/** Python's white space: \s and five characters more. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are white space to the client
const firstWhiteSpace = /^[\s\u001c-\u001f\u0085]/;

function escapeFirst(chunk: string): string {
  return chunk.replace(firstWhiteSpace, (space) => `\\u${space.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
