import type { EpisodeReality, EpisodeStep } from "@presage/sdk";
import { Link, type LinkProps } from "@tanstack/react-router";
import { formatDuration, formatScore } from "../../format/numbers.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card, Fact, Fold } from "../../ui/card.tsx";
import { StepTexts } from "../../ui/steps/step-texts.tsx";

interface RealityCardProps {
  reality: EpisodeReality;
  /** The observation in simulation before the first action. */
  initialState: string;
  link(step: number): LinkProps;
}

/** How the episode ended in reality, and where simulation and reality diverge. */
export function RealityCard({ reality, initialState, link }: RealityCardProps) {
  const { real, diverged_at: step, real_environment: name, first_observation: first } = reality;
  const startsAlike = first === null || first === initialState;
  return (
    <Card>
      <dl className="flex flex-wrap items-center gap-x-6 gap-y-1 px-4 py-2.5 text-sm">
        <Fact look="inline" name={name === null ? "In the recording" : `In ${name}`}>
          <Badge tone={real ? "pass" : "fail"}>{real ? "success" : "failure"}</Badge>
          {reality.real_reward !== null && `, reward ${formatScore(reality.real_reward)}`}
        </Fact>
        <Fact look="inline" name="First divergence">
          {step === null ? (
            "none"
          ) : (
            <Link {...link(step)} replace resetScroll={false} className="text-accent-ink hover:underline">
              step {step}
            </Link>
          )}
        </Fact>
      </dl>
      {!startsAlike && (
        <div className="px-4 pb-3">
          <Fold title="The first observations differ">
            <StepTexts
              before={first}
              after={initialState}
              beforeLabel="Real"
              afterLabel="Simulated"
              isPredicted
            />
          </Fold>
        </div>
      )}
    </Card>
  );
}

interface BothWorldsProps {
  reality: EpisodeReality;
  step: EpisodeStep;
}

/** The observation of a step in simulation, and in reality. */
export function BothWorlds({ reality: { real_steps, diverged_at }, step }: BothWorldsProps) {
  const real = real_steps.find((one) => one.step === step.info.step);
  if (real === undefined)
    return <p className="text-sm text-ink-2">In reality the episode had ended before this step.</p>;
  return (
    <section aria-label="Both worlds" className="flex min-w-0 flex-col gap-1">
      <p className="flex flex-wrap items-center gap-2 text-sm text-ink-2">
        {diverged_at === real.step && <Badge tone="fail">first divergence</Badge>}
        In reality{real.reward !== null && `: reward ${formatScore(real.reward)}`}
        {real.done && ", the end"}
        {real.latency_ms !== null && `, after ${formatDuration(real.latency_ms)}`}
      </p>
      <StepTexts
        before={real.observation}
        after={step.observation}
        beforeLabel="Real"
        afterLabel="Simulated"
        isPredicted
      />
    </section>
  );
}
