import type { CustomFetch } from "openid-client";
import { readBodyWithin } from "../../limits/read-body-within.ts";

/** Many times what providers say of themselves, of their keys and of a person. */
const maxAnswerBytes = 1_000_000;

/** What a provider answers, read whole: one that never ends must not take the server's memory. */
export const fetchAnswer: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const body = await readBodyWithin(response, maxAnswerBytes);
  if (body === undefined) throw new Error("The provider's answer is too large.");
  const { status, headers } = response;
  return new Response(body.length === 0 ? null : body, { status, headers });
};
