import type { Headline, ListedRun, Run, RunGoal, RunHeadline, World } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleMinus, CircleX } from "lucide-react";
import { use } from "react";
import { usePresage } from "../data/client.ts";
import { runNameQuery } from "../data/runs.ts";
import { referenceOf } from "../data/worlds.ts";
import { countedIn, formatCount, formatShare } from "../format/numbers.ts";
import { humanizeName, withoutVersion } from "../format/words.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { ButtonProps } from "../ui/button.tsx";
import { RateCell } from "../ui/pass-rate.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { ControlTabIndex } from "../ui/tooltip.tsx";
import { InlineText } from "../ui/untrusted-text/inline-text.tsx";
import { AllowedLink } from "./allowed.tsx";

/** The run that a result names: if Presage has it, its name with a link to its page, otherwise the text. */
export function RunLink({ id }: { id: string }) {
  const { data: name, isLoading } = useQuery(runNameQuery(usePresage(), id));
  if (isLoading) return <Skeleton className="h-3 w-24" />;
  if (name == null) return <InlineText text={id} />;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: id }}
      title={name}
      tabIndex={use(ControlTabIndex)}
      className="line-clamp-2 whitespace-normal wrap-anywhere text-accent-ink underline-offset-2 hover:underline"
    >
      <InlineText text={name} />
    </Link>
  );
}

/** Like `RunLink`, for places where links are not possible. */
export function RunName({ id }: { id: string }) {
  const { data: name } = useQuery(runNameQuery(usePresage(), id));
  return <InlineText text={name ?? id} />;
}

const tones: Record<Run["status"], Tone> = {
  queued: "neutral",
  running: "accent",
  paused: "warn",
  finished: "pass",
  cancelled: "neutral",
  failed: "fail",
};

export function RunStatus({ status }: Pick<Run, "status">) {
  return <Badge tone={tones[status]}>{humanizeName(status)}</Badge>;
}

/** The pass rate of a newest run with its interval and count, and the baseline to beat. */
export function HeadlineRate({ of }: { of: Pick<Headline, "run"> | undefined }) {
  const headline = of?.run.headline;
  if (headline == null) return <span className="text-ink-3">–</span>;
  const { baseline, pass_rate, pass_interval, count, trajectories, evaluator } = headline;
  return (
    <RateCell
      rate={pass_rate}
      interval={pass_interval}
      baseline={baseline?.pass_rate}
      note={
        <>
          <span title={countedIn(count, trajectories)}>{withoutVersion(evaluator)}</span>
          <span>
            {baseline === null
              ? "no baseline measured"
              : `baseline ${baseline.kind.replace("-", " ")} ${formatShare(baseline.pass_rate)}`}
          </span>
        </>
      }
    />
  );
}

export interface Said {
  tone: Tone;
  text: string;
}

const goalTones = { met: "pass", missed: "fail", undecided: "warn" } as const;

export const judgeGoal = ({ state, pass_rate }: RunGoal): Said => ({
  tone: goalTones[state],
  text: `Goal ${+(100 * pass_rate).toFixed(1)}\u00a0%: ${state}`,
});

type Judgeable = Pick<ListedRun, "goal" | "headline" | "target">;

const outcomes = {
  better: { tone: "pass", text: "Above baseline" },
  worse: { tone: "fail", text: "Below baseline" },
  undecided: { tone: "warn", text: "Baseline: undecided" },
} satisfies Record<NonNullable<RunHeadline["baseline_outcome"]>, Said>;

/** The verdict of a run on its target: by its goal, else by the comparison with the best baseline in pairs or, without one, by whether their intervals are apart. */
export function judgeRun({ goal, headline, target }: Judgeable): Said {
  const { pass_rate = null, pass_interval: interval = null, baseline = null } = headline ?? {};
  const { baseline_outcome: outcome = null } = headline ?? {};
  if (goal !== null) return judgeGoal(goal);
  if ("baseline" in target) return { tone: "neutral", text: "Baseline" };
  if (pass_rate === null) return { tone: "neutral", text: "No verdicts" };
  if (baseline === null) return { tone: "neutral", text: "No baseline" };
  if (outcome !== null) return outcomes[outcome];
  if (interval === null) return { tone: "neutral", text: "No interval" };
  const { lower, upper } = baseline.interval ?? { lower: baseline.pass_rate, upper: baseline.pass_rate };
  if (interval.lower > upper) return outcomes.better;
  if (interval.upper < lower) return outcomes.worse;
  return { tone: "warn", text: "Overlaps baseline" };
}

const icons: Partial<Record<Tone, typeof CircleX>> = { pass: CircleCheck, fail: CircleX };

export function ToneIcon({ tone, className }: { tone: Tone; className?: string }) {
  const Icon = icons[tone] ?? CircleMinus;
  return <Icon aria-hidden className={className} />;
}

function JudgedBadge({ tone, text }: Said) {
  return (
    <Badge tone={tone} icon={tone !== "neutral" && <ToneIcon tone={tone} />}>
      {text}
    </Badge>
  );
}

/** “Goal 85 %: met” */
export function GoalState({ goal }: { goal: RunGoal }) {
  return <JudgedBadge {...judgeGoal(goal)} />;
}

export function RunVerdict({ run }: { run: Judgeable }) {
  return <JudgedBadge {...judgeRun(run)} />;
}

/** From this share on, predictions that failed, were cut off or had to be retried are worth a warning. */
const troubling = 0.01;

export function isTroubled({ failed, samples, answers, tries }: Run["progress"]): boolean {
  const retried = Object.values(tries?.retried ?? {}).reduce((sum, count) => sum + count, 0);
  return Math.max(failed, answers?.truncated ?? 0, answers?.empty ?? 0, retried) > troubling * samples;
}

/** The initial values of a new run. */
export interface NewRunSearch {
  /** A dataset's id. */
  dataset?: string;
  revision?: number;
  /** The world to ask, as NAME@NUMBER. */
  world?: string;
}

interface NewRunLinkProps extends Pick<ButtonProps, "variant" | "size" | "icon" | "children"> {
  search?: NewRunSearch;
}

/** A link to the page New run, or a button that explains why the user may not start one. */
export function NewRunLink({ search = {}, ...look }: NewRunLinkProps) {
  return <AllowedLink needs="evaluate" link={{ to: "/runs/new", search }} {...look} />;
}

/** A link to a new run of a world on its own records; the world leaves out each step's own trajectory. */
export function MeasureLink({ world, ...look }: { world: World } & Pick<ButtonProps, "size">) {
  const reference = referenceOf(world);
  const { examples } = world.pinned;
  return (
    <NewRunLink search={{ world: reference, ...(examples && { dataset: examples.dataset_id }) }} {...look}>
      <span>
        Measure<span className={look.size === "small" ? "sr-only" : ""}> {reference}</span>
      </span>
    </NewRunLink>
  );
}

/** The progress of a run, with the failed part marked. */
export function ProgressBar({ progress: { samples, evaluated, failed } }: Pick<Run, "progress">) {
  const share = (count: number) => `${samples === 0 ? 0 : (100 * count) / samples}%`;
  return (
    <span
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={samples}
      aria-valuenow={evaluated}
      aria-valuetext={`${formatCount(evaluated)} of ${formatCount(samples)}`}
      className="flex h-1.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      <span className="bg-accent transition-[width]" style={{ width: share(evaluated - failed) }} />
      <span className="bg-fail transition-[width]" style={{ width: share(failed) }} />
    </span>
  );
}
