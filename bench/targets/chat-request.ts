import { chatBody } from "../payload.ts";
import type { LoadRequest } from "./target.ts";

/** The composed prompt, as a client would send it without Presage. */
export const chatRequest = (origin: string, headers: Readonly<Record<string, string>> = {}): LoadRequest => ({
  url: `${origin}/v1/chat/completions`,
  headers: { "content-type": "application/json", authorization: "Bearer bench", ...headers },
  body: chatBody,
});
