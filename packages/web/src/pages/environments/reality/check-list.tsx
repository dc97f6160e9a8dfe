import type { EnvironmentReality, RealityCheck, RealityEpisode } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { checkedEpisodesQuery, mostListed, useChangeCheck, useRunOfCheck } from "../../../data/reality.ts";
import { counted, formatCount, formatScore, formatShare } from "../../../format/numbers.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { EpisodeLink, Section } from "./section.tsx";

type Limited = NonNullable<EnvironmentReality["limited_check"]>;

interface CheckListProps {
  checks: readonly RealityCheck[];
  /** The check whose episodes are listed. */
  shown: RealityCheck;
  onShow(id: string): void;
  limited: Limited | null;
}

/** The checks, and the episodes of one check. */
export function CheckList({ checks, shown, onShow, limited }: CheckListProps) {
  return (
    <>
      <Section title="Checks" className="col-span-full print:hidden">
        <ul aria-label="Reality checks" className="max-h-60 divide-y divide-line overflow-y-auto text-sm">
          {checks.map((check) => (
            <Check
              key={check.id}
              check={check}
              // The only check is told about above.
              limited={limited?.id === check.id && checks.length > 1 ? limited : null}
              isShown={check === shown}
              onShow={() => onShow(check.id)}
            />
          ))}
        </ul>
      </Section>
      <Episodes key={shown.id} check={shown} />
    </>
  );
}

/** The chosen check, else the newest with episodes; undefined if there is none. */
export function chooseCheck(
  checks: readonly RealityCheck[],
  chosen: string | undefined,
): RealityCheck | undefined {
  return (
    checks.find(({ id }) => id === chosen) ??
    checks.find(({ episodes, failed }) => episodes + failed > 0) ??
    checks[0]
  );
}

const tones: Record<RealityCheck["status"], Tone> = {
  running: "accent",
  paused: "warn",
  cancelled: "neutral",
  // That a check has ended tells nothing about its outcome.
  completed: "neutral",
};
const sources: Record<RealityCheck["source"], string> = {
  pairs: "uploaded outcomes",
  episodes: "episodes",
  recordings: "recordings",
  continuous: "continuous",
};

const limitTones = { above: "fail", below: "pass", undecided: "warn" } as const;
const limitWords = { above: "Above", below: "Below", undecided: "Not clearly below" };

/** “Above the check’s limit of 20 %” */
export function LimitBadge({ check: { outcome, false_success_limit } }: { check: Limited }) {
  return (
    <Badge tone={limitTones[outcome]}>
      {limitWords[outcome]} the check’s limit of {formatShare(false_success_limit)}
    </Badge>
  );
}

interface CheckProps {
  check: RealityCheck;
  /** The check's outcome with respect to its limit, if known. */
  limited: Limited | null;
  isShown: boolean;
  onShow(): void;
}

function Check({ check, limited, isShown, onShow }: CheckProps) {
  const { id, name, status, source, episodes, waiting, failed, reason, created_at } = check;
  const change = useChangeCheck(id);
  return (
    <li className={clsx("flex flex-col gap-1 px-4 py-2", isShown && "bg-accent-soft")}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <button
          type="button"
          aria-pressed={isShown}
          title="Show its episodes"
          className="font-medium wrap-anywhere text-accent-ink hover:underline"
          onClick={onShow}
        >
          <InlineText text={name} />
        </button>
        {limited && <LimitBadge check={limited} />}
        <Badge tone={tones[status]}>{status}</Badge>
        <span className="flex-1 text-xs text-ink-2 tabular-nums max-sm:basis-full">
          {sources[source]}, {counted(episodes, "episode")} checked
          {waiting > 0 && `, ${formatCount(waiting)} waiting`}
          {failed > 0 && `, ${formatCount(failed)} failed`}, <Time at={created_at} />
        </span>
        {status === "paused" && (
          <AllowedButton
            needs="evaluate"
            size="small"
            isBusy={change.isPending}
            onClick={() => change.mutate("resume")}
          >
            Resume
          </AllowedButton>
        )}
        {(status === "running" || status === "paused") && (
          <AllowedButton
            needs="evaluate"
            size="small"
            isBusy={change.isPending}
            onClick={() => change.mutate("cancel")}
          >
            Cancel
          </AllowedButton>
        )}
      </div>
      {reason !== null && (
        <p className="text-xs text-warn">
          <InlineText text={reason} />
        </p>
      )}
      {change.error !== null && <ErrorNotice error={change.error} />}
    </li>
  );
}

const views = [
  { value: "false-successes", label: "False successes" },
  { value: "failed", label: "Failed" },
] as const;

/** The episodes that succeeded in simulation alone, or that could not be replayed. */
function Episodes({ check }: { check: RealityCheck }) {
  const [show, setShow] = useState<(typeof views)[number]["value"]>(
    check.episodes === 0 && check.failed > 0 ? "failed" : "false-successes",
  );
  const { data, error, refetch } = useQuery(checkedEpisodesQuery(usePresage(), check, show));
  const navigate = useNavigate();
  const run = useRunOfCheck(
    check.id,
    ({ id }) => void navigate({ to: "/runs/$runId", params: { runId: id } }),
  );
  const hasSteps = check.source !== "pairs" && check.episodes > 0;
  const count = data && counted(data.length, "episode");
  return (
    <Section
      className="col-span-full"
      title={show === "failed" ? "Failed episodes" : "False successes"}
      hint={
        <>
          {count === undefined ? "…" : data?.length === mostListed ? `The first ${count}` : count} of{" "}
          <InlineText text={check.name} />
          {show === "false-successes" && ": they succeed in simulation and fail in reality"}
        </>
      }
      actions={
        hasSteps &&
        (check.status === "completed" || check.status === "cancelled") && (
          <AllowedButton
            needs="evaluate"
            title="The check as a run: what really happened, and what was simulated, step by step"
            isBusy={run.isPending}
            onClick={() => run.mutate()}
          >
            Steps as a run
          </AllowedButton>
        )
      }
    >
      {run.error !== null && <ErrorNotice error={run.error} />}
      {check.failed > 0 && (
        <div className="px-4 py-1">
          <Segmented label="Episodes" value={show} options={views} onChange={(next) => setShow(next)} />
        </div>
      )}
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      <ul
        aria-label="Episodes of the check"
        className="max-h-96 overflow-y-auto pb-2 text-sm sm:columns-2 sm:gap-0 xl:columns-4 print:columns-3"
      >
        {data?.map((episode) => (
          <li key={episode.position} className="break-inside-avoid px-4 py-1">
            <p className="wrap-anywhere">
              <EpisodeName episode={episode} isPresages={check.source !== "pairs"} />
              {episode.policy !== null && (
                <span className="text-ink-2">
                  , policy <InlineText text={episode.policy} />
                </span>
              )}
            </p>
            <p className="text-xs wrap-anywhere text-ink-3 empty:hidden">{describeEpisode(episode)}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function EpisodeName({ episode, isPresages }: { episode: RealityEpisode; isPresages: boolean }) {
  const { episode_id: id, task_id, position, diverged_at: step } = episode;
  const name = <InlineText text={task_id === null ? `Episode ${position}` : describeTask(task_id)} />;
  if (id === null || !isPresages) return name;
  return (
    <EpisodeLink id={id} step={step}>
      {name}
    </EpisodeLink>
  );
}

/** “task 5” or “5” becomes “Task 5”, “own/3691b140” becomes “A task of its own, 3691b140”. */
function describeTask(id: string): string {
  return id.replace(/^own\//, "A task of its own, ").replace(/^(?!A task)(task\s+)?/i, "Task ");
}

/** How far simulation and reality of a false success are apart; or why that is not known. */
function describeEpisode({ diverged_at, steps, error, ...episode }: RealityEpisode): string {
  const { simulated_reward: paid, real_reward: really } = episode;
  if (error !== null) return error;
  const ends: string[] = [];
  if (paid !== null && really !== null)
    ends.push(`reward ${formatScore(paid)}, really ${formatScore(really)}`);
  if (steps !== null)
    ends.push(diverged_at === null ? "the same observations" : `differs from step ${diverged_at} on`);
  return ends.join("; ");
}
