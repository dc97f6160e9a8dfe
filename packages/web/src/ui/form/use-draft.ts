import { useState } from "react";
import { signedInUserId } from "../../session/signed-in-user-id.ts";

export interface DraftHandle<Draft> {
  draft: Draft;
  /** Whether it differs from what there was at first. */
  isChanged: boolean;
  change(part: Partial<Draft>): void;
  /** Back to what there was at first. */
  discard(): void;
}

/**
 * What is being typed: it outlives closing the form, loading the page anew and signing in again, until the tab is closed.
 * It is its user’s alone: another one may sign in with this tab.
 */
export function useDraft<Draft extends Record<string, string>>(
  key: string,
  initial: Draft,
): DraftHandle<Draft> {
  const place = `draft:${signedInUserId()}:${key}`;
  const [draft, setDraft] = useState(() => readDraft(place, initial));
  return {
    draft,
    isChanged: Object.entries(initial).some(([name, text]) => draft[name] !== text),
    change(part) {
      const next = { ...draft, ...part };
      setDraft(next);
      keepDraft(place, next);
    },
    discard() {
      setDraft(initial);
      sessionStorage.removeItem(place);
    },
  };
}

function readDraft<Draft extends Record<string, string>>(place: string, initial: Draft): Draft {
  const kept = sessionStorage.getItem(place);
  if (kept === null) return initial;
  // Another version of the page may have kept it: only what this one knows counts.
  const stored: Record<string, unknown> = JSON.parse(kept);
  const known = Object.keys(initial).filter((name) => typeof stored[name] === "string");
  return { ...initial, ...Object.fromEntries(known.map((name) => [name, stored[name]])) };
}

function keepDraft(place: string, draft: Record<string, string>): void {
  try {
    sessionStorage.setItem(place, JSON.stringify(draft));
  } catch {
    // Too long for the browser's memory: the form still has it.
  }
}
