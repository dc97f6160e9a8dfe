import { useState } from "react";
import { signedInUserId } from "../../session/signed-in-user-id.ts";

export interface DraftHandle<Draft> {
  draft: Draft;
  /** Whether it differs from the initial draft. */
  isChanged: boolean;
  change(part: Partial<Draft>): void;
  /** Resets to the initial draft. */
  discard(): void;
}

/**
 * Form input that survives closing the form, reloading the page and signing in again, until the tab is closed.
 * Stored per user, since another one may sign in with this tab.
 */
export function useDraft<Draft extends Record<string, string>>(
  key: string,
  initial: Draft,
): DraftHandle<Draft> {
  const storageKey = `draft:${signedInUserId()}:${key}`;
  // Only what was entered: the rest follows the initial draft, of which some may still be loading.
  const [entered, setEntered] = useState(() => readEntered(storageKey, initial));
  const draft = { ...initial, ...entered };
  return {
    draft,
    isChanged: Object.entries(initial).some(([name, text]) => draft[name] !== text),
    change(part) {
      const next = { ...entered, ...part };
      setEntered(next);
      storeDraft(storageKey, next);
    },
    discard() {
      setEntered({});
      sessionStorage.removeItem(storageKey);
    },
  };
}

function readEntered<Draft extends Record<string, string>>(
  storageKey: string,
  initial: Draft,
): Partial<Draft> {
  const json = sessionStorage.getItem(storageKey);
  if (json === null) return {};
  // Another version of the page may have stored it: take only the fields that this one knows.
  const stored: Record<string, unknown> = JSON.parse(json);
  const known = Object.entries(stored).filter(([name, text]) => name in initial && typeof text === "string");
  return Object.fromEntries(known) as Partial<Draft>;
}

function storeDraft(storageKey: string, draft: Partial<Record<string, string>>): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(draft));
  } catch {
    // Too long for the browser's storage: the form still has it.
  }
}
