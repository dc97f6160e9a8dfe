import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleCheck, CircleX, SkipForward, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect } from "react";
import { useRefusal } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import { resultQuery } from "../../data/results.ts";
import { runQuery } from "../../data/runs.ts";
import { formatCount } from "../../format/numbers.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { Agreement } from "../../parts/label-sample.tsx";
import { NewRunLink } from "../../parts/runs.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Awaited, EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { ScrollRegion } from "../../ui/page.tsx";
import { useShortcut } from "../../ui/shortcuts.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { ReviewCard } from "./review-card.tsx";
import { type ReviewSearch, toReviewFilter } from "./review-search.ts";
import { type Review, useReview, useSinglePresses } from "./use-review.ts";

/** One result after another, with the progress so far. */
export function ReviewQueue({
  search,
  onOpen,
}: {
  search: ReviewSearch;
  onOpen(id: string | undefined): void;
}) {
  const presage = usePresage();
  const queryClient = useQueryClient();
  const review = useReview(search, onOpen);
  const { queue, openId, nextId, item, failure } = review;
  const {
    data: result,
    error,
    refetch,
  } = useQuery({
    ...resultQuery(presage, openId ?? ""),
    enabled: openId !== undefined,
  });
  useEffect(() => {
    if (nextId !== undefined) void queryClient.prefetchQuery(resultQuery(presage, nextId));
  }, [queryClient, presage, nextId]);
  const isNothing = queue.data?.considered === 0;
  const decide = (pass: boolean | undefined) => review.decide(pass, result !== undefined);
  const mayLabel = useRefusal("evaluate") === undefined;
  useSinglePresses();
  useShortcut({ keys: "p", label: "Pass", group: "Review", run: () => decide(true) }, mayLabel);
  useShortcut({ keys: "f", label: "Fail", group: "Review", run: () => decide(false) }, mayLabel);
  useShortcut({ keys: "s", label: "Skip", group: "Review", run: () => decide(undefined) });
  useShortcut({ keys: "u", label: "Undo", group: "Review", run: review.undo });
  if (queue.error !== null) return <ErrorNotice error={queue.error} onRetry={queue.refetch} />;
  return (
    <section
      aria-label="Result to review"
      className="flex min-h-0 min-w-0 flex-1 flex-col rounded-lg border border-line bg-surface"
    >
      {!isNothing && (
        <Progress review={review} search={search}>
          <Agreement
            isShort
            of={
              result !== undefined || openId === undefined
                ? {
                    run: search.run,
                    evaluator: result?.evaluator_id,
                    profile_name: result?.profile_name ?? undefined,
                  }
                : undefined
            }
          />
        </Progress>
      )}
      {failure !== null && (
        <div className="px-4 pt-4">
          <ErrorNotice error={failure} />
        </div>
      )}
      {/* Takes the height that is left, so that the buttons stay where they are. */}
      <ScrollRegion
        key={openId}
        label="The output"
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        {openId === undefined && queue.data !== undefined ? (
          <NothingLeft review={review} search={search} />
        ) : result === undefined ? (
          <Awaited error={error} onRetry={refetch} count={4} className="h-16" />
        ) : (
          <ReviewCard result={result} item={item} />
        )}
      </ScrollRegion>
      {(openId !== undefined || review.canUndo) && (
        <VerdictBar
          canSkip={openId !== undefined}
          isReady={result !== undefined && openId !== undefined}
          canUndo={review.canUndo}
          onDecide={decide}
          onUndo={review.undo}
        />
      )}
    </section>
  );
}

interface ProgressProps extends NothingLeftProps {
  /** How far the evaluator agrees with people. */
  children: ReactNode;
}

function Progress({ review, search: { run: runId, drawn }, children }: ProgressProps) {
  const { queue, given, skipped, waiting } = review;
  const { data: run } = useQuery({ ...runQuery(usePresage(), runId ?? ""), enabled: drawn !== undefined });
  const all = given + skipped + waiting;
  return (
    <header className="flex flex-col gap-1.5 border-b border-line px-4 py-2.5">
      <div
        role="progressbar"
        aria-label="Reviewed of this queue"
        aria-valuemin={0}
        aria-valuemax={all}
        aria-valuenow={given + skipped}
        className={clsx("h-1 overflow-hidden rounded-full bg-sunken", given + skipped === 0 && "invisible")}
      >
        <div
          className="h-1 rounded-full bg-accent transition-[width]"
          style={{ width: `${all === 0 ? 0 : ((given + skipped) / all) * 100}%` }}
        />
      </div>
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <p aria-live="polite" className="flex min-h-5 flex-wrap gap-x-4 text-sm text-ink-2 tabular-nums">
          {run !== undefined && (
            <Link
              to="/runs/$runId"
              params={{ runId: run.id }}
              className="text-accent-ink underline-offset-2 hover:underline"
            >
              <InlineText text={`Run ${run.name}`} />
            </Link>
          )}
          {queue.data !== undefined && (
            <span>
              <b className="font-semibold text-ink">{formatCount(given)}</b> labelled
              {skipped > 0 && `, ${formatCount(skipped)} skipped`}, {formatCount(waiting)} left in this queue
            </span>
          )}
        </p>
        {children}
      </div>
    </header>
  );
}

interface NothingLeftProps {
  review: Review;
  search: ReviewSearch;
}

function NothingLeft({ review: { given, skipped, queue, loadMore }, search }: NothingLeftProps) {
  const { run, drawn } = search;
  const more = (
    <Button variant="primary" onClick={loadMore}>
      Load more
    </Button>
  );
  const again = `${formatCount(skipped)} skipped, which will come again.`;
  if (run !== undefined && drawn !== undefined) {
    const isGone = queue.data?.considered === 0;
    return (
      <EmptyState
        icon={CircleCheck}
        title={
          isGone
            ? "This sample is not there"
            : skipped > 0
              ? `${formatCount(given)} labelled`
              : "This sample is labelled"
        }
        actions={
          <>
            {skipped > 0 && more}
            <Link to="/runs/$runId" params={{ runId: run }} className={buttonClass({})}>
              Back to the run
            </Link>
          </>
        }
      >
        {isGone
          ? "A run’s page draws another."
          : skipped > 0
            ? again
            : "The run’s page has the corrected pass rates, where labels are enough."}
      </EmptyState>
    );
  }
  if (given + skipped === 0) {
    const isFiltered = Object.keys(toReviewFilter(search)).length > 0;
    const isNothing = queue.data?.considered === 0;
    return (
      <EmptyState
        icon={CircleCheck}
        title={!isNothing ? "Nothing to label" : isFiltered ? "No verdicts match" : "No verdicts yet"}
        actions={isNothing && <NewRunLink>New run</NewRunLink>}
      >
        {isNothing
          ? `${isFiltered ? "Choose another evaluator, or evaluate something first" : "Evaluate something first"}: a run judges each of its predictions, and here you do.`
          : "Nothing is disputed or uncertain that nobody has labelled. A run’s page draws verdicts at random."}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={CircleCheck} title={`${formatCount(given)} labelled`} actions={more}>
      {skipped > 0 ? again : "This queue is done."}
    </EmptyState>
  );
}

interface VerdictBarProps {
  canSkip: boolean;
  isReady: boolean;
  canUndo: boolean;
  onDecide(pass: boolean | undefined): void;
  onUndo(): void;
}

/** The four actions on a result, each with its key. */
function VerdictBar({ canSkip, isReady, canUndo, onDecide, onUndo }: VerdictBarProps) {
  return (
    <div className="grid grid-cols-4 gap-2 border-t border-line p-2 sm:flex sm:justify-end sm:px-4">
      <Button icon={<Undo2 aria-hidden />} disabled={!canUndo} onClick={onUndo} className="max-sm:h-11">
        Undo
        <Key>U</Key>
      </Button>
      <Button
        icon={<SkipForward aria-hidden />}
        disabled={!canSkip}
        onClick={() => onDecide(undefined)}
        className="max-sm:h-11"
      >
        Skip
        <Key>S</Key>
      </Button>
      <AllowedButton
        needs="evaluate"
        icon={<CircleX className="text-fail" aria-hidden />}
        disabled={!isReady}
        onClick={() => onDecide(false)}
        className="max-sm:h-11 sm:w-28"
      >
        Fail
        <Key>F</Key>
      </AllowedButton>
      <AllowedButton
        needs="evaluate"
        icon={<CircleCheck className="text-pass" aria-hidden />}
        disabled={!isReady}
        onClick={() => onDecide(true)}
        className="max-sm:h-11 sm:w-28"
      >
        Pass
        <Key>P</Key>
      </AllowedButton>
    </div>
  );
}

function Key({ children }: { children: ReactNode }) {
  return (
    <kbd
      aria-hidden
      className="rounded border border-line bg-sunken px-1 font-mono text-[0.6875rem] leading-4 text-ink-2 max-sm:hidden"
    >
      {children}
    </kbd>
  );
}
