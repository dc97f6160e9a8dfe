import type { Episode, EpisodeStep } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, getRouteApi, Link, type LinkProps } from "@tanstack/react-router";
import { Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { episodeQuery, useDeleteEpisode } from "../../data/environments/episodes.ts";
import { taskNameOf } from "../../data/environments/task-name.ts";
import { usePresage } from "../../data/use-presage.ts";
import { counted } from "../../format/counted.ts";
import { UnavailablePage } from "../../shell/unavailable-page.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { ConfirmDialog } from "../../ui/overlay/confirm-dialog.tsx";
import { Page } from "../../ui/page.tsx";
import { StepKeysHint } from "../../ui/steps/step-keys-hint.tsx";
import { type StepMark, StepStrip } from "../../ui/steps/step-strip.tsx";
import { useStepKeys } from "../../ui/steps/use-step-keys.ts";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import { EpisodeFacts } from "./episode-facts.tsx";
import { EpisodeStepCard } from "./episode-step-card.tsx";

const path = "/episodes/$episodeId";

export const episodeRoute = createLazyRoute(path)({ component: EpisodePage });

const route = getRouteApi(path);

function EpisodePage() {
  const { episodeId } = route.useParams();
  const episode = useQuery(episodeQuery(usePresage(), episodeId));
  if (episode.data !== undefined) return <LoadedEpisode key={episodeId} episode={episode.data} />;
  return (
    <UnavailablePage
      title="Episode"
      query={episode}
      actions={
        <Link to="/environments" className={buttonClass({})}>
          All environments
        </Link>
      }
    />
  );
}

function LoadedEpisode({ episode }: { episode: Episode }) {
  const { id, environment, revision, split, index, status, steps } = episode;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [isDeleteOpen, setDeleteOpen] = useState(false);
  const remove = useDeleteEpisode();
  const numbers = steps.map(({ info }) => info.step);
  const current = search.step ?? numbers[0];
  const step = steps.find(({ info }) => info.step === current);
  const link = (to: number): LinkProps => ({ to: path, params: { episodeId: id }, search: { step: to } });
  useStepKeys(numbers, current, (to) =>
    navigate({ search: { step: to }, replace: true, resetScroll: false }),
  );
  return (
    <Page
      title={`Episode of ${environment}, ${taskNameOf(episode)}`}
      hint={
        <>
          <Link
            to="/environments/$name"
            params={{ name: environment }}
            className="font-medium text-accent-ink hover:underline"
          >
            {environment}
          </Link>
          , revision {revision} ·{" "}
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
      }
      actions={
        <>
          <IconButton
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
        </>
      }
    >
      <EpisodeFacts episode={episode} />
      {steps.length > 0 && (
        <Card>
          <StepStrip
            label="Steps"
            steps={numbers}
            current={current}
            rows={[{ id: "what", markOf: (at) => markOf(episode, at) }]}
            link={link}
          />
        </Card>
      )}
      {step !== undefined ? (
        <EpisodeStepCard
          key={step.info.step}
          step={step}
          before={
            steps.find(({ info }) => info.step === step.info.step - 1)?.observation ?? episode.initial_state
          }
          steps={numbers}
          link={link}
        />
      ) : (
        <Card>
          <div className="flex flex-col gap-3 p-4">
            <p className="text-sm text-ink-2">
              {current === undefined ? "No step was taken." : `The episode has no step ${current}.`}
            </p>
            <PlainText text={episode.initial_state} label="First observation" />
          </div>
        </Card>
      )}
      <ConfirmDialog
        isOpen={isDeleteOpen}
        onClose={() => {
          remove.reset();
          setDeleteOpen(false);
        }}
        title="Delete this episode?"
        confirmLabel="Delete episode"
        isBusy={remove.isPending}
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
        {remove.error !== null && <ErrorNotice error={remove.error} />}
      </ConfirmDialog>
    </Page>
  );
}

function markOf({ steps, initial_state, outcome }: Episode, at: number): StepMark | undefined {
  const index = steps.findIndex(({ info }) => info.step === at);
  const step: EpisodeStep | undefined = steps[index];
  if (step === undefined) return undefined;
  const rewarded = step.reward === null ? "" : `, reward ${step.reward}`;
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
