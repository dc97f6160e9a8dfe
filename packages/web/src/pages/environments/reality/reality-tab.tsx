import type { Environment, EnvironmentReality, RealityCheck } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { datasetsQuery } from "../../../data/datasets.ts";
import { alarmIn, checksQuery, useCheckReality } from "../../../data/reality.ts";
import { formatShare, unbroken } from "../../../format/numbers.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { ShareButton } from "../../../parts/share.tsx";
import { commandName } from "../../../session.ts";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { CodeBlock } from "../../../ui/code/code-block.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { SelectField } from "../../../ui/form/fields.tsx";
import { Awaited, ErrorNotice } from "../../../ui/notice.tsx";
import { Time } from "../../../ui/time.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { CheckList, chooseCheck, LimitBadge } from "./check-list.tsx";
import { Exploits, Outcomes, PolicyCurve } from "./reality-figures.tsx";

/** Whether success in this environment is success in the real one, and so whether to stop training in it. */
export function RealityTab({ environment }: { environment: Environment }) {
  const { data, error, refetch } = useQuery(checksQuery(usePresage(), environment.name));
  const [chosen, choose] = useState<string>();
  if (data === undefined) return <Awaited error={error} onRetry={refetch} count={3} className="h-8" />;
  const { checks, figures } = data;
  const isEmpty = figures.agreement.count === 0;
  const hasExploits = !isEmpty && figures.exploits.verbs.length > 0;
  const shown = chooseCheck(checks, chosen);
  return (
    <>
      {shown && (
        <h2 className="hidden px-4 pt-3 text-base font-semibold print:block print:divide-y print:divide-line print:bg-surface">
          Reality check: <InlineText text={shown.name} /> · {environment.name}, revision{" "}
          {shown.environment_revision}
        </h2>
      )}
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
        <div className="flex min-w-0 flex-1 basis-80 flex-col gap-1 text-sm">
          {isEmpty ? (
            <HowTo environment={environment} />
          ) : (
            <State environment={environment} figures={figures} checks={checks} />
          )}
        </div>
        <NewCheck environment={environment}>
          {shown && <ShareButton kind="reality-check" ids={[shown.id]} />}
        </NewCheck>
      </div>
      <div className="grid gap-px border-t border-line bg-line *:min-w-0 *:bg-surface lg:grid-cols-2 xl:grid-cols-[5fr_4fr_4fr] print:block print:divide-y print:divide-line print:bg-surface">
        {!isEmpty && (
          <>
            <Outcomes figures={figures} checks={checks.length} />
            <PolicyCurve figures={figures} />
            {hasExploits && <Exploits exploits={figures.exploits} />}
          </>
        )}
        {shown && <CheckList checks={checks} shown={shown} onShow={choose} limited={figures.limited_check} />}
      </div>
    </>
  );
}

type StateName = NonNullable<EnvironmentReality["state"]>["state"];

const states: Record<
  StateName,
  { tone: Tone; name: string; advice(limit: string, policy: string | undefined): string }
> = {
  alarm: {
    tone: "fail",
    name: "Alarm",
    advice: (limit, policy) =>
      policy === undefined
        ? `Stop training in it: more than ${limit} of its successes are false.`
        : `Stop training ${policy} in it: more than ${limit} of this policy’s successes are false.`,
  },
  ok: {
    tone: "pass",
    name: "OK",
    advice: (limit) => `No reason to stop: it is not shown that more than ${limit} are false.`,
  },
  "too-few": {
    tone: "warn",
    name: "Too few",
    advice: () => "Nothing says yet whether to stop: that takes 20 tasks with a simulated success.",
  },
};

interface StateProps {
  environment: Environment;
  figures: EnvironmentReality;
  checks: readonly RealityCheck[];
}

function State({ environment: { config, revision, is_built_in }, figures, checks }: StateProps) {
  const { state, sentence, limited_check: limited } = figures;
  const ofCheck = limited && (
    <p className="flex flex-wrap items-center gap-2">
      <LimitBadge check={limited} />
      <span>
        <InlineText text={limited.name} />: {unbroken(limited.sentence)}
      </span>
    </p>
  );
  if (state === null)
    return (
      <>
        {ofCheck}
        {limited?.sentence !== sentence && <p className="font-medium">{unbroken(sentence)}</p>}
        <p className="text-ink-2">
          {is_built_in
            ? "The built-in environment cannot have an alarm: make one of your own to be warned."
            : "The environment has no limit of its own, so no alarm: revise it to set one, with the real environment that it simulates."}
        </p>
      </>
    );
  const told = alarmIn(state) ?? state;
  const policy = "policy" in told ? told.policy : undefined;
  const { tone, name, advice } = states[told.state];
  const alarms = state.policies.filter((one) => one.state === "alarm");
  const isBlind = checks.some(
    (one) => one.source === "continuous" && one.status === "paused" && one.environment_revision === revision,
  );
  return (
    <>
      {ofCheck}
      <p className="flex flex-wrap items-center gap-2 font-medium">
        <Badge tone={tone}>
          {name}
          {policy !== undefined && ` of ${policy}`}
          {told.since !== null && (
            <>
              {" "}
              since <Time at={told.since} />
            </>
          )}
        </Badge>
        {advice(formatShare(state.false_success_limit), policy)}
        {state.state === "alarm" && config.real?.on_alarm === "refuse" && " New episodes are refused."}
        {isBlind && " What ends now is not checked: the continuous check is paused."}
      </p>
      <p className="text-ink-2">
        Revision {revision}: {unbroken(state.sentence)}
        {policy !== undefined && ` ${unbroken(told.sentence)}`}
        {alarms.length > 0 && ` Policies with an alarm: ${alarms.map((one) => one.policy).join(", ")}.`}
      </p>
    </>
  );
}

function HowTo({ environment: { name, config } }: { environment: Environment }) {
  return (
    <>
      <p className="font-medium">No episode has been checked.</p>
      <p className="text-ink-2">
        {config.real
          ? `Check against reality replays its ended episodes in ${config.real.name}. `
          : "Revise the environment to name the real one that it simulates: then its episodes can be replayed there. "}
        Check with recordings lets the environment play the actions of recorded trajectories. Outcomes that
        are known already are stored as lines of JSON with <code>task_id</code>, <code>simulated</code> and{" "}
        <code>real</code>:
      </p>
      <CodeBlock
        code={`${commandName()} reality ${name} --pairs outcomes.jsonl --name first`}
        label="the command"
        language="shell"
      />
    </>
  );
}

/** Starts a new check. */
function NewCheck({
  environment: { name, config },
  children,
}: {
  environment: Environment;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const check = useCheckReality();
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {config.real && (
          <AllowedButton
            needs="evaluate"
            title={`Sends the actions of its ended episodes, of 1,000 at most, to ${config.real.name}`}
            isBusy={check.isPending}
            onClick={() => check.mutate({ environment: name, episodes: {} })}
          >
            Check against reality
          </AllowedButton>
        )}
        <AllowedButton needs="evaluate" onClick={() => setOpen(true)}>
          Check with recordings
        </AllowedButton>
        {children}
      </div>
      {check.error !== null && <ErrorNotice error={check.error} />}
      <PlayRecordingsDialog environment={name} isOpen={isOpen} onClose={() => setOpen(false)} />
    </div>
  );
}

interface PlayRecordingsDialogProps {
  environment: string;
  isOpen: boolean;
  onClose(): void;
}

/** Lets the environment play recorded actions, for which the recording is the reality. */
function PlayRecordingsDialog({ isOpen, onClose, environment }: PlayRecordingsDialogProps) {
  const [chosen, setChosen] = useState<string>();
  const { data: datasets, error, refetch } = useQuery(datasetsQuery(usePresage()));
  const play = useCheckReality(onClose);
  const id = chosen ?? datasets?.[0]?.id;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Check with recordings"
      hint="The environment plays the actions of 1,000 recorded trajectories at most, each from its first state. What was recorded is the reality."
    >
      <div className="flex flex-col gap-4">
        <SelectField
          label="Dataset"
          hint={datasets?.length === 0 ? "There is none yet: import traces first." : undefined}
          value={id ?? ""}
          options={(datasets ?? []).map((dataset) => ({ value: dataset.id, label: dataset.name }))}
          onChange={setChosen}
        />
        {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
        {play.error !== null && <ErrorNotice error={play.error} />}
        <Button
          variant="primary"
          className="self-end"
          isBusy={play.isPending}
          disabled={id === undefined}
          onClick={() => play.mutate({ environment, dataset_id: id })}
        >
          Play them
        </Button>
      </div>
    </Dialog>
  );
}
