import { X } from "lucide-react";
import { Button } from "../../../ui/button.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import type { useMatrixSearch } from "./matrix-request.ts";

interface MatrixFiltersProps {
  view: ReturnType<typeof useMatrixSearch>;
  /** The names of the run's evaluators. */
  names: readonly string[];
}

/** The filters of the rows, all of which are in the address. */
export function MatrixFilters({ view: { search, change }, names }: MatrixFiltersProps) {
  const { judge = 0, verdict, recorded, failed, trajectory, at } = search;
  const isFiltered = [verdict, recorded, failed, trajectory, at].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Segmented
        label="Verdict"
        value={verdict ?? "all"}
        options={[
          { value: "all", label: "All" },
          { value: "fail", label: "Fail" },
          { value: "pass", label: "Pass" },
        ]}
        onChange={(value) => change({ verdict: value === "all" ? undefined : value })}
      />
      {verdict !== undefined && names.length > 1 && (
        <Select
          aria-label="By which evaluator"
          className="max-w-52"
          value={String(judge)}
          options={names.map((name, index) => ({ value: String(index), label: `by ${name}` }))}
          onChange={(index) => change({ judge: index === "0" ? undefined : Number(index) })}
        />
      )}
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
        <Button aria-label="Remove the filter Trajectory" onClick={() => change({ trajectory: undefined })}>
          Trajectory <InlineText text={trajectory} />
          <X aria-hidden />
        </Button>
      )}
      {at !== undefined && (
        <Button aria-label="Remove the filter Step" onClick={() => change({ at: undefined })}>
          Step {at}
          <X aria-hidden />
        </Button>
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
