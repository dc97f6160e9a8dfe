import type { EvaluationResult } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import type { ReactNode } from "react";
import { formatDuration, formatScore } from "../../../format/format-number.ts";
import { exactTime } from "../../../format/format-time.ts";
import { IconButton } from "../../../ui/icon-button.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { explainLabels } from "../filters/filter-labels.ts";
import type { Explorer, ExplorerChanges } from "../use-explorer.ts";
import { readDuration } from "./read-duration.ts";

/** Under what the result is filed, and how it came about. */
export function ResultFacts({ result, explorer }: { result: EvaluationResult; explorer: Explorer }) {
  const { confidence_interval: interval } = result.additional_info;
  const only = (changes: ExplorerChanges) => () => explorer.change(changes);
  const { app, evaluator_id, evaluation_run_id: run, dataset_id: dataset } = result;
  return (
    <section aria-label="Details">
      <h3 className="pb-2 text-sm font-semibold">Details</h3>
      <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] rounded-md border border-line text-sm *:border-line *:px-3 *:py-1.5 [&>:nth-child(n+3)]:border-t">
        <Fact name="Evaluator" onFilter={only({ evaluator: evaluator_id })}>
          <InlineText text={evaluator_id} />
          {result.external && <span className="text-ink-3"> · made elsewhere and imported</span>}
        </Fact>
        <Fact name="Profile">
          <Profile result={result} />
        </Fact>
        <Fact name="App" onFilter={only({ app })}>
          <InlineText text={app} />
        </Fact>
        <Name name="Run" text={run} onFilter={only({ run: run ?? undefined })} />
        <Name name="Dataset" text={dataset} onFilter={only({ dataset: dataset ?? undefined })} />
        <Name name="Sample" text={result.dataset_sample_id} />
        <Name name="Model" text={result.evaluated_model_name ?? result.evaluated_model_id} />
        <Name name="Provider" text={result.evaluated_model_provider} />
        <Name name="Selected model" text={result.evaluated_model_selected_model} />
        <Name
          name="Parameters"
          text={result.evaluated_model_params && JSON.stringify(result.evaluated_model_params)}
        />
        {Object.entries(result.tags ?? {}).map(([name, value]) => (
          <Fact
            key={name}
            name={<InlineText text={name} />}
            onFilter={only({ tag: tagsWith(explorer, name, value) })}
          >
            <InlineText text={value} />
          </Fact>
        ))}
        <Fact name="Evaluated">{exactTime(result.created_at)}</Fact>
        <Duration name="Took" duration={result.evaluation_duration} />
        <Fact name="Explained">{explainLabels[result.explain_strategy]}</Fact>
        {interval !== null && interval.median !== null && (
          <Fact name="Earlier scores">
            median {formatScore(interval.median)}, {Math.round((1 - interval.alpha) * 100)} % interval{" "}
            {formatScore(interval.lower)} to {formatScore(interval.upper)}
          </Fact>
        )}
      </dl>
    </section>
  );
}

function Fact({ name, onFilter, children }: { name: ReactNode; onFilter?: () => void; children: ReactNode }) {
  return (
    <>
      <dt className="max-w-40 truncate text-ink-3">{name}</dt>
      <dd className="flex min-w-0 items-center gap-2">
        <span className="min-w-0 wrap-anywhere">{children}</span>
        {onFilter !== undefined && (
          <IconButton
            label="Show only these"
            icon={<ListFilter aria-hidden />}
            className="-my-1"
            onClick={onFilter}
          />
        )}
      </dd>
    </>
  );
}

/** A fact that not every result has. */
function Name({
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
    <Fact name={name} {...(onFilter && { onFilter })}>
      <InlineText text={String(text)} />
    </Fact>
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
      <InlineText text={profile_name} />
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

function Duration({ name, duration }: { name: string; duration: string | null }) {
  const milliseconds = duration === null ? undefined : readDuration(duration);
  return milliseconds === undefined ? null : <Fact name={name}>{formatDuration(milliseconds)}</Fact>;
}

function tagsWith({ search }: Explorer, name: string, value: string): string[] {
  return [...new Set([...(search.tag ?? []), `${name}=${value}`])];
}
