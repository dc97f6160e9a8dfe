import { contextFields } from "@presage/contract/compose-prompt";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/client.ts";
import { latestProfilesQuery } from "../../../data/evaluators.ts";
import { deploymentsQuery } from "../../../data/predictions.ts";
import { realEnvironmentsQuery } from "../../../data/reality.ts";
import { humanizeName } from "../../../format/words.ts";
import { Fold } from "../../../ui/card.tsx";
import { SelectField, TextAreaField, TextField } from "../../../ui/form/fields.tsx";
import { type BoundField, type FieldIssue, issueAt } from "../../../ui/form/form.tsx";
import type { EnvironmentDraft, ReadEnvironmentDraft } from "./read-environment-draft.ts";

interface EnvironmentFieldsProps {
  draft: EnvironmentDraft;
  issues: { [Field in keyof EnvironmentDraft]?: ReadEnvironmentDraft["issues"][Field] | undefined };
  refused: readonly FieldIssue[];
  field: BoundField<EnvironmentDraft>;
}

const formHints: Record<string, string> = {
  "state-action": "Each step is told the observation before it and the action.",
  chat: "The whole episode is one conversation, for models trained on it.",
};

/** The predictor, the limits that cut an episode short, and the reward. */
export function EnvironmentFields(props: EnvironmentFieldsProps) {
  const { draft, field } = props;
  const presage = usePresage();
  const { data: deployments = [] } = useQuery(deploymentsQuery(presage));
  const { data: profiles = [] } = useQuery(latestProfilesQuery(presage));
  const rewards = profiles.map(({ evaluator_family, name }) => `${evaluator_family}/${name}`);
  return (
    <>
      <LimitFields {...props} />
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Deployment"
          hint="What predicts."
          {...field("deployment")}
          options={[
            { value: "", label: draft.world === "" ? "Default" : `None: the world ${draft.world} plays it` },
            ...deployments.map(({ name }) => name),
          ]}
        />
        <SelectField
          label="Prompt form"
          hint={`${formHints[draft.prompt_form]}${draft.world && draft.prompt_form !== "chat" ? " A world adds earlier steps: 4 by default." : ""}`}
          {...field("prompt_form")}
          options={[
            { value: "state-action", label: "State and action" },
            { value: "chat", label: "One conversation" },
          ]}
        />
        <SelectField
          label="Reward"
          hint="An evaluator’s score. Without one, the world’s; else 1 for success and 0 for any other outcome."
          {...field("reward")}
          options={[{ value: "", label: "By the world or the outcome" }, ...rewards]}
        />
        {draft.reward !== "" && (
          <SelectField
            label="Rewarded steps"
            {...field("when")}
            options={[
              { value: "last", label: "The last one" },
              { value: "every-step", label: "Every step" },
            ]}
          />
        )}
      </div>
      <RealFields {...props} />
      <PromptFields {...props} />
    </>
  );
}

/** The limits that cut an episode short. */
function LimitFields({ field }: EnvironmentFieldsProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <TextField label="Max steps" hint="Longer episodes are cut short." {...field("max_steps")} />
      <TextField
        label="Repeat limit"
        hint="Cut short when an action is repeated this many times in a row."
        {...field("repeat_limit", "guards", "repeat_limit")}
      />
      <TextField
        label="Unchanged limit"
        hint="Cut short after this many unchanged observations."
        {...field("unchanged_limit", "guards", "unchanged_limit")}
      />
    </div>
  );
}

/** The real environment to check this one against. */
function RealFields({ draft, issues, refused, field }: EnvironmentFieldsProps) {
  const { data: declared = [] } = useQuery(realEnvironmentsQuery(usePresage()));
  const issue = issues.share ?? issues.false_success_limit ?? issueAt(refused, "real");
  return (
    <Fold title="Real environment" note={draft.real} isOpen={issue !== undefined}>
      <SelectField
        label="Name"
        hint="The operator declares these. Episodes can be replayed there."
        {...field("real", "real", "name")}
        options={[{ value: "", label: "None" }, ...declared.map(({ name }) => name)]}
      />
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Share, %"
          hint="The share of episodes that are replayed when they end."
          {...field("share", "real", "share")}
        />
        <TextField
          label="False success limit, %"
          hint="A higher share raises an alarm."
          {...field("false_success_limit", "real", "false_success_limit")}
        />
        <SelectField
          label="On alarm"
          {...field("on_alarm")}
          options={[
            { value: "warn", label: "Warn" },
            { value: "refuse", label: "Refuse new episodes" },
          ]}
        />
      </div>
    </Fold>
  );
}

/** The parts of each prompt other than the state and the action. */
function PromptFields({ issues, refused, field }: EnvironmentFieldsProps) {
  return (
    <Fold
      title="Context and parameters"
      isOpen={issues.params !== undefined || issueAt(refused, "params") !== undefined}
    >
      {contextFields.map((name) => (
        <TextAreaField key={name} label={humanizeName(name)} {...field(name, "context", name)} />
      ))}
      <TextAreaField
        label="Parameters"
        hint="JSON, for example max_tokens or top_p. The temperature is 0 unless it is given."
        placeholder='{ "max_tokens": 512 }'
        {...field("params")}
      />
    </Fold>
  );
}
