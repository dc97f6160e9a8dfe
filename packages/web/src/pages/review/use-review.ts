import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { type OwnLabel, reviewQueueQuery, useFindOwnLabel, useGiveLabel } from "../../data/review.ts";
import { isTyping } from "../../ui/shortcuts.tsx";
import { type ReviewSearch, toReviewFilter } from "./review-search.ts";

/** A person's decision about a result. */
interface Decision {
  id: string;
  /** Undefined: the result was skipped. */
  pass: boolean | undefined;
}

/** The queue, and the decisions made in it. */
export function useReview(search: ReviewSearch, onOpen: (id: string | undefined) => void) {
  const presage = usePresage();
  const findOwnLabel = useFindOwnLabel();
  const giveLabel = useGiveLabel();
  const [round, setRound] = useState(1);
  const [decisions, setDecisions] = useState<readonly Decision[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  /** Decisions are saved one at a time, so that an undo comes after what it undoes. */
  const saving = useRef<Promise<void>>(Promise.resolve());
  /** The person's previous label of each decided result. */
  const before = useRef(new Map<string, OwnLabel>());
  const { run, drawn } = search;
  const isDrawn = run !== undefined && drawn !== undefined;
  const request = isDrawn ? { run, id: drawn } : { ...toReviewFilter(search), seed: round };
  const queue = useQuery(reviewQueueQuery(presage, request, round));

  const done = new Set(decisions.map(({ id }) => id));
  // Results without a reason to be reviewed are labelled only where they were drawn.
  const items = (queue.data?.data ?? []).filter(({ reason }) => isDrawn || reason !== "drawn");
  const waiting = items.filter(({ id }) => !done.has(id));
  const linked = search.result !== undefined && !done.has(search.result) ? search.result : undefined;
  const openId = linked ?? waiting[0]?.id;
  const nextId = waiting.find(({ id }) => id !== openId)?.id;

  function save(work: () => Promise<void>): void {
    saving.current = saving.current.then(work).catch(setFailure);
  }

  function decide(pass: boolean | undefined, isRead: boolean): void {
    // A result that could not be loaded can only be skipped.
    if (openId === undefined || (pass !== undefined && !isRead)) return;
    setFailure(null);
    setDecisions([...decisions, { id: openId, pass }]);
    if (pass !== undefined) {
      save(async () => {
        try {
          before.current.set(openId, await findOwnLabel(openId));
          await giveLabel(openId, { label: pass ? "pass" : "fail" });
        } catch (error) {
          // Saving failed, so the result is still undecided.
          setDecisions((all) => all.filter(({ id }) => id !== openId));
          throw error;
        }
      });
    }
    onOpen(nextId);
  }

  function undo(): void {
    const last = decisions.at(-1);
    if (last === undefined) return;
    setFailure(null);
    setDecisions(decisions.slice(0, -1));
    if (last.pass !== undefined)
      save(async () => {
        const earlier = before.current.get(last.id);
        if (earlier !== undefined) await giveLabel(last.id, earlier);
      });
    onOpen(last.id);
  }

  return {
    queue,
    openId,
    nextId,
    item: items.find(({ id }) => id === openId),
    failure,
    waiting: waiting.length,
    given: decisions.filter(({ pass }) => pass !== undefined).length,
    skipped: decisions.filter(({ pass }) => pass === undefined).length,
    canUndo: decisions.length > 0,
    decide,
    undo,
    /** Loads the next results; skipped ones appear again. */
    loadMore() {
      setDecisions([]);
      setRound(round + 1);
      onOpen(undefined);
    },
  };
}

export type Review = ReturnType<typeof useReview>;

/** A held key repeats faster than anyone can decide. It must not decide on the results that follow. */
export function useSinglePresses(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // Shortcuts ignore events that were prevented; other keys, such as those that scroll, repeat.
      if (event.repeat && event.key.length === 1 && !isTyping(event.target)) event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}
