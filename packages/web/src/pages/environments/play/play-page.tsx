import type { Environment, EnvironmentTask, Episode, TaskSplitName } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, Navigate } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, ListPlus, RotateCcw } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { environmentQuery, taskQuery } from "../../../data/environments.ts";
import { episodeQuery } from "../../../data/episodes.ts";
import { formatCount } from "../../../format/numbers.ts";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { inPlace } from "../../../search-params.ts";
import { Button, buttonClass, IconButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { EmptyState, ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { useShortcut } from "../../../ui/shortcuts.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { splits } from "../environment/environment-search.ts";
import { PlayedEpisode } from "./played-episode.tsx";

const path = "/environments/$name/play";

export const playRoute = createLazyRoute(path)({ component: PlayPage });

/** Plays a task, in an episode that begins with the first step. */
function PlayPage() {
  const { name } = playRoute.useParams();
  const presage = usePresage();
  const environment = useQuery(environmentQuery(presage, name));
  const { episode: episodeId } = playRoute.useSearch();
  const episode = useQuery({ ...episodeQuery(presage, episodeId ?? ""), enabled: episodeId !== undefined });
  const missing = environment.data === undefined ? environment : episode;
  if (environment.data === undefined || (episodeId !== undefined && episode.data === undefined)) {
    return (
      <UnavailablePage
        title={environment.data === undefined ? "Environment" : "Episode"}
        query={missing}
        link={{ to: "/environments", children: "All environments" }}
      />
    );
  }
  const played = episodeId === undefined ? undefined : episode.data;
  if (played !== undefined && played.environment !== name) {
    const { environment: own, split, index, id } = played;
    const search = { split, ...(index !== null && { index }), episode: id };
    return <Navigate to={path} params={{ name: own }} search={search} replace />;
  }
  // This page only plays tasks of the environment.
  if (played?.index === null)
    return <Navigate to="/episodes/$episodeId" params={{ episodeId: played.id }} search={{}} replace />;
  return <LoadedPlay environment={environment.data} episode={played} />;
}

interface LoadedPlayProps {
  environment: Environment;
  /** Undefined before the first step. */
  episode: Episode | undefined;
}

function LoadedPlay({ environment, episode }: LoadedPlayProps) {
  const search = playRoute.useSearch();
  const navigate = playRoute.useNavigate();
  const [round, setRound] = useState(0);
  const { name, tasks } = environment;
  const filled = splits.filter((one) => (tasks[one] ?? 0) > 0);
  const split = episode?.split ?? search.split ?? filled[0] ?? "train";
  const index = episode?.index ?? search.index ?? 0;
  const task = useQuery(taskQuery(usePresage(), name, split, index));
  const begin = (next: { split: TaskSplitName; index: number }) => {
    setRound(round + 1);
    void navigate({ search: next, replace: true });
  };
  const count = tasks[split] ?? 0;
  return (
    <Page
      title={`Play ${name}`}
      isFull
      hint={
        <Link
          to="/environments/$name"
          params={{ name }}
          className="font-medium text-accent-ink hover:underline"
        >
          About this environment
        </Link>
      }
      actions={
        count > 0 && (
          <TaskBar
            splits={filled}
            place={{ split, index }}
            count={count}
            onBegin={begin}
            isBegun={episode !== undefined}
          />
        )
      }
    >
      {task.error !== null && <ErrorNotice error={task.error} onRetry={task.refetch} />}
      {task.data ? (
        <PlayedEpisode
          key={`${split} ${index} ${round}`}
          environment={environment}
          task={task.data satisfies EnvironmentTask}
          episode={episode}
          onStarted={(id) => navigate({ search: { split, index, episode: id }, ...inPlace })}
          onAgain={() => begin({ split, index })}
          onNext={count > 1 ? () => begin({ split, index: (index + 1) % count }) : undefined}
        />
      ) : (
        task.error === null && (
          <Card>
            {task.data === undefined ? (
              <SkeletonRows count={6} className="h-8" />
            ) : (
              <EmptyState
                icon={ListPlus}
                title={filled.length === 0 ? "This environment has no tasks yet" : "There is no such task"}
                actions={
                  <Link
                    to="/environments/$name"
                    params={{ name }}
                    search={{ tab: "tasks" }}
                    className={buttonClass({})}
                  >
                    See the tasks
                  </Link>
                }
              >
                A task is where an episode starts.
              </EmptyState>
            )}
          </Card>
        )
      )}
    </Page>
  );
}

interface Place {
  split: TaskSplitName;
  index: number;
}

interface TaskBarProps {
  /** The splits that have tasks. */
  splits: readonly TaskSplitName[];
  place: Place;
  /** The number of tasks in the split. */
  count: number;
  isBegun: boolean;
  onBegin(place: Place): void;
}

const group = "Play";

/** The current task, and controls to change to others. */
function TaskBar({ splits, place: { split, index }, count, isBegun, onBegin }: TaskBarProps) {
  const go = (by: number) => onBegin({ split, index: (index + by + count) % count });
  const again = () => onBegin({ split, index });
  useShortcut({ keys: "n", label: "Next task", group, run: () => go(1) }, count > 1);
  useShortcut({ keys: "r", label: "Start again", group, run: again }, isBegun);
  return (
    <>
      {splits.length > 1 && (
        <Segmented
          label="Split"
          value={split}
          options={splits.map((one) => ({ value: one, label: one }))}
          onChange={(next) => onBegin({ split: next, index: 0 })}
        />
      )}
      <span className="inline-flex items-center rounded-md border border-line bg-surface">
        <IconButton
          label="Previous task"
          icon={<ChevronLeft aria-hidden />}
          disabled={count < 2}
          onClick={() => go(-1)}
        />
        <span className="px-1 text-xs whitespace-nowrap text-ink-2 tabular-nums">
          Task {index} <span className="text-ink-3">(0 to {formatCount(count - 1)})</span>
        </span>
        <IconButton
          label="Next task (N)"
          icon={<ChevronRight aria-hidden />}
          disabled={count < 2}
          onClick={() => go(1)}
        />
      </span>
      <Button
        size="small"
        icon={<RotateCcw aria-hidden />}
        disabled={!isBegun}
        title="Start again (R)"
        onClick={again}
      >
        Start again
      </Button>
    </>
  );
}
