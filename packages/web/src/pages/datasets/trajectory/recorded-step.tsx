import type { DatasetSample } from "@presage/sdk";
import type { LinkProps } from "@tanstack/react-router";
import { Card } from "../../../ui/card.tsx";
import { Fact } from "../../../ui/fact.tsx";
import { SampleBackground } from "../../../ui/steps/sample-background.tsx";
import { actionOf, stateOf } from "../../../ui/steps/sample-parts.ts";
import { StepPager } from "../../../ui/steps/step-pager.tsx";
import { StepTexts } from "../../../ui/steps/step-texts.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../../ui/untrusted-text/plain-text.tsx";
import { TagList } from "../tag-list.tsx";

interface RecordedStepProps {
  sample: DatasetSample;
  steps: readonly number[];
  link(step: number): LinkProps;
}

/** One recorded transition: the action, and what it changed. */
export function RecordedStep({ sample, steps, link }: RecordedStepProps) {
  const { step, next_state, reward, done, tags, dataset_sample_id } = sample;
  const state = stateOf(sample);
  return (
    <Card>
      <div className="flex flex-col gap-4 p-4">
        <StepPager steps={steps} current={step} link={link}>
          Step {step}
        </StepPager>
        <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
          <Fact look="inline" name="Sample">
            <code className="font-mono text-xs wrap-anywhere">
              <InlineText text={dataset_sample_id} />
            </code>
          </Fact>
          {reward !== undefined && (
            <Fact look="inline" name="Reward">
              <span className="tabular-nums">{reward}</span>
            </Fact>
          )}
          {done !== undefined && (
            <Fact look="inline" name="Done">
              {done ? "yes" : "no"}
            </Fact>
          )}
          {tags !== undefined && <TagList tags={tags} />}
        </dl>
        <PlainText text={actionOf(sample)} label="Action" />
        <StepTexts before={state} after={next_state} beforeLabel="State" afterLabel="Next state" />
        <SampleBackground sample={sample} />
      </div>
    </Card>
  );
}
