import { describeTarget as nameTarget } from "@presage/contract/describe-runs";
import type { ListedRun, Run } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { GitCompareArrows } from "lucide-react";
import { useId, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetNamesQuery } from "../../../data/datasets.ts";
import { allRunsQuery } from "../../../data/runs.ts";
import { describeInterval, formatShare } from "../../../format/numbers.ts";
import { shortEvaluatorName } from "../../../format/words.ts";
import { ExampleOffer } from "../../../parts/example.tsx";
import { NewRunLink } from "../../../parts/runs.tsx";
import { Button } from "../../../ui/button.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";
import { Awaited, EmptyState } from "../../../ui/notice.tsx";
import { ScrollRegion } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { maxRuns } from "../compare-search.ts";

interface RunChooserProps {
  chosenIds: readonly string[];
  onChoose(runIds: string[]): void;
}

const shownRuns = 200;

/** All runs, of which two to five can be ticked. Runs on the same dataset come first. */
export function RunChooser({ chosenIds: before, onChoose }: RunChooserProps) {
  const presage = usePresage();
  const { data: runs, error, refetch } = useQuery(allRunsQuery(presage));
  const { data: datasetNames } = useQuery(datasetNamesQuery(presage));
  const [words, setWords] = useState("");
  const [ticked, setChosenIds] = useState(before);
  if (runs === undefined) return <Awaited error={error} onRetry={refetch} count={6} />;
  // An address may name runs that were deleted.
  const chosenIds = ticked.filter((id) => runs.some((run) => run.id === id));
  if (runs.length < 2) return <TooFewRuns />;
  const ordered = orderRuns(runs, chosenIds, words);
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 px-4 py-3">
        <TextInput
          type="search"
          aria-label="Find a run"
          placeholder="Find a run by its name"
          className="max-w-72"
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
        <p className="min-w-0 flex-1 basis-40 text-xs text-ink-3">
          {chosenIds.length === 0
            ? `Choose 2 to ${maxRuns} runs.`
            : `${chosenIds.length} of at most ${maxRuns} chosen.`}{" "}
          The first is the reference.
        </p>
        <Button variant="primary" disabled={chosenIds.length < 2} onClick={() => onChoose([...chosenIds])}>
          {chosenIds.length < 2 ? "Compare" : `Compare ${chosenIds.length} runs`}
        </Button>
      </div>
      <ScrollRegion
        label="Runs to choose from"
        className="max-h-[60dvh] overflow-y-auto border-t border-line -outline-offset-2"
      >
        {groupRuns(ordered.slice(0, shownRuns)).map((group) => {
          const name = nameDataset(group[0]?.dataset_id ?? null, datasetNames);
          return (
            <section key={group[0]?.id} aria-label={name}>
              <h3 className="sticky top-0 z-10 border-b border-line bg-sunken px-4 py-1.5 text-xs font-medium wrap-anywhere text-ink-2">
                <InlineText text={name} />
              </h3>
              <ul className="divide-y divide-line border-b border-line">
                {group.map((run) => (
                  <RunChoice
                    key={run.id}
                    run={run}
                    place={chosenIds.indexOf(run.id)}
                    isFull={chosenIds.length >= maxRuns}
                    onToggle={() => setChosenIds(toggle(chosenIds, run.id))}
                  />
                ))}
              </ul>
            </section>
          );
        })}
        {ordered.length === 0 && <p className="px-4 py-3 text-sm text-ink-2">No run has such a name.</p>}
        {ordered.length > shownRuns && (
          <p className="px-4 py-3 text-xs text-ink-3">
            {shownRuns} of {ordered.length} runs. Search for the others.
          </p>
        )}
      </ScrollRegion>
    </>
  );
}

function TooFewRuns() {
  return (
    <EmptyState
      icon={GitCompareArrows}
      title="There are no two runs to compare"
      actions={
        <>
          <NewRunLink>New run</NewRunLink>
          <ExampleOffer />
        </>
      }
    >
      A comparison needs two runs on the same samples, for example a model and the baseline that predicts no
      change.
    </EmptyState>
  );
}

/** Puts the runs that compare best with the first chosen run first: those on the same dataset, newest first. */
export function orderRuns<One extends Run>(
  runs: readonly One[],
  chosenIds: readonly string[],
  words: string,
): One[] {
  const first = runs.find(({ id }) => id === chosenIds[0]);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = runs.filter(({ name, id }) =>
    wanted.every((word) => name.toLowerCase().includes(word) || id.startsWith(word)),
  );
  if (first === undefined) return matching;
  const isNear = (run: One) => run.dataset_id !== null && run.dataset_id === first.dataset_id;
  return [...matching.filter(isNear), ...matching.filter((run) => !isNear(run))];
}

/** Groups runs by dataset, as these have samples in common. */
export function groupRuns<One extends Run>(runs: readonly One[]): One[][] {
  return [...Map.groupBy(runs, ({ dataset_id }) => dataset_id).values()];
}

interface RunChoiceProps {
  run: ListedRun;
  /** The run's index among the chosen runs; −1 if it is not chosen. */
  place: number;
  isFull: boolean;
  onToggle(): void;
}

function RunChoice({ run, place, isFull, onToggle }: RunChoiceProps) {
  const id = useId();
  const { headline, mode, revision } = run;
  const what = [describeTarget(run), mode, ...(revision === null ? [] : [`revision ${revision}`])];
  const isChosen = place >= 0;
  return (
    <li>
      <label
        htmlFor={id}
        className="grid cursor-pointer grid-cols-[auto_1fr_auto] items-center gap-x-3 px-4 py-2 text-sm hover:bg-hover has-disabled:cursor-not-allowed has-disabled:opacity-60"
      >
        <input
          id={id}
          type="checkbox"
          className="size-4 accent-accent"
          checked={isChosen}
          disabled={!isChosen && isFull}
          onChange={onToggle}
        />
        <span className="min-w-0">
          <span className="line-clamp-2 font-medium wrap-anywhere">
            <InlineText text={run.name} />
          </span>
          <span className="block text-xs wrap-anywhere text-ink-3">
            <InlineText text={what.join(" · ")} />
            {run.status !== "finished" && ` · ${run.status}`}
          </span>
        </span>
        <span className="text-right text-xs text-ink-3">
          {place === 0 && <span className="block font-medium text-accent-ink">Reference</span>}
          {headline !== null && headline.pass_rate !== null && (
            <span className="block text-ink-2 tabular-nums">
              {formatShare(headline.pass_rate)}
              {headline.pass_interval && ` (${describeInterval(headline.pass_interval)})`}
              <span className="block">by {shortEvaluatorName(headline)}</span>
            </span>
          )}
          <Time at={run.created_at} />
        </span>
      </label>
    </li>
  );
}

/** The predictor of a run: a deployment and its model, or a baseline. */
export function describeTarget({ target, provenance }: Run): string {
  const [model] = provenance.models;
  const isUnnamed = "deployment" in target && !target.model && model != null;
  return isUnnamed ? `${target.deployment}, ${model}` : nameTarget(target);
}

type DatasetNames = ReadonlyMap<string, string> | undefined;

/** The name of a dataset; the beginning of its id if it was deleted. */
function nameDataset(id: string | null, names: DatasetNames): string {
  return id === null ? "no dataset" : (names?.get(id) ?? id.slice(0, 8));
}

/** “kitchens · revision 2” */
export function describeRevision({ dataset_id, revision }: Run, names: DatasetNames): string {
  const name = nameDataset(dataset_id, names);
  return revision === null ? name : `${name} · revision ${revision}`;
}

function toggle(chosenIds: readonly string[], id: string): string[] {
  return chosenIds.includes(id) ? chosenIds.filter((other) => other !== id) : [...chosenIds, id];
}
