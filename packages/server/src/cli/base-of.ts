/** A server's address without the `/v1` that OpenAI clients want at its end. */
export function baseOf(server: string): string {
  return server.replace(/\/+$/, "").replace(/\/v1$/, "");
}
