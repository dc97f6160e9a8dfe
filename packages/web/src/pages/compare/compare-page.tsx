import type { Comparison } from "@presage/sdk";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { createLazyRoute, useLocation } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Download, FileJson, FileText, Info } from "lucide-react";
import { findQueryError, usePresage } from "../../data/client.ts";
import { comparedReportQuery, comparisonQuery } from "../../data/comparisons.ts";
import { evaluatorKey, nameEvaluator } from "../../parts/evaluator-names.ts";
import { ExampleNote } from "../../parts/example.tsx";
import { ShareButton } from "../../parts/share.tsx";
import { Button, CopyButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Menu, MenuDownload, MenuItem } from "../../ui/menu.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { useShortcut } from "../../ui/shortcuts.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { ChosenRuns } from "./choose-runs/chosen-runs.tsx";
import { RunChooser } from "./choose-runs/run-chooser.tsx";
import { type CompareState, useCompare } from "./compare-search.ts";
import { comparisonMarkdown } from "./comparison-markdown.ts";
import { CurvesCard, SurvivalCard } from "./curves/curves-card.tsx";
import { DifferencesCard } from "./differences/differences-card.tsx";
import { StrataCard } from "./differences/strata-card.tsx";
import { EffortCard } from "./effort/effort-card.tsx";
import { OutcomeCard } from "./outcome/outcome-card.tsx";
import { type MarkedRun, markRuns } from "./run-mark.tsx";
import { ChangedSamplesCard } from "./samples/changed-samples-card.tsx";

export const compareRoute = createLazyRoute("/compare")({ component: ComparePage });

function ComparePage() {
  const state = useCompare();
  const { runIds, choose } = state;
  const presage = usePresage();
  const isChosen = runIds.length >= 2;
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...comparisonQuery(presage, runIds),
    enabled: isChosen,
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={isChosen && data !== undefined ? titleOf(data) : "Compare"}
      hint="Which run is better? Runs on the same samples, compared pairwise."
      actions={isChosen && data !== undefined && <ShareActions comparison={data} />}
    >
      {isChosen && error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {(!isChosen || error !== null) && (
        <Card title="Choose runs">
          <RunChooser key={runIds.join()} chosenIds={runIds} onChoose={choose} />
        </Card>
      )}
      {isChosen && data === undefined && error === null && (
        <Card title="Runs">
          <SkeletonRows count={8} />
        </Card>
      )}
      {isChosen && data !== undefined && error === null && (
        <div
          className={clsx(
            "flex min-w-0 flex-col gap-4 transition-opacity",
            isPlaceholderData && "opacity-60",
          )}
        >
          <ComparedRuns comparison={data} state={state} />
        </div>
      )}
      <ExampleNote onRemoved={(removed) => choose(runIds.filter((id) => !removed.includes(id)))} />
    </Page>
  );
}

/** “model” against “baseline” */
function titleOf({ runs }: Comparison): string {
  const [reference, ...others] = runs.map(({ name }) => `“${name}”`);
  return `${others.join(", ")} against ${reference}`;
}

/** Exports the comparison: for a pull request, an appendix or a script. */
function ShareActions({ comparison }: { comparison: Comparison }) {
  const { href } = useLocation();
  const ids = comparison.runs.map(({ id }) => id);
  const markdown = comparisonMarkdown(comparison, location.origin + href);
  return (
    <>
      <CopyButton text={markdown} label="Copy as Markdown">
        Copy as Markdown
      </CopyButton>
      <ShareButton kind="comparison" ids={ids} />
      <Menu trigger={<Button icon={<Download aria-hidden />}>Download</Button>}>
        <MenuDownload
          href={`/v1/comparisons?runs=${ids.join(",")}&format=html`}
          icon={<FileText aria-hidden />}
        >
          As a page (HTML)
        </MenuDownload>
        <MenuItem
          icon={<FileText aria-hidden />}
          onSelect={() => void save("comparison.md", markdown, "text/markdown")}
        >
          Markdown
        </MenuItem>
        <MenuItem
          icon={<FileJson aria-hidden />}
          onSelect={() =>
            void save("comparison.json", JSON.stringify(comparison, undefined, 2), "application/json")
          }
        >
          JSON, all figures
        </MenuItem>
      </Menu>
    </>
  );
}

async function save(name: string, text: string, type: string): Promise<void> {
  (await import("../../ui/save-file.ts")).saveFile(name, text, type);
}

function ComparedRuns({ comparison, state }: { comparison: Comparison; state: CompareState }) {
  const { runs, evaluators, evaluators_left_out } = comparison;
  const { search, runIds, change, choose } = state;
  const presage = usePresage();
  const marked = markRuns(runs);
  const evaluator = evaluators.find((one) => evaluatorKey(one) === search.evaluator) ?? evaluators[0];
  const reports = useQueries({ queries: runs.map(({ id }) => comparedReportQuery(presage, id)) });
  const loaded = reports.map(({ data }) => data);
  const failure = findQueryError(reports);
  useShortcut({
    keys: "s",
    label: "Swap the reference and the first run compared with it",
    group: "Compare",
    run() {
      const [first, second, ...others] = runIds;
      if (first !== undefined && second !== undefined) choose([second, first, ...others]);
    },
  });
  return (
    <>
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {evaluator !== undefined && (
        <OutcomeCard
          comparison={comparison}
          evaluator={evaluator}
          marked={marked}
          reports={loaded}
          onChooseEvaluator={(key) => change({ evaluator: key, open: undefined }, { replace: true })}
        />
      )}
      <ChosenRuns marked={marked} runs={runs} runIds={runIds} choose={choose} />
      <LeftOutNote evaluators={evaluators} leftOut={evaluators_left_out} marked={marked} />
      {evaluator !== undefined && (
        <>
          <DifferencesCard evaluators={evaluators} marked={marked} chosen={evaluator} />
          <CurvesCard evaluator={evaluator} marked={marked} state={state} reports={loaded} />
          <SurvivalCard evaluator={evaluator} marked={marked} reports={loaded} />
          <StrataCard evaluator={evaluator} marked={marked} />
        </>
      )}
      <EffortCard marked={marked} reports={loaded} />
      {evaluator !== undefined && (
        <ChangedSamplesCard
          key={evaluatorKey(evaluator)}
          evaluator={evaluator}
          marked={marked}
          state={state}
        />
      )}
    </>
  );
}

interface LeftOutNoteProps {
  evaluators: Comparison["evaluators"];
  leftOut: Comparison["evaluators_left_out"];
  marked: readonly MarkedRun[];
}

/** Lists evaluators that cannot be compared, with the reasons. */
function LeftOutNote({ evaluators, leftOut, marked }: LeftOutNoteProps) {
  const nothing = evaluators.length === 0 ? "These runs have no evaluator in common." : "";
  const named = leftOut.map((one) => {
    const letter = marked.find(({ run }) => run.id === one.run_id)?.letter ?? "";
    return `${nameEvaluator(one, [...evaluators, ...leftOut])} of ${letter}`;
  });
  if (nothing === "" && named.length === 0) return null;
  return (
    <p className="flex gap-2 rounded-lg border border-line bg-sunken px-4 py-2.5 text-sm text-ink-2">
      <Info className="mt-0.5 size-4 shrink-0 text-ink-3" aria-hidden />
      <span className="min-w-0 wrap-anywhere">
        {nothing}{" "}
        {named.length > 0 &&
          `Left out, as ${named.length === 1 ? "it has" : "they have"} no counterpart at the same revision: ${named.join(", ")}.`}
      </span>
    </p>
  );
}
