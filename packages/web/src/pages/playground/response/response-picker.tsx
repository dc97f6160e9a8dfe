import { SelectField } from "../../../ui/form/select.tsx";
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
      <SelectField
        label="Show"
        value={String(shown.number)}
        options={responses.map(toOption)}
        onChange={(number) => onShow(Number(number))}
      />
      <SelectField
        label="Compare with"
        value={String(other?.number ?? "")}
        options={[
          { value: "", label: "None" },
          ...responses.filter(({ number }) => number !== shown.number).map(toOption),
        ]}
        onChange={(number) => onCompare(number === "" ? undefined : Number(number))}
      />
    </div>
  );
}

function toOption({ number, at, request }: ModelResponse): { value: string; label: string } {
  const { action } = request.interaction;
  const short = action.length > 32 ? `${action.slice(0, 31)}…` : action;
  const label = `${number}, ${timeOfDay.format(new Date(at))}: ${short.replaceAll(/\s+/g, " ")}`;
  return { value: String(number), label };
}
