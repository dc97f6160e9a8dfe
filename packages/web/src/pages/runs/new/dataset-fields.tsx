import type { Dataset } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatCount } from "../../../format/format-number.ts";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { SelectField } from "../../../ui/form/select.tsx";
import type { RunDraft } from "./read-run-draft.ts";

interface DatasetFieldsProps {
  /** Undefined while loading. */
  datasets: readonly Dataset[] | undefined;
  draft: RunDraft;
  issue: string | undefined;
  onChange(part: Partial<RunDraft>): void;
}

/** Which samples, and what each step is told. */
export function DatasetFields({ datasets, draft, issue, onChange }: DatasetFieldsProps) {
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
            label: `${name} (${formatCount(latest_revision?.samples ?? 0)} samples)`,
          })),
        ]}
        onChange={(dataset) => onChange({ dataset, revision: "" })}
      />
      <SelectField
        label="Revision"
        value={draft.revision}
        options={[
          { value: "", label: latest > 0 ? `Latest (${latest})` : "Latest" },
          ...Array.from({ length: latest }, (_, index) => String(latest - index)),
        ]}
        onChange={(revision) => onChange({ dataset: draft.dataset, revision })}
      />
      <div className="flex flex-col gap-1 sm:col-span-2">
        <span className="text-sm font-medium">Mode</span>
        <div>
          <Segmented
            label="Mode"
            value={draft.mode}
            options={[
              { value: "teacher-forced", label: "Teacher-forced" },
              { value: "free-running", label: "Free-running" },
            ]}
            onChange={(mode) => onChange({ mode })}
          />
        </div>
        <p className="text-xs text-ink-3">
          {draft.mode === "free-running"
            ? "Each step starts from the prediction for the step before: how long does the model stay accurate on its own?"
            : "Each step starts from the recorded state: how often is a single step right?"}
        </p>
      </div>
    </div>
  );
}
