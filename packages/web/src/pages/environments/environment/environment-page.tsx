import type { Environment, EnvironmentDetail } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, useNavigate } from "@tanstack/react-router";
import { Pencil, Play, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { environmentQuery, episodeFiguresQuery, useDeleteEnvironment } from "../../../data/environments.ts";
import { alarmIn } from "../../../data/reality.ts";
import { counted, formatCount } from "../../../format/numbers.ts";
import { AllowedButton, AllowedIconButton } from "../../../parts/allowed.tsx";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { inPlace } from "../../../search-params.ts";
import { Badge } from "../../../ui/badge.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { lazyPart } from "../../../ui/load.ts";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { useShortcut } from "../../../ui/shortcuts.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Tabs } from "../../../ui/tabs.tsx";
import { EnvironmentDialog } from "../form/environment-dialog.tsx";
import { taskCount } from "../list/environment-columns.tsx";
import { RealityTab } from "../reality/reality-tab.tsx";
import { EnvironmentFigures } from "./environment-figures.tsx";
import { EpisodesTab } from "./episodes-tab.tsx";
import { SuccessTab } from "./success-tab.tsx";

const path = "/environments/$name";

/** Not part of what the page starts with. */
const TasksTab = lazyPart(async () => (await import("../tasks/tasks-tab.tsx")).TasksTab);
const DefinitionTab = lazyPart(async () => (await import("./definition-tab.tsx")).DefinitionTab);

export const environmentRoute = createLazyRoute(path)({ component: EnvironmentPage });

function EnvironmentPage() {
  const { name } = environmentRoute.useParams();
  const environment = useQuery(environmentQuery(usePresage(), name));
  if (environment.data !== undefined) return <LoadedEnvironment key={name} environment={environment.data} />;
  return (
    <UnavailablePage
      title="Environment"
      query={environment}
      link={{ to: "/environments", children: "All environments" }}
    />
  );
}

function LoadedEnvironment({ environment }: { environment: EnvironmentDetail }) {
  const { name, revision, config, reality, is_built_in: isBuiltIn } = environment;
  const alarm = alarmIn(reality);
  const navigate = environmentRoute.useNavigate();
  const [isReviseOpen, setReviseOpen] = useState(false);
  const [isDeleteOpen, setDeleteOpen] = useState(false);
  const figures = useQuery(episodeFiguresQuery(usePresage(), "environment", name));
  const { tab = "episodes" } = environmentRoute.useSearch();
  const play = () => navigate({ to: "/environments/$name/play", params: { name } });
  useShortcut({ keys: "p", label: "Play it yourself", group: "Environment", run: () => void play() });
  return (
    <Page
      title={name}
      hint={
        <>
          {config.description ?? "An environment that a model simulates."}{" "}
          <span className="text-ink-3">
            Revision {revision}
            {isBuiltIn && ", built in"}
          </span>
          {alarm && (
            <Link to={path} params={{ name }} search={{ tab: "reality" }} className="ml-2 align-middle">
              <Badge tone="fail">
                Alarm{"policy" in alarm && ` of ${alarm.policy}`}: too many false successes
              </Badge>
            </Link>
          )}
        </>
      }
      actions={
        <EnvironmentActions
          environment={environment}
          onRevise={() => setReviseOpen(true)}
          onDelete={() => setDeleteOpen(true)}
        />
      }
    >
      {figures.error !== null && <ErrorNotice error={figures.error} onRetry={figures.refetch} />}
      {(tab === "episodes" || tab === "success") && (
        <EnvironmentFigures
          environment={environment}
          figures={figures.data === undefined ? undefined : (figures.data[0] ?? null)}
        />
      )}
      <Card>
        <EnvironmentTabs environment={environment} />
      </Card>
      <EnvironmentDialog
        isOpen={isReviseOpen}
        onClose={() => setReviseOpen(false)}
        revised={environment}
        onSaved={() => setReviseOpen(false)}
      />
      <DeleteEnvironmentDialog
        environment={environment}
        episodes={figures.data?.[0]?.episodes ?? 0}
        isOpen={isDeleteOpen}
        onClose={() => setDeleteOpen(false)}
      />
    </Page>
  );
}

interface EnvironmentActionsProps {
  environment: Environment;
  onRevise(): void;
  onDelete(): void;
}

/** The actions on an environment. The built-in one can only be played. */
function EnvironmentActions({
  environment: { name, is_built_in: isBuiltIn },
  onRevise,
  onDelete,
}: EnvironmentActionsProps) {
  return (
    <>
      {!isBuiltIn && (
        <>
          <AllowedIconButton
            needs="evaluate"
            label="Delete the environment"
            icon={<Trash2 aria-hidden />}
            onClick={onDelete}
          />
          <AllowedButton needs="evaluate" icon={<Pencil aria-hidden />} onClick={onRevise}>
            Revise
          </AllowedButton>
        </>
      )}
      <Link
        to="/environments/$name/play"
        params={{ name }}
        title="Play it yourself (P)"
        className={buttonClass({ variant: "primary" })}
      >
        <Play aria-hidden />
        Play
      </Link>
    </>
  );
}

function EnvironmentTabs({ environment }: { environment: Environment }) {
  const { tab = "episodes", by = "revision" } = environmentRoute.useSearch();
  const navigate = environmentRoute.useNavigate();
  return (
    <Tabs
      label="Parts of the environment"
      value={tab}
      onChange={(next) =>
        navigate({
          // The split has a different meaning in each tab.
          search: ({ tab: _, split: _split, index: _index, ...rest }) =>
            next === "episodes" ? rest : { ...rest, tab: next },
          ...inPlace,
        })
      }
      tabs={[
        { value: "episodes", label: "Episodes", content: <EpisodesTab environment={environment} /> },
        {
          value: "tasks",
          label: (
            <>
              Tasks <span className="text-ink-3 tabular-nums">{formatCount(taskCount(environment))}</span>
            </>
          ),
          content: (
            <Suspense fallback={<SkeletonRows count={6} className="h-9" />}>
              <TasksTab environment={environment} />
            </Suspense>
          ),
        },
        {
          value: "success",
          label: "Success",
          content: (
            <SuccessTab
              environment={environment}
              by={by}
              onChange={(next) =>
                navigate({
                  search: ({ by: _, ...rest }) => (next === "revision" ? rest : { ...rest, by: next }),
                  ...inPlace,
                })
              }
            />
          ),
        },
        { value: "reality", label: "Reality", content: <RealityTab environment={environment} /> },
        {
          value: "definition",
          label: "Definition",
          content: (
            <Suspense fallback={<SkeletonRows count={6} className="h-9" />}>
              <DefinitionTab environment={environment} />
            </Suspense>
          ),
        },
      ]}
    />
  );
}

interface DeleteEnvironmentDialogProps {
  environment: Environment;
  episodes: number;
  isOpen: boolean;
  onClose(): void;
}

/** States what is deleted with the environment. */
function DeleteEnvironmentDialog({
  environment: { name },
  episodes,
  isOpen,
  onClose,
}: DeleteEnvironmentDialogProps) {
  const navigate = useNavigate();
  const remove = useDeleteEnvironment(name);
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete ${name}?`}
      confirmLabel={
        episodes === 0 ? "Delete environment" : `Delete environment and ${counted(episodes, "episode")}`
      }
      change={remove}
      onConfirm={() => remove.mutate(episodes > 0, { onSuccess: () => navigate({ to: "/environments" }) })}
    >
      <p>
        Its revisions and tasks are deleted
        {episodes > 0 && `, and ${counted(episodes, "episode")} with all steps`}. This cannot be undone.
        Datasets that were made of its episodes stay.
      </p>
    </ConfirmDialog>
  );
}
