import { useMemo } from "react";
import { TextDifference } from "../../../ui/difference/text-difference.tsx";
import type { Answer } from "../use-predictions.ts";
import { AnswerView } from "./answer-view.tsx";
import { changedInputs } from "./changed-inputs.ts";

/** Compares two answers and their inputs. */
export function Comparison({ answer, other }: { answer: Answer; other: Answer }) {
  const changed = useMemo(() => changedInputs(answer.request, other.request), [answer, other]);
  const contents = [other, answer].map(({ prediction }) => prediction.response.content);
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
        {before === after && "The answers are the same."}
      </p>
      {before !== after && (
        <TextDifference
          before={before}
          after={after}
          beforeLabel={`Answer ${other.number}`}
          afterLabel={`Answer ${answer.number}`}
        />
      )}
      <div className="grid gap-4 2xl:grid-cols-2">
        {[answer, other].map((one) => (
          <div key={one.number} className="flex min-w-0 flex-col gap-2">
            <h3 className="text-sm font-semibold">Answer {one.number}</h3>
            <AnswerView answer={one} />
          </div>
        ))}
      </div>
    </div>
  );
}
