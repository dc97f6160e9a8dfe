import { useState } from "react";
import { signedInUserId } from "../../../session/signed-in-user-id.ts";
import { type Draft, emptyDraft, isEmptyDraft, parseDraft } from "./draft.ts";

function draftKey(): string {
  return `presage-playground-draft:${signedInUserId()}`;
}

/** Whether other pages can fill the playground without replacing anything. */
export function isPlaygroundEmpty(): boolean {
  return isEmptyDraft(parseDraft(sessionStorage.getItem(draftKey())));
}

/** Replaces the playground's input, before it is opened. */
export function fillPlayground(draft: Draft): void {
  try {
    sessionStorage.setItem(draftKey(), JSON.stringify(draft));
  } catch {
    // Longer than a browser keeps for a tab: the playground opens as it was.
  }
}

/** The input, stored in this tab across reloads and sign-ins, for its user only. */
export function usePlaygroundDraft() {
  const storageKey = draftKey();
  const [draft, setDraft] = useState(() => parseDraft(sessionStorage.getItem(storageKey)));
  const [cleared, setCleared] = useState<Draft>();
  const [isStored, setStored] = useState(true);

  function replace(next: Draft) {
    setDraft(next);
    try {
      sessionStorage.setItem(storageKey, JSON.stringify(next));
      setStored(true);
    } catch {
      // Browsers keep about 5 MB for a tab.
      setStored(false);
    }
  }

  const isEmpty = isEmptyDraft(draft);
  return {
    draft,
    isEmpty,
    /** False if it is too long for the browser to store. */
    isStored,
    replace,
    change: (part: Partial<Draft>) => replace({ ...draft, ...part }),
    clear() {
      setCleared(draft);
      replace(emptyDraft);
    },
    /** Undefined if nothing was cleared, or if there is new input to lose. */
    undoClear: cleared !== undefined && isEmpty ? () => replace(cleared) : undefined,
  };
}
