import type { World } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import { usePresage } from "../../data/client.ts";
import {
  isThrough,
  runsOfWorldQuery,
  useArchiveWorld,
  useDeleteWorld,
  worldQuery,
} from "../../data/worlds.ts";
import { formatCount } from "../../format/numbers.ts";
import { AllowedButton, AllowedMenuItem } from "../../parts/allowed.tsx";
import { MeasureLink } from "../../parts/runs.tsx";
import { UnavailablePage } from "../../parts/unavailable-page.tsx";
import { answererOf } from "../../parts/worlds.ts";
import { inPlace } from "../../search-params.ts";
import { IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { lazyPart } from "../../ui/load.ts";
import { Menu } from "../../ui/menu.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { AnswerTab } from "./answer-tab.tsx";
import { ExamplesTab } from "./examples-tab.tsx";
import { WorldDialog } from "./world-dialog.tsx";
import { QualityTab, RevisionsTab } from "./world-tabs.tsx";
import type { WorldTab } from "./worlds-search.ts";

const ConfidenceTab = lazyPart(async () => (await import("./confidence-tab.tsx")).ConfidenceTab);

export const worldRoute = createLazyRoute("/worlds/$name")({ component: WorldPage });

function WorldPage() {
  const { name } = worldRoute.useParams();
  const world = useQuery(worldQuery(usePresage(), name));
  if (world.data !== undefined) return <LoadedWorld key={name} world={world.data} />;
  return <UnavailablePage title="World" query={world} link={{ to: "/worlds", children: "All worlds" }} />;
}

function LoadedWorld({ world }: { world: World }) {
  const { name, revision, config, archived } = world;
  const navigate = useNavigate();
  const [isReviseOpen, setReviseOpen] = useState(false);
  const [isDeleteOpen, setDeleteOpen] = useState(false);
  const archive = useArchiveWorld(name);
  const remove = useDeleteWorld(name);
  return (
    <Page
      title={name}
      hint={
        <>
          {config.description && <InlineText text={config.description} />}
          <span className="block text-ink-3">
            Revision {revision}, answers by {answererOf(config)}
            {archived && ", archived: lists leave it out"}
          </span>
        </>
      }
      actions={
        <>
          <MeasureLink world={world} />
          <AllowedButton needs="evaluate" icon={<Pencil aria-hidden />} onClick={() => setReviseOpen(true)}>
            Revise
          </AllowedButton>
          <Menu trigger={<IconButton label="More actions" icon={<Ellipsis aria-hidden />} />}>
            <AllowedMenuItem
              needs="evaluate"
              icon={archived ? <ArchiveRestore aria-hidden /> : <Archive aria-hidden />}
              onSelect={() => archive.mutate(!archived)}
            >
              {archived ? "Show it in lists again" : "Archive the world"}
            </AllowedMenuItem>
            <AllowedMenuItem
              needs="evaluate"
              icon={<Trash2 aria-hidden />}
              isDangerous
              onSelect={() => setDeleteOpen(true)}
            >
              Delete the world
            </AllowedMenuItem>
          </Menu>
        </>
      }
    >
      {archive.error !== null && <ErrorNotice error={archive.error} />}
      <Card>
        <WorldTabs world={world} />
      </Card>
      <WorldDialog
        isOpen={isReviseOpen}
        onClose={() => setReviseOpen(false)}
        revised={world}
        onSaved={() => setReviseOpen(false)}
      />
      <ConfirmDialog
        isOpen={isDeleteOpen}
        onClose={() => setDeleteOpen(false)}
        title={`Delete ${name}?`}
        confirmLabel="Delete world"
        change={remove}
        onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate({ to: "/worlds" }) })}
      >
        <p>
          Requests that name it are refused from then on; chats that name it as their model go to the default
          deployment. Its predictions and its dataset stay. This cannot be undone; archiving only takes it out
          of lists.
        </p>
      </ConfirmDialog>
    </Page>
  );
}

function WorldTabs({ world }: { world: World }) {
  const { tab = "answer" } = worldRoute.useSearch();
  const navigate = worldRoute.useNavigate();
  const { data: runs, error, refetch } = useQuery(runsOfWorldQuery(usePresage(), world.name));
  const through = runs?.filter((run) => isThrough(world.name, run));
  const count = (figure: number) => <span className="text-ink-3 tabular-nums">{formatCount(figure)}</span>;
  const tabs = [
    { value: "answer" as const, label: "Answer", content: <AnswerTab world={world} /> },
    {
      value: "examples" as const,
      label: <>Examples {count(world.pinned.examples?.count ?? 0)}</>,
      content: <ExamplesTab world={world} runs={through} />,
    },
    // A world without runs has no figures.
    ...(runs?.length || (runs === undefined && tab === "quality")
      ? [
          {
            value: "quality" as const,
            label: <>Quality {runs && count(runs.length)}</>,
            content: runs && <QualityTab world={world} runs={runs} />,
          },
        ]
      : []),
    ...(world.config.confidence || world.pinned.calibration
      ? [
          {
            value: "confidence" as const,
            label: "Confidence",
            content: (
              <Suspense fallback={<SkeletonRows count={3} className="h-8" />}>
                {through && <ConfidenceTab world={world} runs={through} />}
              </Suspense>
            ),
          },
        ]
      : []),
    {
      value: "revisions" as const,
      label: "Revisions",
      content: <RevisionsTab world={world} runs={through} />,
    },
  ];
  const shown: WorldTab = tabs.some(({ value }) => value === tab) ? tab : "answer";
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      <Tabs<WorldTab>
        label="Parts of the world"
        value={shown}
        onChange={(next) => navigate({ search: next === "answer" ? {} : { tab: next }, ...inPlace })}
        tabs={tabs}
      />
    </>
  );
}
