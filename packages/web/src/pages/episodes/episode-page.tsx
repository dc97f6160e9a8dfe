import type { Episode, EpisodeStep } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, type LinkProps } from "@tanstack/react-router";
import { Play, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { episodeQuery, useDeleteEpisode } from "../../data/episodes.ts";
import { episodeRealityQuery } from "../../data/reality.ts";
import { counted, formatCount, formatDuration, formatScore } from "../../format/numbers.ts";
import { taskNameOf } from "../../format/words.ts";
import { AllowedIconButton } from "../../parts/allowed.tsx";
import { describeStopReason, EpisodeBadge } from "../../parts/episodes.tsx";
import { UnavailablePage } from "../../parts/unavailable-page.tsx";
import { inPlace } from "../../search-params.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card, InlineFacts } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { StepKeysHint, useStepKeys } from "../../ui/steps/step-pager.tsx";
import type { StepMark } from "../../ui/steps/step-strip.tsx";
import { StepsBeside } from "../../ui/steps/steps-beside.tsx";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import { BothWorlds, RealityCard } from "./episode-reality.tsx";
import { EpisodeStepCard } from "./episode-step-card.tsx";

const path = "/episodes/$episodeId";

export const episodeRoute = createLazyRoute(path)({ component: EpisodePage });

function EpisodePage() {
  const { episodeId } = episodeRoute.useParams();
  const episode = useQuery(episodeQuery(usePresage(), episodeId));
  if (episode.data !== undefined) return <LoadedEpisode key={episodeId} episode={episode.data} />;
  return (
    <UnavailablePage
      title="Episode"
      query={episode}
      link={{ to: "/environments", children: "All environments" }}
    />
  );
}

function LoadedEpisode({ episode }: { episode: Episode }) {
  const { id, environment, steps } = episode;
  const search = episodeRoute.useSearch();
  const navigate = episodeRoute.useNavigate();
  const {
    data: reality,
    error,
    refetch,
  } = useQuery({
    ...episodeRealityQuery(usePresage(), id, environment),
    enabled: episode.status === "finished",
  });
  const numbers = steps.map(({ info }) => info.step);
  const current = search.step ?? numbers[0];
  const step = steps.find(({ info }) => info.step === current);
  const link = (to: number): LinkProps => ({ to: path, params: { episodeId: id }, search: { step: to } });
  useStepKeys(numbers, current, (to) => navigate({ search: { step: to }, ...inPlace }));
  const shown =
    step !== undefined ? (
      <EpisodeStepCard
        key={step.info.step}
        step={step}
        before={
          steps.find(({ info }) => info.step === step.info.step - 1)?.observation ?? episode.initial_state
        }
        steps={numbers}
        link={link}
      >
        {reality && <BothWorlds reality={reality} step={step} />}
      </EpisodeStepCard>
    ) : (
      <Card>
        <div className="flex flex-col gap-3 p-4">
          <p className="text-sm text-ink-2">
            {current === undefined ? "No step was taken." : `The episode has no step ${current}.`}
          </p>
          <PlainText text={episode.initial_state} label="First observation" />
        </div>
      </Card>
    );
  return (
    <Page
      title={titleOf(episode)}
      hint={<EpisodeOrigin episode={episode} />}
      actions={<EpisodeActions episode={episode} />}
    >
      <EpisodeFacts episode={episode} />
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {reality && <RealityCard reality={reality} initialState={episode.initial_state} link={link} />}
      {steps.length > 0 ? (
        <StepsBeside
          hint="Δ changed, · unchanged, ✓ ✕ ! the end"
          steps={numbers}
          current={current}
          actionOf={(at) => steps.find(({ info }) => info.step === at)?.action ?? ""}
          markOf={(at) => markOf(episode, at, reality?.diverged_at)}
          link={link}
        >
          {shown}
        </StepsBeside>
      ) : (
        shown
      )}
    </Page>
  );
}

const longestTitle = 100;

/** What the agent was told to do, if that is short; else the task. */
function titleOf(episode: Episode): string {
  const told = (episode.prompt ?? "").trim();
  const isTitle = told !== "" && told.length <= longestTitle && !told.includes("\n");
  return isTitle ? told : `Episode of ${episode.environment}, ${taskNameOf(episode)}`;
}

/** The environment and the task of an episode. */
function EpisodeOrigin({ episode }: { episode: Episode }) {
  const { environment, revision, split, index, steps } = episode;
  return (
    <>
      <Link
        to="/environments/$name"
        params={{ name: environment }}
        className="font-medium text-accent-ink hover:underline"
      >
        {environment}
      </Link>
      , revision {revision} · {taskNameOf(episode)} ·{" "}
      {index !== null && (
        <>
          <Link
            to="/environments/$name"
            params={{ name: environment }}
            search={{ split, index }}
            className="font-medium text-accent-ink hover:underline"
          >
            all episodes of this task
          </Link>{" "}
          ·{" "}
        </>
      )}
      {counted(steps.length, "step")}
      <StepKeysHint count={steps.length} />
    </>
  );
}

function EpisodeActions({ episode }: { episode: Episode }) {
  const { id, environment, split, index, status, steps } = episode;
  const navigate = episodeRoute.useNavigate();
  const [isDeleteOpen, setDeleteOpen] = useState(false);
  const remove = useDeleteEpisode();
  return (
    <>
      <AllowedIconButton
        needs="predict"
        label="Delete the episode"
        icon={<Trash2 aria-hidden />}
        onClick={() => setDeleteOpen(true)}
      />
      {index !== null && (
        <Link
          to="/environments/$name/play"
          params={{ name: environment }}
          search={status === "open" ? { split, index, episode: id } : { split, index }}
          className={buttonClass({ variant: "primary" })}
        >
          <Play aria-hidden />
          {status === "open" ? "Continue" : "Play this task"}
        </Link>
      )}
      <ConfirmDialog
        isOpen={isDeleteOpen}
        onClose={() => setDeleteOpen(false)}
        title="Delete this episode?"
        confirmLabel="Delete episode"
        change={remove}
        onConfirm={() =>
          remove.mutate(id, {
            onSuccess: () => navigate({ to: "/environments/$name", params: { name: environment } }),
          })
        }
      >
        <p>
          Its {counted(steps.length, "step")} and their predictions are deleted. This cannot be undone.
          Datasets that were made of it stay.
        </p>
      </ConfirmDialog>
    </>
  );
}

/** What the episode was about, and how it went. */
function EpisodeFacts({ episode }: { episode: Episode }) {
  const { prompt, goal, stop_reason: reason, reward, failed_steps: failed, seed, steps } = episode;
  const sum = (of: (info: Episode["steps"][number]["info"]) => number | null) => {
    const known = steps.flatMap(({ info }) => of(info) ?? []);
    return known.length === 0 && steps.length > 0 ? null : known.reduce((total, one) => total + one, 0);
  };
  const [prompts, answers] = [sum((info) => info.prompt_tokens), sum((info) => info.completion_tokens)];
  const facts: [name: string, title: string | undefined, value: ReactNode][] = [
    ["Ended because", undefined, reason && <InlineText key="reason" text={describeStopReason(reason)} />],
    ["Reward", "The sum of the rewards of all steps", formatScore(reward)],
    [
      "Tokens",
      `Tokens of the prompts and of the answers of ${counted(steps.length, "step")}`,
      prompts === null ? null : `${formatCount(prompts)} in, ${formatCount(answers)} out`,
    ],
    [
      "Waited",
      `For the predictions of ${counted(steps.length, "step")}, together`,
      formatDuration(sum((info) => info.latency_ms) ?? 0),
    ],
    ["Failed predictions", "How many predictions failed. They are not part of the episode.", failed || null],
    ["Seed", undefined, seed],
    ["Started", undefined, <Time key="started" at={episode.created_at} />],
  ];
  return (
    <Card>
      <div className="flex flex-col gap-2 px-4 py-3">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <EpisodeBadge episode={episode} />
          {titleOf(episode) !== prompt?.trim() && (
            <span className="min-w-0 text-sm font-medium wrap-anywhere">
              {prompt === null ? "No prompt" : <InlineText text={prompt} />}
            </span>
          )}
          {goal !== null && (
            <span className="min-w-0 text-xs wrap-anywhere text-ink-3">
              Goal: <InlineText text={goal} />
            </span>
          )}
        </div>
        <InlineFacts facts={facts} />
      </div>
    </Card>
  );
}

function markOf(episode: Episode, at: number, divergedAt?: number | null): StepMark | undefined {
  const mark = endOrChange(episode, at);
  if (mark === undefined || at !== divergedAt) return mark;
  return { ...mark, label: `${mark.label}, first divergence from reality`, isFlagged: true };
}

function endOrChange({ steps, initial_state, outcome }: Episode, at: number): StepMark | undefined {
  const index = steps.findIndex(({ info }) => info.step === at);
  const step: EpisodeStep | undefined = steps[index];
  if (step === undefined) return undefined;
  const rewarded = step.reward === null ? "" : `, reward ${formatScore(step.reward)}`;
  if (step.terminated)
    return {
      tone: outcome === "success" ? "pass" : "fail",
      label: `the episode ends with ${outcome ?? "no outcome"}${rewarded}`,
    };
  if (step.truncated) return { tone: "failed", label: `the episode is cut short${rewarded}` };
  const isChanged = (steps[index - 1]?.observation ?? initial_state).trim() !== step.observation.trim();
  return {
    tone: isChanged ? "changed" : "none",
    label: `${isChanged ? "the observation changes" : "the observation stays"}${rewarded}`,
  };
}
