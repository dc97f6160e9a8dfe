import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/client.ts";
import { latestProfilesQuery } from "../../../data/evaluators.ts";
import { deploymentsQuery } from "../../../data/predictions.ts";
import { realEnvironmentsQuery } from "../../../data/reality.ts";
import { humanizeName } from "../../../format/words.ts";
import { Fold } from "../../../ui/card.tsx";
import { SelectField, TextAreaField, TextField } from "../../../ui/form/fields.tsx";
import { type FieldIssue, issueAt } from "../../../ui/form/form.tsx";
import { contextFields, type EnvironmentDraft, type ReadEnvironmentDraft } from "./read-environment-draft.ts";

interface EnvironmentFieldsProps {
  draft: EnvironmentDraft;
  issues: { [Field in keyof EnvironmentDraft]?: ReadEnvironmentDraft["issues"][Field] | undefined };
  refused: readonly FieldIssue[];
  change(part: Partial<EnvironmentDraft>): void;
}

const formHints: Record<string, string> = {
  "state-action": "Each step is told the observation before it and the action.",
  chat: "The whole episode is one conversation, for models trained on it.",
};

/** What predicts, what cuts an episode short, and what the reward is. */
export function EnvironmentFields(props: EnvironmentFieldsProps) {
  const { draft, refused, change } = props;
  const presage = usePresage();
  const { data: deployments = [] } = useQuery(deploymentsQuery(presage));
  const { data: profiles = [] } = useQuery(latestProfilesQuery(presage));
  const rewards = profiles.map(({ evaluator_family, name }) => `${evaluator_family}/${name}`);
  const known = draft.reward === "" || rewards.includes(draft.reward) ? rewards : [draft.reward, ...rewards];
  return (
    <>
      <LimitFields {...props} />
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Deployment"
          hint="What predicts."
          issue={issueAt(refused, "deployment")}
          value={draft.deployment}
          options={[
            { value: "", label: "Default" },
            ...[...new Set([...deployments.map(({ name }) => name), draft.deployment])].filter(Boolean),
          ]}
          onChange={(deployment) => change({ deployment })}
        />
        <SelectField
          label="Prompt form"
          hint={formHints[draft.prompt_form]}
          value={draft.prompt_form}
          options={[
            { value: "state-action", label: "State and action" },
            { value: "chat", label: "One conversation" },
          ]}
          onChange={(prompt_form) => change({ prompt_form })}
        />
        <SelectField
          label="Reward"
          hint="An evaluator’s score. Without one, 1 for success and 0 for any other outcome."
          issue={issueAt(refused, "reward")}
          value={draft.reward}
          options={[{ value: "", label: "By the outcome" }, ...known]}
          onChange={(reward) => change({ reward })}
        />
        {draft.reward !== "" && (
          <SelectField
            label="Rewarded steps"
            value={draft.when}
            options={[
              { value: "last", label: "The last one" },
              { value: "every-step", label: "Every step" },
            ]}
            onChange={(when) => change({ when })}
          />
        )}
      </div>
      <RealFields {...props} />
      <PromptFields {...props} />
    </>
  );
}

/** What cuts an episode short. */
function LimitFields({ draft, issues, refused, change }: EnvironmentFieldsProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <TextField
        label="Max steps"
        hint="Longer episodes are cut short."
        issue={issues.max_steps ?? issueAt(refused, "max_steps")}
        value={draft.max_steps}
        onChange={(text) => change({ max_steps: text })}
      />
      <TextField
        label="Repeat limit"
        hint="Cut short when an action is repeated this many times in a row."
        issue={issues.repeat_limit ?? issueAt(refused, "guards", "repeat_limit")}
        value={draft.repeat_limit}
        onChange={(text) => change({ repeat_limit: text })}
      />
      <TextField
        label="Unchanged limit"
        hint="Cut short after this many unchanged observations."
        issue={issues.unchanged_limit ?? issueAt(refused, "guards", "unchanged_limit")}
        value={draft.unchanged_limit}
        onChange={(text) => change({ unchanged_limit: text })}
      />
    </div>
  );
}

/** What it is checked against. */
function RealFields({ draft, issues, refused, change }: EnvironmentFieldsProps) {
  const { data: declared = [] } = useQuery(realEnvironmentsQuery(usePresage()));
  return (
    <Fold title="Real environment" note={draft.real} isOpen={issueAt(refused, "real") !== undefined}>
      <SelectField
        label="Name"
        hint="Those that the operator declares. Episodes can be replayed there."
        issue={issueAt(refused, "real", "name")}
        value={draft.real}
        options={[
          { value: "", label: "None" },
          ...[...new Set([...declared.map(({ name }) => name), draft.real])].filter(Boolean),
        ]}
        onChange={(real) => change({ real })}
      />
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Share, %"
          hint="Of the ended episodes, those that are replayed as they end."
          issue={issues.share ?? issueAt(refused, "real", "share")}
          value={draft.share}
          onChange={(share) => change({ share })}
        />
        <TextField
          label="False success limit, %"
          hint="Above it is an alarm."
          issue={issues.false_success_limit ?? issueAt(refused, "real", "false_success_limit")}
          value={draft.false_success_limit}
          onChange={(text) => change({ false_success_limit: text })}
        />
        <SelectField
          label="On alarm"
          value={draft.on_alarm}
          options={[
            { value: "warn", label: "Warn" },
            { value: "refuse", label: "Refuse new episodes" },
          ]}
          onChange={(on_alarm) => change({ on_alarm })}
        />
      </div>
    </Fold>
  );
}

/** What each prompt has besides the state and the action. */
function PromptFields({ draft, issues, refused, change }: EnvironmentFieldsProps) {
  return (
    <Fold
      title="Context and parameters"
      isOpen={issues.params !== undefined || issueAt(refused, "params") !== undefined}
    >
      {contextFields.map((field) => (
        <TextAreaField
          key={field}
          label={humanizeName(field)}
          issue={issueAt(refused, "context", field)}
          value={draft[field]}
          onChange={(text) => change({ [field]: text })}
        />
      ))}
      <TextAreaField
        label="Parameters"
        hint="JSON, for example max_tokens or top_p. The temperature is 0 unless it is given."
        issue={issues.params ?? issueAt(refused, "params")}
        placeholder='{ "max_tokens": 512 }'
        value={draft.params}
        onChange={(text) => change({ params: text })}
      />
    </Fold>
  );
}
