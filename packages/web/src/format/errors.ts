import { PresageError, type PresageErrorCategory, type UsageFailure } from "@presage/sdk";
import { counted } from "./numbers.ts";

interface Explanation {
  title: string;
  /** What the user can do. */
  advice: string;
}

const titles: Record<PresageErrorCategory, string> = {
  context_exceeded: "Too much text for the model",
  rate_limit: "Too many requests",
  upstream: "The model gave no usable response",
  unusable_completion: "The model’s answer cannot be used",
  unavailable: "Not available right now",
  timeout: "Timeout",
  unauthenticated: "You are signed out",
  budget_exhausted: "The budget is spent",
  forbidden: "Not allowed",
  not_found: "Not found",
  conflict: "Not possible now",
  reality_alarm: "Too many false successes",
  too_large: "Too much at once",
  invalid: "Invalid request",
  connection: "Presage cannot be reached",
  unexpected: "Something went wrong on the server",
};

/** What to do other than trying again later. */
const advices: Record<PresageErrorCategory, string> = {
  context_exceeded: "Shorten the context or the state, or ask for fewer tokens.",
  rate_limit: "",
  upstream: "Try again. If this persists, check the model’s response and its log.",
  unusable_completion: "",
  unavailable: "Your input is still here.",
  timeout: "Try again, or ask for fewer tokens.",
  unauthenticated: "Sign in again to continue.",
  budget_exhausted: "",
  forbidden: "",
  not_found: "The ID may be wrong, or it may belong to another account.",
  conflict: "Reload to see the current state.",
  reality_alarm: "",
  too_large: "",
  invalid: "Correct the issues below and try again.",
  connection: "Check your connection and whether the server is running. Your input is still here.",
  unexpected: "Try again. If this persists, give the request ID to your administrator.",
};

/** An error of the dashboard itself, with advice. Other errors come from the browser or React, and mean nothing to users. */
export class PageError extends Error {}

export function explainError(error: unknown): Explanation {
  if (!(error instanceof PresageError)) {
    const reload = "Reload the page. If this persists, contact your administrator.";
    return {
      title: "Something went wrong on this page",
      advice: error instanceof PageError ? error.message : reload,
    };
  }
  const { category, message, retryAfterMs } = error;
  const isRedundant =
    // The browser shows the address, which is all that the message adds.
    (category === "connection" && message.startsWith(titles[category])) ||
    (category === "invalid" && error.issues.length > 0);
  const advice = [isRedundant ? "" : message, whenToRetry(category, retryAfterMs), advices[category]];
  return { title: titles[category], advice: advice.filter((sentence) => sentence !== "").join(" ") };
}

function whenToRetry(category: PresageErrorCategory, retryAfterMs: number | undefined): string {
  if (retryAfterMs !== undefined) return `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  return category === "rate_limit" || category === "unavailable" ? "Try again in a moment." : "";
}

/** Labels of the reasons why requests failed, for charts and tables. */
export const failureLabels: Record<UsageFailure, string> = {
  context_exceeded: "Too much text for the model",
  rate_limit: "Too many requests",
  upstream: "No usable response from the model",
  unusable_completion: "No usable text from the model",
  unavailable: "Model or server unavailable",
  timeout: "Timeout",
  budget: "Budget spent",
  invalid: "Invalid request",
  other: "Client disconnected or server error",
};

/** Why an evaluation has no verdict. */
export type Cause = "error" | "contradictory" | "unusable-input";

const causes: Record<Cause, string> = {
  error: "error",
  contradictory: "contradictory verdict",
  "unusable-input": "unusable input",
};

/** “94 unusable inputs” */
export function describeCause(cause: Cause, count: number): string {
  return counted(count, causes[cause]);
}

/** An issue's message without the words that pydantic's errors begin with. */
export function plainMessage(msg: string): string {
  return msg.replace(/^Value error, /, "");
}
