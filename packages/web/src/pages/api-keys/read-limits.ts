import type { ApiKeyResponse } from "@presage/sdk";
import { formatCount } from "../../format/format-number.ts";

export type KeyLimits = Required<Pick<ApiKeyResponse, "rate_limit_rpm" | "max_in_flight">>;

/** What is typed; empty for the server's limit. */
export type LimitsForm = Record<keyof KeyLimits, string>;

export type LimitIssues = { [Name in keyof KeyLimits]?: string | undefined };

const maxLimit = 1_000_000_000;

export function limitsForm({ rate_limit_rpm, max_in_flight }: Partial<KeyLimits>): LimitsForm {
  return { rate_limit_rpm: String(rate_limit_rpm ?? ""), max_in_flight: String(max_in_flight ?? "") };
}

/** The limits of a form, and what is wrong with them. */
export function readLimits(form: LimitsForm): { limits: KeyLimits; issues: LimitIssues } {
  return {
    limits: { rate_limit_rpm: readLimit(form.rate_limit_rpm), max_in_flight: readLimit(form.max_in_flight) },
    issues: { rate_limit_rpm: issueOf(form.rate_limit_rpm), max_in_flight: issueOf(form.max_in_flight) },
  };
}

/** For a table; undefined if the key has none of its own. */
export function describeLimits({ rate_limit_rpm, max_in_flight }: Partial<KeyLimits>): string | undefined {
  const parts = [
    ...(rate_limit_rpm ? [`${formatCount(rate_limit_rpm)} a minute`] : []),
    ...(max_in_flight ? [`${formatCount(max_in_flight)} at once`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

function readLimit(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}

function issueOf(text: string): string | undefined {
  const limit = readLimit(text);
  if (limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= maxLimit)) return undefined;
  return `A whole number from 1 to ${formatCount(maxLimit)}, or nothing.`;
}
