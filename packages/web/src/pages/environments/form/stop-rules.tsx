import { Plus, X } from "lucide-react";
import { stopKinds, stopLabels } from "../../../parts/environments.ts";
import { Button } from "../../../ui/button.tsx";
import { FieldGroup } from "../../../ui/form/field.tsx";
import { TextInput } from "../../../ui/form/inputs.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { IconButton } from "../../../ui/icon-button.tsx";
import type { StopDraft } from "./read-environment-draft.ts";

interface StopRulesProps {
  rules: readonly StopDraft[];
  issue: string | undefined;
  onChange(rules: StopDraft[]): void;
}

/** The rules that end an episode, in the order in which they are tried. */
export function StopRules({ rules, issue, onChange }: StopRulesProps) {
  const change = (index: number, part: Partial<StopDraft>) =>
    onChange(rules.map((rule, at) => (at === index ? { ...rule, ...part } : rule)));
  return (
    <FieldGroup
      label="Stop rules"
      hint={
        <>
          Tried in this order after each step. <code className="font-mono">{"{goal}"}</code> stands for the
          task’s goal; patterns are RE2’s.
        </>
      }
      issue={issue}
    >
      <ul className="flex min-w-0 flex-col gap-1.5">
        {rules.map(({ kind, text, outcome }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no identity, and rows have no state
          <li key={index} className="flex min-w-0 flex-wrap items-center gap-1.5 sm:flex-nowrap">
            <Select
              aria-label={`What rule ${index + 1} looks at`}
              className="w-full shrink-0 sm:w-52"
              value={kind}
              options={stopKinds.map((value) => ({ value, label: stopLabels[value] }))}
              onChange={(kind) => change(index, { kind })}
            />
            <TextInput
              aria-label={`Text of rule ${index + 1}`}
              aria-invalid={issue !== undefined && text === "" ? true : undefined}
              className="flex-1 font-mono text-xs!"
              value={text}
              onChange={({ target }) => change(index, { text: target.value })}
            />
            <Select
              aria-label={`Outcome of rule ${index + 1}`}
              className="w-28 shrink-0"
              value={outcome}
              options={["success", "failure"]}
              onChange={(outcome) => change(index, { outcome })}
            />
            <IconButton
              label={`Remove rule ${index + 1}`}
              icon={<X aria-hidden />}
              onClick={() => onChange(rules.filter((_, at) => at !== index))}
            />
          </li>
        ))}
      </ul>
      <Button
        size="small"
        className="self-start"
        icon={<Plus aria-hidden />}
        onClick={() => onChange([...rules, { kind: "output_contains", text: "", outcome: "success" }])}
      >
        Add rule
      </Button>
    </FieldGroup>
  );
}
