import { type Environment, type EnvironmentTask, type Episode, newIdempotencyKey } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ArrowRight, RotateCcw } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTakeStep } from "../../../data/episodes.ts";
import { counted, formatScore } from "../../../format/numbers.ts";
import { describeStopReason, EpisodeBadge } from "../../../parts/episodes.tsx";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { ActionInput } from "./action-input.tsx";
import { TaskCard } from "./task-card.tsx";
import { ActionLine, Observation, Turn } from "./turn.tsx";

interface PlayedEpisodeProps {
  environment: Environment;
  task: EnvironmentTask;
  /** Undefined before the first step. */
  episode: Episode | undefined;
  onStarted(episodeId: string): void;
  onAgain(): void;
  /** Undefined if there is no other task. */
  onNext: (() => void) | undefined;
}

/** A conversation with the world: actions and its answers. */
export function PlayedEpisode({
  environment,
  task,
  episode,
  onStarted,
  onAgain,
  onNext,
}: PlayedEpisodeProps) {
  const [sent, setSent] = useState<{ action: string; key: string; after: number }>();
  const [isMarked, setMarked] = useState(false);
  const [text, setText] = useState("");
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  // A user who has left for another task is not taken back.
  const take = useTakeStep({ onStarted: (id) => isShown.current && onStarted(id) });
  const log = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const steps = episode?.steps ?? [];
  // If the step was stored but its response lost, the episode has the step after it is reloaded.
  const pending = sent !== undefined && steps.length === sent.after ? sent : undefined;
  const isOver = episode !== undefined && episode.status !== "open";

  // Keeps the newest turn visible, without animation.
  // biome-ignore lint/correctness/useExhaustiveDependencies: these make the log grow
  useLayoutEffect(() => {
    const box = log.current;
    if (box !== null) box.scrollTop = steps.length === 0 && pending === undefined ? 0 : box.scrollHeight;
  }, [steps.length, pending, take.error, isOver]);

  function send(action: string, key = newIdempotencyKey()): void {
    setSent({ action, key, after: steps.length });
    take.mutate(
      {
        episodeId: episode?.id,
        task: { environment: environment.name, split: task.split, index: task.index },
        action,
        key,
      },
      { onSuccess: () => setSent(undefined) },
    );
  }

  /** Nothing was stored, so the action can still be changed. */
  function edit(action: string): void {
    setSent(undefined);
    take.reset();
    setText(action);
    input.current?.focus();
  }

  return (
    <div className="mx-auto flex min-h-0 w-full max-w-4xl flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface">
      <TaskCard
        environment={environment}
        task={task}
        episode={episode}
        isMarked={isMarked}
        onMark={setMarked}
      />
      <div
        ref={log}
        role="log"
        aria-label="What happened"
        tabIndex={0}
        className="min-h-24 flex-1 overflow-y-auto px-4 py-3 -outline-offset-2"
      >
        <ol className="flex flex-col gap-3">
          <li>
            <Observation text={task.initial_state} />
          </li>
          {steps.map((step, index) => (
            <Turn
              key={step.info.step}
              episodeId={episode?.id ?? ""}
              step={step}
              before={steps[index - 1]?.observation ?? task.initial_state}
              isMarked={isMarked}
            />
          ))}
          {pending !== undefined && (
            <PendingTurn
              action={pending.action}
              error={take.error}
              onRetry={() => send(pending.action, pending.key)}
              onEdit={() => edit(pending.action)}
            />
          )}
        </ol>
      </div>
      {isOver ? (
        <EpisodeEnd episode={episode} onAgain={onAgain} onNext={onNext} />
      ) : (
        <ActionInput
          ref={input}
          text={text}
          earlier={steps.map(({ action }) => action)}
          isBusy={pending !== undefined && take.error === null}
          isBlocked={pending !== undefined}
          onChange={setText}
          onSend={(action) => {
            setText("");
            send(action);
          }}
        />
      )}
    </div>
  );
}

interface PendingTurnProps {
  action: string;
  /** Why the world did not answer. */
  error: Error | null;
  onRetry(): void;
  onEdit(): void;
}

/** An action that the world has not answered. A failure is not an observation: the action can be sent again. */
function PendingTurn({ action, error, onRetry, onEdit }: PendingTurnProps) {
  return (
    <li className="flex flex-col gap-1.5">
      <ActionLine action={action} />
      {error === null ? (
        <Waiting />
      ) : (
        <>
          <ErrorNotice error={error} onRetry={onRetry} />
          <p className="flex flex-wrap items-center gap-2 text-xs text-ink-3">
            The episode stands where it was.
            <Button size="small" variant="quiet" onClick={onEdit}>
              Try another action
            </Button>
          </p>
        </>
      )}
    </li>
  );
}

const tickMs = 1_000;

function Waiting() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const ticking = setInterval(() => setSeconds((before) => before + 1), tickMs);
    return () => clearInterval(ticking);
  }, []);
  return (
    <p className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2 text-sm leading-6 text-ink-3">
      <span className="inline-flex gap-1" aria-hidden>
        {["", "[animation-delay:150ms]", "[animation-delay:300ms]"].map((delay) => (
          <span key={delay} className={`size-1.5 animate-pulse rounded-full bg-ink-3 ${delay}`} />
        ))}
      </span>
      <span className="sr-only">Waiting for the answer</span>
      {seconds > 1 && <span className="tabular-nums">{seconds} s</span>}
    </p>
  );
}

interface EpisodeEndProps {
  episode: Episode;
  onAgain(): void;
  onNext: (() => void) | undefined;
}

/** How the episode ended, shown in place of the input; Enter continues. */
function EpisodeEnd({ episode, onAgain, onNext }: EpisodeEndProps) {
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => next.current?.focus({ preventScroll: true }), []);
  const { reward, steps_taken: steps, status, stop_reason: reason } = episode;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-surface p-2.5">
      <div
        role="status"
        className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-x-2 gap-y-1 px-1 text-sm"
      >
        <EpisodeBadge episode={episode} />
        <span className="tabular-nums">
          after {counted(steps, "step")}
          {reward !== null && `, reward ${formatScore(reward)}`}
        </span>
        <span className="min-w-0 text-xs wrap-anywhere text-ink-3">
          {status === "expired"
            ? "Nothing happened for 15 minutes."
            : reason !== null && <InlineText text={describeStopReason(reason)} />}
        </span>
      </div>
      <Link
        to="/episodes/$episodeId"
        params={{ episodeId: episode.id }}
        className={buttonClass({ variant: "quiet" })}
      >
        The episode
      </Link>
      <Button
        ref={onNext === undefined ? next : undefined}
        icon={<RotateCcw aria-hidden />}
        onClick={onAgain}
      >
        Again
      </Button>
      {onNext !== undefined && (
        <Button ref={next} variant="primary" onClick={onNext}>
          Next task
          <ArrowRight aria-hidden />
        </Button>
      )}
    </div>
  );
}
