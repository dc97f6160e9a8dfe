import { defaultProfileName } from "@presage/contract/defaults";
import type { Dataset } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { ShieldAlert } from "lucide-react";
import { type ComponentProps, useRef, useState } from "react";
import { useRefusal } from "../../data/accounts.ts";
import { findQueryError, usePresage } from "../../data/client.ts";
import { datasetsQuery } from "../../data/datasets.ts";
import { environmentsQuery } from "../../data/environments.ts";
import { evaluatorFamiliesQuery, latestProfilesQuery } from "../../data/evaluators.ts";
import { deploymentsQuery } from "../../data/predictions.ts";
import { useCreateRun } from "../../data/runs.ts";
import { referenceOf, worldsQuery } from "../../data/worlds.ts";
import { counted, formatCount } from "../../format/numbers.ts";
import { AllowedButton } from "../../parts/allowed.tsx";
import { EvaluatorPicker, evaluatorChoices } from "../../parts/evaluators.tsx";
import { isOfRecords } from "../../parts/worlds.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Segmented } from "../../ui/form/choices.tsx";
import { FieldGroup, SelectField, TextField } from "../../ui/form/fields.tsx";
import {
  type BoundField,
  bindDraft,
  fieldIssues,
  focusFirstIssue,
  issueAt,
  useDraft,
} from "../../ui/form/form.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import {
  isPilot,
  noDraft,
  pilotSamples,
  preselectedDataset,
  type ReadRunDraft,
  type RunDraft,
  readRunDraft,
  suggestName,
} from "./read-run-draft.ts";
import { describeEstimate, RunEstimateCard, useChosenRevision, useRunEstimate } from "./run-estimate.tsx";
import { TargetFields } from "./target-fields.tsx";

/** Rules without costs: they check whether the text is right, and whether what changed is right. */
const recommended = ["exact-match", "state-change"];

export const newRunRoute = createLazyRoute("/runs/new")({ component: NewRunPage });

function NewRunPage() {
  const presage = usePresage();
  const given = newRunRoute.useSearch();
  const navigate = newRunRoute.useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const [wasSent, setSent] = useState(false);
  const queries = [
    useQuery(datasetsQuery(presage)),
    useQuery(deploymentsQuery(presage)),
    useQuery(worldsQuery(presage)),
    useQuery(environmentsQuery(presage)),
    useQuery(evaluatorFamiliesQuery(presage)),
    useQuery(latestProfilesQuery(presage)),
  ] as const;
  const [
    { data: datasets },
    { data: deployments },
    { data: worlds = [] },
    { data: environments = [] },
    { data: families = [] },
    { data: profiles = [] },
  ] = queries;
  const failure = findQueryError(queries);
  const refusal = useRefusal("evaluate");
  const recommendedProfiles = recommended.flatMap(
    (family) =>
      profiles.find(
        ({ evaluator_family, name }) => evaluator_family === family && name === defaultProfileName,
      ) ?? [],
  );
  const stored = useDraft(`new-run:${given.dataset ?? ""}:${given.revision ?? ""}:${given.world ?? ""}`, {
    ...noDraft,
    dataset: given.dataset ?? preselectedDataset(datasets ?? []),
    revision: String(given.revision ?? ""),
    ...(given.world !== undefined && { kind: "world", world: given.world }),
    deployment: deployments?.find(({ is_default }) => is_default)?.name ?? "",
    profiles: recommendedProfiles.map(({ public_id }) => public_id).join(","),
  });
  const { draft } = stored;
  const create = useCreateRun({
    onSuccess(run) {
      stored.discard();
      void navigate({ to: "/runs/$runId", params: { runId: run.id } });
    },
  });
  const dataset = datasets?.find(({ id }) => id === draft.dataset);
  const suggestedName = suggestName(draft, dataset?.name);
  const revision = useChosenRevision(draft, datasets);
  const samples = revision?.samples ?? 0;
  const read = readRunDraft(draft, profiles, samples, suggestedName);
  const refused = fieldIssues(create.error);
  const issues: ReadRunDraft["issues"] = wasSent ? read.issues : {};
  const field = bindDraft(draft, stored.change, refused, issues);
  const chosenWorld = worlds.find((world) => draft.kind === "world" && referenceOf(world) === draft.world);
  const asksModel =
    draft.kind === "deployment" ||
    // `worlds` has only the latest revisions.
    (draft.kind === "world" && !(chosenWorld && isOfRecords(chosenWorld.config)));
  const estimate = useRunEstimate(read.request, asksModel, revision, families);
  const chosenIds = new Set(draft.profiles.split(",").filter(Boolean));

  const isRecommended = (family: string) => Number(recommended.includes(family));
  const choices = evaluatorChoices(families, profiles, { hasSystemTurn: true })
    // Every sample has a gold answer.
    .map((group) => ({
      ...group,
      choices: group.choices.map((choice) => ({ ...choice, needsGoldAnswer: false })),
    }))
    // Lists the preselected families first, where they are visible.
    .sort((one, other) => isRecommended(other.family) - isRecommended(one.family));

  function submit() {
    setSent(true);
    // Waits until React has rendered the issues.
    const showIssue = () => setTimeout(() => focusFirstIssue(form.current));
    if (read.request === undefined) showIssue();
    else create.mutate(read.request, { onError: showIssue });
  }

  if (refusal !== undefined)
    return (
      <Page title="New run">
        <EmptyState icon={ShieldAlert} title="For members">
          {refusal}
        </EmptyState>
      </Page>
    );
  return (
    <Page
      title="New run"
      hint="Predicts every step of a dataset and evaluates the predictions. You can close this page while it runs."
    >
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      <form
        ref={form}
        noValidate
        className="grid min-w-0 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="flex min-w-0 flex-col gap-4">
          <Card title="Dataset">
            <DatasetFields
              datasets={datasets}
              samples={samples}
              draft={draft}
              issue={issues.dataset ?? issueAt(refused, "dataset_id") ?? issueAt(refused, "revision")}
              onChange={stored.change}
            />
          </Card>
          <Card title="Target">
            <TargetFields
              deployments={deployments ?? []}
              worlds={worlds}
              draft={draft}
              field={field}
              onChange={stored.change}
            />
          </Card>
          <Card title="Evaluation">
            <div className="flex flex-col gap-3 px-4 py-3">
              <FieldGroup
                label="Evaluators"
                hint="What decides whether a prediction passes. Rules are free; judges call a model for each prediction."
                issue={issues.profiles ?? issueAt(refused, "evaluators")}
              >
                <EvaluatorPicker
                  groups={choices}
                  chosenIds={chosenIds}
                  onChoose={(ids) => stored.change({ profiles: [...ids].join(",") })}
                />
              </FieldGroup>
              <SelectField
                label="Ends and rewards"
                hint="Whether the rules of an environment end an episode of predictions where the recording ends, with its reward."
                {...field("ends")}
                options={[{ value: "", label: "Not compared" }, ...environments.map(({ name }) => name)]}
              />
            </div>
          </Card>
        </div>
        <div className="flex min-w-0 flex-col gap-4 max-lg:contents lg:sticky lg:top-4">
          <Card title="The run">
            <RunFields field={field} suggestedName={suggestedName} />
          </Card>
          <RunEstimateCard estimate={estimate} />
          {create.error !== null && refused.length === 0 && <ErrorNotice error={create.error} />}
          {/* Stays within reach while the form is filled in. */}
          <div className="flex flex-wrap justify-end gap-2 max-lg:sticky max-lg:bottom-0 max-lg:-mx-4 max-lg:-mb-4 max-lg:border-t max-lg:border-line max-lg:bg-surface max-lg:p-3">
            <Link to="/runs" className={buttonClass({ variant: "quiet" })}>
              Cancel
            </Link>
            <AllowedButton
              needs="evaluate"
              type="submit"
              variant="primary"
              isBusy={create.isPending}
              disabled={datasets?.every(({ latest_revision }) => latest_revision === null)}
            >
              {estimate === undefined ? "Start the run" : `Start · ${describeEstimate(estimate)}`}
            </AllowedButton>
          </div>
        </div>
      </form>
    </Page>
  );
}

interface DatasetFieldsProps {
  /** Undefined while loading. */
  datasets: readonly Dataset[] | undefined;
  /** The number of samples in the chosen revision. */
  samples: number;
  draft: RunDraft;
  issue: string | undefined;
  onChange(part: Partial<RunDraft>): void;
}

const mostRevisions = 50;

/** The samples to predict, and what each step is told. */
function DatasetFields({ datasets, samples, draft, issue, onChange }: DatasetFieldsProps) {
  const usable = (datasets ?? []).filter(({ latest_revision }) => latest_revision !== null);
  const latest = usable.find(({ id }) => id === draft.dataset)?.latest_revision?.revision ?? 0;
  return (
    <div className="grid gap-3 px-4 py-3 sm:grid-cols-[minmax(0,1fr)_9rem]">
      <SelectField
        label="Dataset"
        issue={issue}
        hint={
          datasets !== undefined && usable.length === 0 ? (
            <Link to="/datasets" className="text-accent-ink underline">
              There is none yet: upload one
            </Link>
          ) : undefined
        }
        value={draft.dataset}
        options={[
          ...(draft.dataset === "" ? [{ value: "", label: "Choose a dataset" }] : []),
          ...usable.map(({ id, name, latest_revision }) => ({
            value: id,
            label: `${name} (${counted(latest_revision?.samples ?? 0, "sample")})`,
          })),
        ]}
        onChange={(dataset) => onChange({ dataset, revision: "" })}
      />
      <SelectField
        label="Revision"
        value={draft.revision}
        options={[
          { value: "", label: latest > 0 ? `Latest (${latest})` : "Latest" },
          ...Array.from({ length: Math.min(latest, mostRevisions) }, (_, index) => String(latest - index)),
        ]}
        hint={latest > mostRevisions ? "Run older ones from the dataset’s page." : undefined}
        onChange={(revision) => onChange({ dataset: draft.dataset, revision })}
      />
      {samples > pilotSamples && <ScopeField draft={draft} samples={samples} onChange={onChange} />}
      <ChoiceField
        label="Mode"
        value={draft.mode}
        options={[
          { value: "teacher-forced", label: "Teacher-forced" },
          { value: "free-running", label: "Free-running" },
        ]}
        onChange={(mode) => onChange({ mode })}
        hint={
          draft.mode === "free-running"
            ? "Each step starts from the prediction before: how long does the model stay accurate?"
            : "Each step starts from the recorded state: how often is a single step right?"
        }
      />
    </div>
  );
}

/** A choice with its label, and a hint about what is chosen. */
function ChoiceField({ hint, ...choice }: ComponentProps<typeof Segmented<string>> & { hint: string }) {
  return (
    <div className="flex flex-col items-start gap-1 sm:col-span-2">
      <span className="text-sm font-medium">{choice.label}</span>
      <Segmented {...choice} />
      <p className="text-xs text-ink-3">{hint}</p>
    </div>
  );
}

/** How many samples are predicted: a pilot, or all. */
function ScopeField({
  draft,
  samples,
  onChange,
}: Pick<DatasetFieldsProps, "draft" | "samples" | "onChange">) {
  const isFirst = isPilot(draft, samples);
  return (
    <ChoiceField
      label="Samples"
      value={isFirst ? "pilot" : "all"}
      options={[
        { value: "pilot", label: `Pilot: ${pilotSamples} samples first` },
        { value: "all", label: `All ${formatCount(samples)}` },
      ]}
      onChange={(scope) => onChange({ scope })}
      hint={
        isFirst
          ? "Trajectories drawn at random show whether prompt and evaluators work, and what all would cost. A pilot decides nothing: it meets no goal."
          : "Every sample is predicted."
      }
    />
  );
}

/** The run's name, and how it proceeds. */
function RunFields({ field, suggestedName }: { field: BoundField<RunDraft>; suggestedName: string }) {
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <TextField
        label="Name"
        hint={`${suggestedName === "" ? "" : "If left empty, the one shown. "}Runs of one name are a series: they share a goal.`}
        placeholder={suggestedName}
        {...field("name")}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField label="Repeats" hint="Of each sample, up to 20." {...field("repeats")} />
        <TextField
          label="Concurrency"
          hint="At once, up to 256. Live requests go first."
          {...field("concurrency")}
        />
      </div>
    </div>
  );
}
