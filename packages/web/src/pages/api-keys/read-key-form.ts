import type { ApiKeyCreateRequest, ApiKeyResponse, KeyScope } from "@presage/sdk";
import { formatCount } from "../../format/numbers.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-view.ts";

/** `revoke` asks whether to revoke the key with this id. */
export function readApiKeysSearch(search: Record<string, unknown>): TableSearch & { revoke?: string } {
  return { ...readTableSearch(search), ...(typeof search.revoke === "string" && { revoke: search.revoke }) };
}

export const expiries = ["never", "30", "90", "date"] as const;
export type Expiry = (typeof expiries)[number];

export interface NewKeyForm extends LimitsForm {
  name: string;
  expiry: Expiry;
  /** YYYY-MM-DD in the user's time zone. */
  date: string;
  /** Which predictions are stored; empty: the server's setting. */
  capture: string;
  /** Empty: everything that the user may do. */
  scopes: readonly KeyScope[];
}

export interface NewKeyIssues extends LimitIssues {
  name?: string | undefined;
  expires_at?: string | undefined;
}

const dayMs = 86_400_000;
const maxNameCharacters = 120;

/** The request, or the issues of the form. */
export function readNewKey(
  { name, expiry, date, capture, scopes, ...limitsForm }: NewKeyForm,
  nowMs: number,
): { request: ApiKeyCreateRequest; issues?: never } | { request?: never; issues: NewKeyIssues } {
  const { limits, issues: limitIssues } = readLimits(limitsForm);
  const issues: NewKeyIssues = { ...limitIssues };
  const trimmed = name.trim();
  if (trimmed === "") issues.name = "Give the key a name.";
  else if (trimmed.length > maxNameCharacters)
    issues.name = `The name has ${trimmed.length} characters; the maximum is ${maxNameCharacters}.`;

  const expiresAtMs = readExpiry(expiry, date, nowMs);
  if (expiresAtMs !== null && !(expiresAtMs > nowMs)) {
    issues.expires_at = Number.isNaN(expiresAtMs) ? "Choose a day." : "Choose today or a later day.";
  }

  if (Object.values(issues).some((issue) => issue !== undefined)) return { issues };
  const expires_at = expiresAtMs === null ? undefined : new Date(expiresAtMs).toISOString();
  const settings = { ...limits, capture: capture === "" ? null : capture };
  const chosen = scopes.length === 0 ? null : [...scopes];
  return { request: { name: trimmed, expires_at, ...settings, scopes: chosen } };
}

/** Null: never. A key that expires on a day is valid until its end in the user's time zone. */
function readExpiry(expiry: Expiry, date: string, nowMs: number): number | null {
  if (expiry === "never") return null;
  return expiry === "date" ? Date.parse(`${date}T23:59:59`) : nowMs + Number(expiry) * dayMs;
}

type KeyLimits = Required<Pick<ApiKeyResponse, "rate_limit_rpm" | "max_in_flight">>;

/** The limits as typed; empty for the server's limit. */
export type LimitsForm = Record<keyof KeyLimits, string>;

export type LimitIssues = { [Name in keyof KeyLimits]?: string | undefined };

const maxLimit = 1_000_000_000;

export function limitsForm({ rate_limit_rpm, max_in_flight }: Partial<KeyLimits>): LimitsForm {
  return { rate_limit_rpm: String(rate_limit_rpm ?? ""), max_in_flight: String(max_in_flight ?? "") };
}

/** The limits of a form, and the issues of its fields. */
export function readLimits(form: LimitsForm): { limits: KeyLimits; issues: LimitIssues } {
  return {
    limits: { rate_limit_rpm: readLimit(form.rate_limit_rpm), max_in_flight: readLimit(form.max_in_flight) },
    issues: { rate_limit_rpm: issueOf(form.rate_limit_rpm), max_in_flight: issueOf(form.max_in_flight) },
  };
}

/** The limits as text for a table; undefined if the key has none. */
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
