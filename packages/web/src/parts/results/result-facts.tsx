import type { EvaluationResult } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import type { ReactNode } from "react";
import { parse } from "tinyduration";
import { formatDuration, formatPercent, formatScore } from "../../format/numbers.ts";
import { exactTime } from "../../format/times.ts";
import { plainName } from "../../format/words.ts";
import { IconButton } from "../../ui/button.tsx";
import { Fact } from "../../ui/card.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { DatasetLink } from "../datasets.tsx";
import { RunLink } from "../runs.tsx";
import { explainLabels, type Filtering, type ResultsSearchChanges } from "./results-search.ts";

/** The result's metadata; much of it can be used as a filter. */
export function ResultFacts({ result, filtering }: { result: EvaluationResult; filtering: Filtering }) {
  const { confidence_interval: interval } = result.additional_info;
  const only = (changes: ResultsSearchChanges) => () => filtering.change(changes);
  const { app, evaluator_id } = result;
  const { evaluation_run_id: run, dataset_id: dataset, dataset_sample_id: sample } = result;
  return (
    <section aria-label="Details">
      <h3 className="pb-2 text-sm font-semibold">Details</h3>
      <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] rounded-md border border-line text-sm *:*:px-3!">
        <ResultFact name="Evaluator" onFilter={only({ evaluator: evaluator_id })}>
          <InlineText text={evaluator_id} />
          {result.external && <span className="text-ink-3"> · imported</span>}
        </ResultFact>
        <ResultFact name="Profile">
          <Profile result={result} />
        </ResultFact>
        <ResultFact name="App" onFilter={only({ app })}>
          <InlineText text={app} />
        </ResultFact>
        {run !== null && (
          <ResultFact name="Run" onFilter={only({ run })}>
            <RunLink id={run} />
          </ResultFact>
        )}
        <OptionalFact name="Project" text={result.project_id} />
        <OptionalFact name="Experiment" text={result.experiment_id} />
        {dataset !== null && (
          <ResultFact name="Dataset" onFilter={only({ dataset })}>
            <DatasetLink id={dataset} />
          </ResultFact>
        )}
        <OptionalFact
          name="Sample"
          text={sample}
          // Samples of other datasets may have the same id.
          onFilter={only({ sample: sample?.toString(), ...(dataset !== null && { dataset }) })}
        />
        <OptionalFact name="Model" text={result.evaluated_model_name ?? result.evaluated_model_id} />
        <OptionalFact name="Provider" text={result.evaluated_model_provider} />
        <OptionalFact name="Selected model" text={result.evaluated_model_selected_model} />
        <OptionalFact
          name="Parameters"
          text={result.evaluated_model_params && JSON.stringify(result.evaluated_model_params)}
        />
        {Object.entries(result.tags ?? {}).map(([name, value]) => (
          <ResultFact
            key={name}
            name={<InlineText text={name} />}
            onFilter={only({ tag: tagsWith(filtering, name, value) })}
          >
            <InlineText text={value} />
          </ResultFact>
        ))}
        <ResultFact name="Evaluated">{exactTime(result.created_at)}</ResultFact>
        <Duration name="Duration" duration={result.evaluation_duration} />
        <ResultFact name="Explained">{explainLabels[result.explain_strategy]}</ResultFact>
        {interval !== null && interval.median !== null && (
          <ResultFact name="Earlier scores">
            median {formatScore(interval.median)}, {formatPercent(1 - interval.alpha)} interval{" "}
            {formatScore(interval.lower)} to {formatScore(interval.upper)}
          </ResultFact>
        )}
      </dl>
    </section>
  );
}

function ResultFact({
  name,
  onFilter,
  children,
}: {
  name: ReactNode;
  onFilter?: (() => void) | undefined;
  children: ReactNode;
}) {
  return (
    <Fact look="lined" name={name}>
      <span className="min-w-0 wrap-anywhere">{children}</span>
      {onFilter !== undefined && (
        <IconButton
          label="Filter by this value"
          icon={<ListFilter aria-hidden />}
          className="-my-1"
          onClick={onFilter}
        />
      )}
    </Fact>
  );
}

function OptionalFact({
  name,
  text,
  onFilter,
}: {
  name: string;
  text: string | number | null;
  onFilter?: () => void;
}) {
  if (text === null) return null;
  return (
    <ResultFact name={name} onFilter={onFilter}>
      <InlineText text={String(text)} />
    </ResultFact>
  );
}

function Profile({ result }: { result: EvaluationResult }) {
  const {
    profile_name,
    evaluator_profile_public_id: publicId,
    evaluator_profile_revision: revision,
  } = result;
  if (profile_name === null) return <span className="text-ink-3">None</span>;
  const shown = (
    <>
      <InlineText text={plainName(profile_name)} />
      {revision !== null && `, revision ${revision}`}
    </>
  );
  if (publicId === null) return shown;
  return (
    <Link
      to="/evaluators/profiles/$publicId"
      params={{ publicId }}
      className="text-accent-ink underline decoration-accent-ink/40 underline-offset-2 hover:decoration-accent-ink"
    >
      {shown}
    </Link>
  );
}

function tagsWith({ search }: Filtering, name: string, value: string): string[] {
  return [...new Set([...(search.tag ?? []), `${name}=${value}`])];
}

function Duration({ name, duration }: { name: string; duration: string | null }) {
  const milliseconds = duration === null ? undefined : readDuration(duration);
  return milliseconds === undefined ? null : (
    <ResultFact name={name}>{formatDuration(milliseconds)}</ResultFact>
  );
}

/** Milliseconds of an ISO 8601 duration; undefined for months and years, which have no fixed length. */
export function readDuration(text: string): number | undefined {
  try {
    const { years, months, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = parse(text);
    if (years || months) return undefined;
    return ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
  } catch {
    return undefined;
  }
}
