import { completion, type TestUpstream } from "./upstream.ts";

/** Makes the upstream repeat what it was told last. */
export function echo(upstream: Pick<TestUpstream, "answer">): void {
  upstream.answer = ({ body }) => Response.json(completion(`after ${body.messages.at(-1)?.content}`));
}
