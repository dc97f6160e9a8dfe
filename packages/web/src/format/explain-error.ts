import { PresageError, type PresageErrorCategory } from "@presage/sdk";

interface Explanation {
  title: string;
  /** What the reader can do. */
  advice: string;
}

const titles: Record<PresageErrorCategory, string> = {
  context_exceeded: "Too much text for the model",
  rate_limit: "Too many requests",
  upstream: "The model gave no usable answer",
  unavailable: "Not available right now",
  timeout: "It took too long",
  unauthenticated: "You are signed out",
  forbidden: "Not allowed",
  not_found: "There is no such thing",
  conflict: "This conflicts with what is there",
  invalid: "Something in the request is wrong",
  connection: "Presage cannot be reached",
  unexpected: "Something went wrong on the server",
};

/** Besides when to try again, where that is all that it takes. */
const advices: Record<PresageErrorCategory, string> = {
  context_exceeded: "Shorten the context or the state, or ask for fewer tokens.",
  rate_limit: "",
  upstream: "Try again. If it stays so, look at the model’s own answer and at its log.",
  unavailable: "Nothing that you typed is lost.",
  timeout: "Try again, or ask for fewer tokens.",
  unauthenticated: "Sign in again to go on.",
  forbidden: "Reload the page; if it stays so, sign out and in again.",
  not_found: "It may have been removed, or it belongs to another account.",
  conflict: "Reload to see what is there.",
  invalid: "Change what is named below and try again.",
  connection: "Check the connection, and whether the server runs. Nothing that you typed is lost.",
  unexpected: "Try again. If it stays so, give the request’s id to whoever runs the server.",
};

/** What went wrong and what to do, for a person. */
export function explainError(error: unknown): Explanation {
  if (!(error instanceof PresageError)) {
    return {
      title: "Something went wrong in this page",
      advice: "Reload it. If it stays so, tell whoever runs the server.",
    };
  }
  const { category, message, retryAfterMs } = error;
  const isSaid = message === `${titles[category]}.` || (category === "invalid" && error.faults.length > 0);
  const advice = [isSaid ? "" : message, whenToRetry(category, retryAfterMs), advices[category]];
  return { title: titles[category], advice: advice.filter((sentence) => sentence !== "").join(" ") };
}

function whenToRetry(category: PresageErrorCategory, retryAfterMs: number | undefined): string {
  if (retryAfterMs !== undefined) return `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  return category === "rate_limit" || category === "unavailable" ? "Try again in a moment." : "";
}
