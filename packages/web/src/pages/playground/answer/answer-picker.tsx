import { Field } from "../../../ui/form/field.tsx";
import { Select } from "../../../ui/form/inputs.tsx";
import type { Answer } from "../use-predictions.ts";

interface AnswerPickerProps {
  answers: readonly Answer[];
  shown: Answer;
  other: Answer | undefined;
  onShow(number: number): void;
  onCompare(number: number | undefined): void;
}

const timeOfDay = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export function AnswerPicker({ answers, shown, other, onShow, onCompare }: AnswerPickerProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Show">
        {(control) => (
          <Select {...control} value={shown.number} onChange={({ target }) => onShow(Number(target.value))}>
            {answers.map((answer) => (
              <option key={answer.number} value={answer.number}>
                {nameOf(answer)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Compare with">
        {(control) => (
          <Select
            {...control}
            value={other?.number ?? ""}
            onChange={({ target }) => onCompare(target.value === "" ? undefined : Number(target.value))}
          >
            <option value="">None</option>
            {answers
              .filter(({ number }) => number !== shown.number)
              .map((answer) => (
                <option key={answer.number} value={answer.number}>
                  {nameOf(answer)}
                </option>
              ))}
          </Select>
        )}
      </Field>
    </div>
  );
}

function nameOf({ number, at, request }: Answer): string {
  const { action } = request.interaction;
  const short = action.length > 32 ? `${action.slice(0, 31)}…` : action;
  return `${number}, ${timeOfDay.format(new Date(at))}: ${short.replaceAll(/\s+/g, " ")}`;
}
