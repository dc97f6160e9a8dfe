import { useMemo } from "react";
import { TextDifference } from "../../../ui/difference/text-difference.tsx";
import type { ModelResponse } from "../use-predictions.ts";
import { changedInputs } from "./changed-inputs.ts";
import { ResponseView } from "./response-view.tsx";

/** Compares two responses and their inputs. */
export function Comparison({ response, other }: { response: ModelResponse; other: ModelResponse }) {
  const changed = useMemo(() => changedInputs(response.request, other.request), [response, other]);
  const contents = [other, response].map(({ prediction }) => prediction.response.content);
  const [before = "", after = ""] = contents;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <p className="text-sm text-ink-2">
        {changed.length === 0 ? (
          "Both have the same input."
        ) : (
          <>
            The inputs differ in <strong className="font-medium text-ink">{changed.join(", ")}</strong>.
          </>
        )}{" "}
        {before === after && "The responses are the same."}
      </p>
      {before !== after && (
        <TextDifference
          before={before}
          after={after}
          beforeLabel={`Response ${other.number}`}
          afterLabel={`Response ${response.number}`}
        />
      )}
      <div className="grid gap-4 2xl:grid-cols-2">
        {[response, other].map((one) => (
          <div key={one.number} className="flex min-w-0 flex-col gap-2">
            <h3 className="text-sm font-semibold">Response {one.number}</h3>
            <ResponseView response={one} />
          </div>
        ))}
      </div>
    </div>
  );
}
