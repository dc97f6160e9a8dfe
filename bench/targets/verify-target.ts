import { completionExcerpt, expectedMessages } from "../payload.ts";
import type { Upstream } from "./start-upstream.ts";
import type { LoadRequest, TargetName } from "./target.ts";

/** Sends one request: every target must send the same prompt to the upstream and return its response. */
export const verifyTarget = async (
  name: TargetName,
  request: LoadRequest,
  upstream: Upstream,
): Promise<void> => {
  await upstream.set(0, true);
  const { url, headers, body } = request;
  const response = await fetch(url, { method: "POST", headers, body, keepalive: false });
  const text = await response.text();
  if (response.status !== 200 || !text.includes(completionExcerpt)) {
    throw new Error(`${name} answered ${response.status}: ${text.slice(0, 500)}`);
  }
  const { lastBody } = await upstream.read();
  const { messages } = JSON.parse(lastBody) as { messages?: unknown };
  if (JSON.stringify(messages) !== expectedMessages) {
    throw new Error(`${name} sent a different prompt to the upstream: ${lastBody.slice(0, 500)}`);
  }
};
