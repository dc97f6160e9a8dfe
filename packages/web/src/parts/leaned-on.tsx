import { worldDefaults } from "@presage/contract/defaults";
import type { Prediction, PromptMessage, StoredPredictionDetail, WorldPreview } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePresage } from "../data/client.ts";
import { referenceOf, worldQuery } from "../data/worlds.ts";
import { counted, formatCount, formatFields } from "../format/numbers.ts";
import { Badge } from "../ui/badge.tsx";
import { Fold } from "../ui/card.tsx";
import { InlineText, SampleName } from "../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../ui/untrusted-text/plain-text.tsx";
import { ExampleLink } from "./datasets.tsx";
import { PromptTurns } from "./prompt.tsx";
import { sayHowSure } from "./worlds.ts";

type Explained = NonNullable<Prediction["explain"]>;
type Example = Omit<Explained["examples"][number], "by" | "chars"> & Partial<Explained["examples"][number]>;
type Explanation = Partial<Omit<Explained, "examples">> &
  Pick<Explained, "score" | "scores"> & { examples: Example[] };

interface LeanedOnProps {
  prediction: Pick<Prediction, "world" | "confidence" | "abstained"> & { explain?: Explanation | undefined };
  /** The preview of the same step, which has the examples' texts. */
  preview: Pick<WorldPreview, "messages" | "explain"> | undefined;
  /** Whether the confidence is already shown next to the answer. */
  isSaid?: boolean;
}

/** The recorded examples that an answer relied on, most similar first, and the prompt that contained them. */
export function LeanedOn({ prediction, preview, isSaid = false }: LeanedOnProps) {
  const { world, explain } = prediction;
  const sure = isSaid ? undefined : sayHowSure(prediction);
  const reference = world === undefined ? "" : referenceOf(world);
  const { data } = useQuery({ ...worldQuery(usePresage(), reference), enabled: world !== undefined });
  if (world === undefined || explain === undefined) return null;
  const isByRecords = world.answered_by === "retrieval";
  const texts = preview && data?.config.retrieval?.place !== "system" ? examplesIn(preview) : [];
  return (
    <section aria-label="Examples" className="flex min-w-0 flex-col gap-3">
      <header>
        <h3 className="text-sm font-semibold">
          {explain.examples.length === 0 ? "No example was similar" : "What it leaned on"}
        </h3>
        <p className="text-xs text-ink-3">
          World{" "}
          <Link
            to="/worlds/$name"
            params={{ name: world.name }}
            className="text-accent-ink underline underline-offset-2"
          >
            {reference}
          </Link>
          , by {isByRecords ? "its records alone" : world.answered_by}.{" "}
          {describeChoice(explain, isByRecords, data?.config.retrieval?.exclude_by ?? undefined)}
        </p>
        {sure !== undefined && (
          <p className={prediction.abstained ? "text-sm text-warn" : "text-sm text-ink-2"}>
            {sure} <span className="text-xs text-ink-3">{formatFields(explain.scores)}</span>
          </p>
        )}
      </header>
      <ol className="flex min-w-0 flex-col gap-2">
        {explain.examples.map((example, index) => {
          const { question, answer } = texts[index] ?? {};
          const isAnswer = isByRecords && index === 0;
          const title = <ExampleTitle example={example} answer={answer} isAnswer={isAnswer} />;
          const weights = data?.config.retrieval?.weights ?? worldDefaults.weights;
          const link = data?.pinned.examples && (
            <ExampleLink example={example} pinned={data.pinned.examples}>
              Its trajectory in <InlineText text={data.pinned.examples.dataset} />
            </ExampleLink>
          );
          return (
            <li key={`${example.trajectory_id} ${example.dataset_sample_id}`} className="min-w-0">
              {question === undefined || answer === undefined ? (
                <div className="flex gap-x-3 rounded-md border border-line px-3 py-1.5 text-sm max-sm:flex-col sm:items-center">
                  {title}
                  {link}
                </div>
              ) : (
                <Fold title={title}>
                  {example.by && (
                    <p className="text-xs text-ink-3 tabular-nums">
                      Similar by {describeFields(example.by, example.similarity, weights)}
                    </p>
                  )}
                  <PlainText text={question} label="Recorded step" />
                  <PlainText text={answer} label="What followed" />
                  {link}
                </Fold>
              )}
            </li>
          );
        })}
      </ol>
      {preview !== undefined && (
        <Fold title="The whole prompt" note={counted(preview.messages.length, "turn")}>
          <PromptTurns turns={preview.messages} />
        </Fold>
      )}
    </section>
  );
}

/** Like `LeanedOn` for a stored answer, without the examples' texts. */
export function StoredLeaning({
  of,
}: {
  of: Pick<StoredPredictionDetail, "world" | "score" | "confidence">;
}) {
  const { world, score, confidence } = of;
  if (world === null) return null;
  const explain = { examples: world.examples, score, scores: world.scores ?? {} };
  return <LeanedOn prediction={{ ...world, world, explain, confidence }} preview={undefined} />;
}

interface ExampleTitleProps {
  example: Example;
  answer: string | undefined;
  isAnswer: boolean;
}

type Weights = Record<Field, number>;

function ExampleTitle({ example, answer, isAnswer }: ExampleTitleProps) {
  return (
    <span className="flex min-w-0 flex-1 flex-col gap-0.5">
      <span className="flex min-w-0 items-center gap-2">
        <span className="tabular-nums">{example.similarity.toFixed(3)}</span>
        <span aria-hidden className="h-1.5 w-12 shrink-0 overflow-hidden rounded-full bg-sunken">
          <span className="block h-full bg-accent" style={{ width: `${example.similarity * 100}%` }} />
        </span>
        <span className="min-w-0 flex-1 font-normal">
          <SampleName id={example.dataset_sample_id ?? "a record"} />
        </span>
        {isAnswer && <Badge tone="accent">the answer</Badge>}
      </span>
      {answer !== undefined && (
        <span className="line-clamp-2 font-mono text-xs leading-5 font-normal wrap-anywhere text-ink-2 group-open:hidden">
          <InlineText text={answer} />
        </span>
      )}
    </span>
  );
}

type Field = "action" | "state" | "task";
const fields: readonly Field[] = ["action", "state", "task"];

/** “action 1.000 × 0.78, state 0.359 × 0.22, no task”: the weight of a missing field is distributed over the others. */
function describeFields(by: NonNullable<Example["by"]>, similarity: number, weights: Weights): string {
  for (const used of [fields, fields.filter((name) => by[name] > 0)]) {
    const whole = used.reduce((sum, name) => sum + weights[name], 0);
    const made = used.reduce((sum, name) => sum + (by[name] * weights[name]) / whole, 0);
    if (Math.abs(made - similarity) < 0.001)
      return fields
        .map((name) =>
          used.includes(name)
            ? `${name} ${by[name].toFixed(3)} × ${(weights[name] / whole).toFixed(2)}`
            : `no ${name}`,
        )
        .join(", ");
  }
  return fields.map((name) => `${name} ${by[name].toFixed(3)}`).join(", ");
}

/** The number of examples, and why others were passed over. */
function describeChoice(
  { examples, left_out: out, truncated, reduced }: Explanation,
  isByRecords: boolean,
  excludedBy = "trajectory",
) {
  const passedOver = [
    [out?.trajectory, excludedBy === "trajectory" ? "of its own trajectory" : "excluded"],
    [out?.duplicate, out?.duplicate === 1 ? "a duplicate" : "duplicates"],
    [out?.budget, "too long for the rest of the budget"],
    [out?.filter, "not in the world’s filter"],
  ]
    .filter(([count]) => count)
    .map(([count, why]) => `${formatCount(Number(count))} ${why}`);
  return [
    examples.length === 0
      ? isByRecords && "The state itself is the answer."
      : `${counted(examples.length, "recorded example")}, the most similar first.`,
    passedOver.length > 0 && `Left out: ${passedOver.join(", ")}.`,
    truncated && "Some were not compared: 50,000 had more similar actions.",
    reduced && "Only half of them were sent: all together were too long for the model.",
  ]
    .filter(Boolean)
    .join(" ");
}

/** The texts of the examples in a prompt, most similar first: the prompt contains them as turns, most similar last. */
function examplesIn({ messages, explain }: NonNullable<LeanedOnProps["preview"]>) {
  const turns = messages.filter(({ role }) => role !== "system").slice(0, 2 * explain.examples.length);
  const textAt = (index: number): string => (turns[index] as PromptMessage | undefined)?.content ?? "";
  return explain.examples
    .map((_, index) => ({ question: textAt(2 * index), answer: textAt(2 * index + 1) }))
    .reverse();
}
