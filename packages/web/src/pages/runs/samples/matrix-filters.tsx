import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../../ui/button.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { matrixVerdicts } from "../runs-search.ts";
import type { useMatrixSearch } from "./matrix-request.ts";

interface MatrixFiltersProps {
  view: ReturnType<typeof useMatrixSearch>;
  /** Of the run's evaluators. */
  names: readonly string[];
}

/** What the rows must have. All of it stands in the address. */
export function MatrixFilters({ view: { search, change }, names }: MatrixFiltersProps) {
  const { judge = 0, verdict, recorded, failed, trajectory, at } = search;
  const isFiltered = [verdict, recorded, failed, trajectory, at].some((value) => value !== undefined);
  const verdictValue = verdict === undefined ? "" : `${judge}:${verdict}`;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="Verdict"
        className="w-52"
        value={verdictValue}
        options={[
          { value: "", label: "Any verdict" },
          ...names.flatMap((name, index) =>
            matrixVerdicts.map((known) => ({ value: `${index}:${known}`, label: `${name}: ${known}` })),
          ),
        ]}
        onChange={(value) => {
          const [index, chosen] = value.split(":");
          change({
            judge: index === "" || index === "0" ? undefined : Number(index),
            verdict: matrixVerdicts.find((known) => known === chosen),
          });
        }}
      />
      <Select
        aria-label="In the recording"
        className="w-44"
        value={recorded ?? ""}
        options={[
          { value: "", label: "Any recorded change" },
          { value: "changed", label: "State changed" },
          { value: "unchanged", label: "State unchanged" },
        ]}
        onChange={(value) => change({ recorded: value || undefined })}
      />
      <Select
        aria-label="Prediction"
        className="w-40"
        value={failed === true ? "failed" : ""}
        options={[
          { value: "", label: "Any prediction" },
          { value: "failed", label: "Prediction failed" },
        ]}
        onChange={(value) => change({ failed: value === "failed" ? true : undefined })}
      />
      {trajectory !== undefined && (
        <Chip label="Trajectory" onRemove={() => change({ trajectory: undefined })}>
          <InlineText text={trajectory} />
        </Chip>
      )}
      {at !== undefined && (
        <Chip label="Step" onRemove={() => change({ at: undefined })}>
          {at}
        </Chip>
      )}
      {isFiltered && (
        <Button
          variant="quiet"
          size="small"
          onClick={() =>
            change({
              judge: undefined,
              verdict: undefined,
              recorded: undefined,
              failed: undefined,
              trajectory: undefined,
              at: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </div>
  );
}

function Chip({ label, onRemove, children }: { label: string; onRemove(): void; children: ReactNode }) {
  return (
    <button
      type="button"
      onClick={onRemove}
      aria-label={`Remove the filter ${label}`}
      className="inline-flex h-8.5 max-w-72 items-center gap-1 rounded-md border border-line-strong bg-accent-soft px-2 text-sm text-accent-ink hover:bg-hover"
    >
      <span className="text-ink-3">{label}</span>
      <span className="truncate">{children}</span>
      <X className="size-3.5 shrink-0" aria-hidden />
    </button>
  );
}
