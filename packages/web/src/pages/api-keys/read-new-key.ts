import type { ApiKeyCreateRequest } from "@presage/sdk";

export const expiries = ["never", "30", "90", "date"] as const;
export type Expiry = (typeof expiries)[number];

export interface NewKeyForm {
  name: string;
  expiry: Expiry;
  /** A day of the reader's calendar, as YYYY-MM-DD. */
  date: string;
}

export interface NewKeyFaults {
  name?: string;
  expires_at?: string;
}

const dayMs = 86_400_000;
const mostNameCharacters = 120;

/** What to ask the server for, or what is wrong with the form. */
export function readNewKey(
  { name, expiry, date }: NewKeyForm,
  nowMs: number,
): { request: ApiKeyCreateRequest; faults?: never } | { request?: never; faults: NewKeyFaults } {
  const faults: NewKeyFaults = {};
  const trimmed = name.trim();
  if (trimmed === "") faults.name = "Give the key a name.";
  else if (trimmed.length > mostNameCharacters)
    faults.name = `The name has ${trimmed.length} characters; ${mostNameCharacters} is the most.`;

  const expiresAtMs = readExpiry(expiry, date, nowMs);
  if (expiresAtMs !== null && !(expiresAtMs > nowMs)) {
    faults.expires_at = Number.isNaN(expiresAtMs) ? "Choose a day." : "Choose a day that is not over.";
  }

  if (faults.name !== undefined || faults.expires_at !== undefined) return { faults };
  const expiresAt = expiresAtMs === null ? {} : { expires_at: new Date(expiresAtMs).toISOString() };
  return { request: { name: trimmed, ...expiresAt } };
}

/** Null: never. A day counts to its end, where the reader is. */
function readExpiry(expiry: Expiry, date: string, nowMs: number): number | null {
  if (expiry === "never") return null;
  return expiry === "date" ? Date.parse(`${date}T23:59:59`) : nowMs + Number(expiry) * dayMs;
}
