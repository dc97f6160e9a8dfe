/** How long a response asks to wait, in milliseconds. `Retry-After` is seconds or a date. */
export function readRetryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return undefined;
  // By the server's clock if the response has it, because the client's may be wrong.
  const serverNowMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, atMs - (Number.isNaN(serverNowMs) ? Date.now() : serverNowMs));
}
