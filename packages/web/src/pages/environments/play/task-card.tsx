import type { Environment, EnvironmentTask, Episode } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { counted, formatScore } from "../../../format/numbers.ts";
import { EpisodeBadge } from "../../../parts/episodes.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Switch } from "../../../ui/form/choices.tsx";
import { ExplainedName } from "../../../ui/tooltip.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { playedBy } from "../list/environment-columns.tsx";

interface TaskCardProps {
  environment: Environment;
  task: EnvironmentTask;
  episode: Episode | undefined;
  isMarked: boolean;
  onMark(isMarked: boolean): void;
}

/** The goal of the task, and the progress. */
export function TaskCard({ environment: { config }, task, episode, isMarked, onMark }: TaskCardProps) {
  const maxSteps = config.max_steps ?? 30;
  const model = episode?.steps.at(-1)?.info;
  return (
    <section aria-label="Task" className="flex flex-col gap-1 border-b border-line bg-sunken px-4 py-2.5">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <h2 className="min-w-0 flex-1 basis-60 text-sm font-semibold wrap-anywhere">
          {task.prompt ? <InlineText text={task.prompt} /> : "See how it answers."}
        </h2>
        <span className="flex items-center gap-3 text-xs text-ink-2 tabular-nums">
          {episode === undefined ? (
            <Badge>not begun</Badge>
          ) : (
            episode.status === "open" && <EpisodeBadge episode={episode} />
          )}
          <span>
            <ExplainedName name="Step" explanation="Steps taken, and the most that an episode may have." />{" "}
            {episode?.steps_taken ?? 0} <span className="text-ink-3">of {maxSteps}</span>
          </span>
          <span>
            <ExplainedName
              name="Reward"
              explanation={`The sum of the rewards of ${counted(episode?.steps_taken ?? 0, "step")}.`}
            />{" "}
            {formatScore(episode?.reward ?? null)}
          </span>
        </span>
      </div>
      <div className="flex min-h-7 flex-wrap items-center gap-x-4 text-xs text-ink-3">
        <p className="min-w-0 flex-1 basis-60 wrap-anywhere">
          {task.goal ? (
            <>
              Goal: <InlineText text={task.goal} />
            </>
          ) : (
            "No goal is given."
          )}
        </p>
        <span className="max-sm:hidden">
          <ExplainedName
            name="Played by"
            explanation={
              config.prompt_form === "chat"
                ? "The model is told the whole episode."
                : config.world
                  ? "The world is told the last observation, what the task’s context says, and its own number of earlier steps: 4 by default."
                  : "The model is told the last observation, and what the task’s context says. It has no other memory."
            }
          />{" "}
          {model?.deployment ?? playedBy(config)}
        </span>
        {episode?.status === "open" && (
          <Link
            to="/episodes/$episodeId"
            params={{ episodeId: episode.id }}
            className="font-medium text-accent-ink hover:underline"
          >
            The episode
          </Link>
        )}
        <span className="-my-1 text-xs [&_label]:text-xs">
          <Switch label="Mark changes" isOn={isMarked} onChange={onMark} />
        </span>
      </div>
    </section>
  );
}
