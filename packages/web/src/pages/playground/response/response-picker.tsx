import { Field } from "../../../ui/form/field.tsx";
import { Select } from "../../../ui/form/inputs.tsx";
import type { ModelResponse } from "../use-predictions.ts";

interface ResponsePickerProps {
  responses: readonly ModelResponse[];
  shown: ModelResponse;
  other: ModelResponse | undefined;
  onShow(number: number): void;
  onCompare(number: number | undefined): void;
}

const timeOfDay = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export function ResponsePicker({ responses, shown, other, onShow, onCompare }: ResponsePickerProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Show">
        {(control) => (
          <Select {...control} value={shown.number} onChange={({ target }) => onShow(Number(target.value))}>
            {responses.map((response) => (
              <option key={response.number} value={response.number}>
                {nameOf(response)}
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
            {responses
              .filter(({ number }) => number !== shown.number)
              .map((response) => (
                <option key={response.number} value={response.number}>
                  {nameOf(response)}
                </option>
              ))}
          </Select>
        )}
      </Field>
    </div>
  );
}

function nameOf({ number, at, request }: ModelResponse): string {
  const { action } = request.interaction;
  const short = action.length > 32 ? `${action.slice(0, 31)}…` : action;
  return `${number}, ${timeOfDay.format(new Date(at))}: ${short.replaceAll(/\s+/g, " ")}`;
}
