import type { Environment, EnvironmentTask, Episode } from "@presage/sdk";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { newStepKey, useTakeStep } from "../../../data/environments/episodes.ts";
import { ActionInput } from "./action-input.tsx";
import { EpisodeEnd } from "./episode-end.tsx";
import { PendingTurn } from "./pending-turn.tsx";
import { TaskCard } from "./task-card.tsx";
import { Observation, Turn } from "./turn.tsx";

interface PlayedEpisodeProps {
  environment: Environment;
  task: EnvironmentTask;
  /** Undefined before the first step. */
  episode: Episode | undefined;
  onStarted(episodeId: string): void;
  onAgain(): void;
  /** Undefined: there is no other task. */
  onNext: (() => void) | undefined;
}

/** A conversation with the world: what was done, and what it answered. */
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
  // A user who went to another task stays there.
  const take = useTakeStep({ onStarted: (id) => isShown.current && onStarted(id) });
  const log = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const steps = episode?.steps ?? [];
  // The answer may be lost and the step be stored: then the episode has it when it is read again.
  const pending = sent !== undefined && steps.length === sent.after ? sent : undefined;
  const isOver = episode !== undefined && episode.status !== "open";

  // The newest is in sight, without a movement.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the log grows with them
  useLayoutEffect(() => {
    const box = log.current;
    if (box !== null) box.scrollTop = steps.length === 0 && pending === undefined ? 0 : box.scrollHeight;
  }, [steps.length, pending, take.error, isOver]);

  function send(action: string, key = newStepKey()): void {
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

  /** Nothing was stored, so the action can still be another one. */
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
