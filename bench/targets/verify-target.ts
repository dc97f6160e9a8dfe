import { answerExcerpt, expectedMessages } from "../payload.ts";
import type { Upstream } from "./start-upstream.ts";
import type { LoadRequest, TargetName } from "./target.ts";

/** One request by hand: every target must hand the upstream the same prompt, and its answer back to the caller. */
export const verifyTarget = async (
  name: TargetName,
  request: LoadRequest,
  upstream: Upstream,
): Promise<void> => {
  await upstream.set(0, true);
  const { url, headers, body } = request;
  const response = await fetch(url, { method: "POST", headers, body, keepalive: false });
  const answer = await response.text();
  if (response.status !== 200 || !answer.includes(answerExcerpt)) {
    throw new Error(`${name} answered ${response.status}: ${answer.slice(0, 500)}`);
  }
  const { lastBody } = await upstream.read();
  const { messages } = JSON.parse(lastBody) as { messages?: unknown };
  if (JSON.stringify(messages) !== expectedMessages) {
    throw new Error(`${name} sent another prompt to the upstream: ${lastBody.slice(0, 500)}`);
  }
};
