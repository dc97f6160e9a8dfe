import { useState } from "react";
import { signedInUserId } from "../../../session/signed-in-user-id.ts";
import { type Draft, emptyDraft, isEmptyDraft, parseDraft } from "./draft.ts";

/** What is typed, kept in this tab across reloads and sign-in, for its user alone. */
export function usePlaygroundDraft() {
  const storageKey = `presage-playground-draft:${signedInUserId()}`;
  const [draft, setDraft] = useState(() => parseDraft(sessionStorage.getItem(storageKey)));
  const [cleared, setCleared] = useState<Draft>();
  const [isKept, setKept] = useState(true);

  function replace(next: Draft) {
    setDraft(next);
    try {
      sessionStorage.setItem(storageKey, JSON.stringify(next));
      setKept(true);
    } catch {
      // Browsers keep about 5 MB for a tab.
      setKept(false);
    }
  }

  const isEmpty = isEmptyDraft(draft);
  return {
    draft,
    isEmpty,
    /** False if it is too long for the browser to keep. */
    isKept,
    replace,
    change: (part: Partial<Draft>) => replace({ ...draft, ...part }),
    clear() {
      setCleared(draft);
      replace(emptyDraft);
    },
    /** Brings back what was cleared; undefined where there is nothing to bring back, or something new to lose. */
    undoClear: cleared !== undefined && isEmpty ? () => replace(cleared) : undefined,
  };
}
